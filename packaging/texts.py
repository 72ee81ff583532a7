"""The man page and the completions, which several packages hold. `texts/` writes them out of the definition of the command line."""

import functools
import os
import re
import sys

from product import HERE, NAME, binary_of, host, run, target_folder

# The files, and the expression of a flag in each.
FLAG_IN = {
    f"{NAME}.1": lambda flag: r"\\fB" + flag.replace("-", r"\\-"),
    f"{NAME}.bash": lambda flag: f" {flag}",
    # Before it, in brackets, are the flags that it excludes.
    f"_{NAME}": lambda flag: rf"'(\([-a-z ]+\))?\*?{flag}",
    f"{NAME}.fish": lambda flag: f"-l {flag.removeprefix('--')}",
    f"_{NAME}.ps1": lambda flag: f"'{flag}'",
}

# Flags whose value is the path of a folder or of a file, and how completions of bash and zsh say so.
PATHS = {"folder": ["dir", "filter-dir", "templates"], "file": ["auth-token-file"]}
BASH = {"folder": r"\s+--%s\)\n(?:(?!;;).*\n)*?.*\bcompopt -o plusdirs\b", "file": r"\s+--%s\)\n(?:(?!;;).*\n)*?.*\bcompopt -o filenames\b"}
ZSH = {"folder": r"'\*?--%s=.*:_files -/'", "file": r"'\*?--%s=.*:_files'"}


@functools.cache
def texts_folder():
    """The folder with the man page and the completions, made anew once for each script, and compared with what the binary tells."""
    folder = os.path.join(target_folder(), "packages", "texts")
    os.makedirs(folder, exist_ok=True)
    run("cargo", "run", "--quiet", "--locked", "--manifest-path", os.path.join(HERE, "texts", "Cargo.toml"),
        "--target-dir", os.path.join(target_folder(), "packages-texts"), "--", folder)
    check(folder)
    return folder


def man_pages(folder):
    """The names of the man pages: of the program, and of each command for a shell."""
    return sorted(name for name in os.listdir(folder) if re.fullmatch(rf"{NAME}(-[a-z]+)?\.1", name))


def check(folder):
    """Checks that the files name every flag of --help."""
    if host() is None:
        print("man page and completions: not compared with --help, no binary is for this machine")
        return
    flags = re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", run(binary_of(host()), "--help"), re.M)
    assert len(flags) > 20, flags
    for name, written in FLAG_IN.items():
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        lacking = [flag for flag in flags if not re.search(written(flag) + r"(?![a-z-]|\\-)", text)]
        if lacking:
            sys.exit(f"{name} lacks {', '.join(lacking)}")
    check_paths(folder)
    print(f"man page and completions: have all {len(flags)} flags of --help")


def check_paths(folder):
    """Checks that the completions offer folders where a folder is wanted, and files where a file is."""
    for name, expressions in ((f"{NAME}.bash", BASH), (f"_{NAME}", ZSH)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        lacking = [flag for kind, flags in PATHS.items() for flag in flags if not re.search(expressions[kind] % flag, text)]
        if lacking:
            sys.exit(f"{name} does not complete the paths of {', '.join(lacking)}")
        if name.startswith("_") and not re.search(r"'\*::folders .*:_files -/'", text):
            sys.exit(f"{name} does not complete folders without a flag")
