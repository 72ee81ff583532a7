"""The trial of a server from its package: what version it tells, one call of a real client, and what is left behind.

It knows nothing of how packages are made. The client is the MCP Inspector that tests/clients pins.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from product import NAME, VERSION, host, put, run
from tools import inspector

# What runs the binary of another platform here, if it is installed.
EMULATORS = {"linux-arm64": "qemu-aarch64", "win32-x64": "wine"}


def starter(platform):
    """The words before the name of a binary that make it run here: none for this machine's own, an emulator, or None if nothing runs it."""
    if platform == host():
        return []
    emulator = EMULATORS.get(platform)
    return [emulator] if emulator and shutil.which(emulator) else None


def runs(platform, binary):
    """Whether a binary of a platform runs here. Says so if it does not."""
    words = starter(platform)
    if words is None:
        print(f"{platform}: made, not run: nothing here runs it")
        return False
    if words and subprocess.run([*words, binary, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print(f"{platform}: made, not run: {words[0]} does not run it here")
        return False
    return True


def try_binary(platform, binary):
    """Tries the binary of a platform where it lies, with an emulator if it needs one, or says that nothing here runs it."""
    if runs(platform, binary):
        try_server(*starter(platform), binary)
        print(f"{platform}: tried{''.join(f' with {word}' for word in starter(platform))}")


def try_server(*command, own_home=True, **more):
    """Checks the version that an installed server tells, and calls a tool over MCP. With `own_home`, the server gets an empty home folder, in
    which it must leave nothing; programs that keep a cache there go without.
    """
    with tempfile.TemporaryDirectory() as place:
        home, folder = os.path.join(place, "home"), os.path.join(place, "folder")
        os.mkdir(home)
        put(os.path.join(folder, "a.txt"), "one\ntwo\n")
        env = {**os.environ, "HOME": home} if own_home else None
        version = run(*command, "--version", env=env, **more).strip()
        if version != f"{NAME} {VERSION}":
            sys.exit(f"{command} tells {version!r}")
        answer = json.loads(run(*inspector(), "--cli", "--tool-arg", "path=a.txt", "--method", "tools/call", "--tool-name", "read_text_file",
                                "--", *command, folder, env=env, **more))
        if answer["content"][0]["text"] != "one\ntwo\n" or answer.get("isError"):
            sys.exit(f"{command} answers {answer}")
        same_files("the trial of " + command[-1], {"folder", "folder/a.txt", "home"}, files_below(place))


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
