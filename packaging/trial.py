"""The trial of a server from its package: what version it tells, one call of a real client, and what is left behind.

It knows nothing of how packages are made. The client is the MCP Inspector that tests/clients pins.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib

from product import NAME, ROOT, VERSION, host, put, run, target_folder
from tools import inspector

TEXT = "one\ntwo\n"
CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "zed"]

# What runs the binary of another platform here, if it is installed.
EMULATORS = {"linux-arm64": "qemu-aarch64", "win32-x64": "wine"}


@functools.cache
def starter(platform):
    """The words before the name of a binary that make it run here: none for this machine's own, an emulator, or None if nothing runs it."""
    if platform == host():
        return []
    emulator = EMULATORS.get(platform)
    if not emulator or not shutil.which(emulator):
        return None
    return wine() if emulator == "wine" else [emulator]


def wine():
    """The words that start a program of Windows, or None without mingw: a library that wine 8 lacks is compiled for it. A client gives a server
    few variables, so that the words set them.
    """
    if not shutil.which("x86_64-w64-mingw32-gcc"):
        return None
    folder = os.path.join(os.path.abspath(target_folder()), "packages-tools", "wine")
    os.makedirs(folder, exist_ok=True)
    run(os.path.join(ROOT, "tests", "platforms", "wine", "build"), folder)
    words = ["env", f"WINEPREFIX={folder}/prefix", "WINEDEBUG=-all", "WINEDLLOVERRIDES=bcryptprimitives=n;mscoree,mshtml=;winemenubuilder.exe=d",
             f"WINEPATH={windows(folder)}"]
    if not os.path.exists(os.path.join(folder, "prefix")):
        run(*words, "wineboot", "--init", stderr=subprocess.DEVNULL)
    return [*words, "wine"]


def windows(path):
    """The path of a file of this machine in wine."""
    return "Z:" + path.replace("/", "\\")


def runs(platform, binary):
    """Whether a binary of a platform runs here. Says so if it does not."""
    words = starter(platform)
    if words is None:
        print(f"{platform}: made, not run: nothing here runs it")
        return False
    if words and subprocess.run([*words, binary, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print(f"{platform}: made, not run: {EMULATORS[platform]} does not run it here")
        return False
    return True


def try_binary(platform, binary):
    """Tries the binary of a platform where it lies, with an emulator if it needs one, or says that nothing here runs it."""
    if runs(platform, binary):
        on_windows = platform == "win32-x64" and platform != host()
        try_server(*starter(platform), binary, on_windows=on_windows)
        try_setup(starter(platform), binary, windows if on_windows else str)
        print(f"{platform}: tried{f' with {EMULATORS[platform]}' if starter(platform) else ''}")


def try_server(*command, variables=(), on_windows=False, **more):
    """Checks the version that an installed server tells, and calls a tool over MCP. The server gets an empty home folder, in which it must
    leave nothing; `variables` are added to its environment. `on_windows`: it knows the folder by its path in wine.
    """
    with tempfile.TemporaryDirectory() as place:
        home, folder = os.path.join(place, "home"), os.path.join(place, "folder")
        os.mkdir(home)
        put(os.path.join(folder, "a.txt"), TEXT)
        env = {**os.environ, "HOME": home, **dict(variables)}
        version = run(*command, "--version", env=env, **more).strip()
        if version != f"{NAME} {VERSION}":
            sys.exit(f"{command} tells {version!r}")
        call(*command, "--log-level=warn", windows(folder) if on_windows else folder, env=env, variables=variables, **more)
        same_files("the trial of " + command[-1], {"folder", "folder/a.txt", "home"}, files_below(place))


def try_setup(words, binary, shown):
    """Checks --print-config and --doctor of a binary that `words` start. `shown`: a path as the binary knows it."""
    with tempfile.TemporaryDirectory() as folder:
        start = [*words, binary]
        try_entries(start, [[shown(binary)], [shown(os.path.realpath(binary))]], shown(folder))
        if words:
            return  # the checks start the binary itself, without the emulator
        checks = run(*start, "--doctor", shown(folder))
        # A package without the program that parses source code would only be warned of.
        if not checks.splitlines()[-1].endswith(" 0 failed") or "\nok       server: analyzer: " not in checks:
            sys.exit(f"{binary} --doctor: {checks}")


def try_entries(start, expected, folder, **more):
    """Checks the entries that --print-config prints: each starts one of the commands in `expected` with the folder."""
    for client in CLIENTS:
        entry = run(*start, f"--print-config={client}", folder, stderr=subprocess.DEVNULL, **more)
        [servers] = (tomllib.loads(entry) if client == "codex" else json.loads(entry)).values()
        command = [servers[NAME]["command"], *servers[NAME]["args"]]
        if command not in [[*words, folder] for words in expected]:
            sys.exit(f"{start} --print-config={client} names {command}")


def try_starter(start, expected, variables, **more):
    """Tries a server that npx or uvx starts, and its entries: they start the command `expected`, which is tried as well, out of another
    folder. npx and uvx get `variables`.
    """
    env = {**os.environ, **variables}
    try_server(*start, variables=variables, **more)
    with tempfile.TemporaryDirectory() as folder:
        try_entries(start, [expected], folder, env=env, **more)
    with tempfile.TemporaryDirectory() as elsewhere:
        try_server(*expected, variables=variables, cwd=elsewhere)


def call(*command, variables=(), **more):
    """Calls a tool of the server that a command starts, which has one file, `a.txt`, and checks the answer."""
    # A client gives a server few variables of its own environment.
    given = [word for name, value in dict(variables).items() for word in ("-e", f"{name}={value}")]
    answer = json.loads(run(*inspector(), "--cli", *given, "--tool-arg", "path=a.txt", "--method", "tools/call", "--tool-name", "read",
                            "--", *command, **more))
    if answer["content"][0]["text"] != TEXT or answer.get("isError"):
        sys.exit(f"{command} answers {answer}")


def files_below(folder, but=()):
    """The paths of all files and folders below a folder, relative to it, without those that begin with one of `but`."""
    found = set()
    for at, folders, names in os.walk(folder):
        found.update(os.path.relpath(os.path.join(at, name), folder) for name in folders + names)
    return {path for path in found if not path.startswith(tuple(but))}


def same_files(what, before, after):
    """Ends with an error if files were left behind or taken away."""
    if before != after:
        sys.exit(f"{what}: left behind {sorted(after - before)[:20]}, took away {sorted(before - after)[:20]}")
