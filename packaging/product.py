"""What all packages have in common: the facts of the product, the platforms, and how files are written. It knows no kind of package.

The version and the texts stand in Cargo.toml alone.
"""

import argparse
import json
import os
import platform as machine
import shutil
import subprocess
import sys
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

with open(os.path.join(ROOT, "Cargo.toml"), "rb") as file:
    CARGO = tomllib.load(file)["package"]
NAME, VERSION, DESCRIPTION, LICENSE = (CARGO[key] for key in ("name", "version", "description", "license"))
REPOSITORY = CARGO["repository"]
# The program that parses source code, which the server starts.
ANALYZER = f"{NAME}-analyzer"
# The owner of the repository and its name, which others take from it.
OWNER, REPOSITORY_NAME = REPOSITORY.removeprefix("https://github.com/").split("/")
# The name in the MCP registry. npm and PyPI packages carry it, which shows that they belong to it.
MCP_NAME = f"io.github.{OWNER}/{NAME}"
# Where the image is.
IMAGE = f"ghcr.io/{OWNER}/{REPOSITORY_NAME}:{VERSION}"
# Where the files of a release are.
RELEASE = f"{REPOSITORY}/releases/download/v{VERSION}"

# A platform that packages are made for: the names that cargo, npm, PyPI, Debian and OCI have for it, and GitHub's runner that builds it; another
# one if it does not run there.
# A platform without a name for PyPI, Debian or OCI has no such package.
PLATFORMS = {
    "linux-x64": {"target": "x86_64-unknown-linux-gnu", "os": "linux", "cpu": "x64", "wheel": "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
                  "debian": "amd64", "oci": "amd64", "runner": "ubuntu-24.04"},
    "linux-arm64": {"target": "aarch64-unknown-linux-gnu", "os": "linux", "cpu": "arm64", "wheel": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
                    "debian": "arm64", "oci": "arm64", "runner": "ubuntu-24.04-arm"},
    # Built and linked; never run so far.
    "darwin-arm64": {"target": "aarch64-apple-darwin", "os": "darwin", "cpu": "arm64", "wheel": "macosx_11_0_arm64", "runner": "macos-15"},
    "darwin-x64": {"target": "x86_64-apple-darwin", "os": "darwin", "cpu": "x64", "wheel": "macosx_11_0_x86_64", "runner": "macos-15-intel"},
    # Linux builds it, with mingw. Windows on ARM64 runs it, too; npm is told so.
    "win32-x64": {"target": "x86_64-pc-windows-gnu", "os": "win32", "cpu": "x64", "also_on": ["arm64"], "wheel": "win_amd64", "runner": "ubuntu-24.04",
                  "tried_on": "windows-2025"},
}


def target_folder():
    return os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))


def program(platform, name=NAME):
    """The name of the server's binary on a platform, or of another one."""
    return name + (".exe" if PLATFORMS[platform]["os"] == "win32" else "")


def archive_of(platform):
    """The name of the release archive of a platform. [package.metadata.binstall] in Cargo.toml has the same."""
    end = "zip" if PLATFORMS[platform]["os"] == "win32" else "tar.gz"
    return f"{NAME}-{VERSION}-{PLATFORMS[platform]['target']}.{end}"


def path_of(platform, name=NAME):
    return os.path.join(target_folder(), PLATFORMS[platform]["target"], "release", program(platform, name))


def is_current(path):
    """Whether a binary is there and younger than all that it is made of."""
    if not os.path.exists(path):
        return False
    sources = [os.path.join(ROOT, name) for name in ("Cargo.toml", "Cargo.lock", os.path.join(".cargo", "config.toml"))]
    sources += [os.path.join(at, name) for at, _, names in os.walk(os.path.join(ROOT, "src")) for name in names]
    return all(os.path.getmtime(source) <= os.path.getmtime(path) for source in sources)


def binary_of(platform):
    """The release binary of a platform. Builds it if it is missing or older than its sources."""
    path = path_of(platform)
    if not is_current(path):
        run(os.path.join(HERE, "cross"), PLATFORMS[platform]["target"], cwd=ROOT)
        os.utime(path)  # cargo leaves a binary as it is if the changes do not matter to it
    return path


def binaries_of(platform):
    """The release binaries of a platform, which each package has in one folder: their names and paths."""
    binary_of(platform)
    return {program(platform, name): path_of(platform, name) for name in (NAME, ANALYZER)}


def host():
    """The platform of this machine, or None if there are no packages for it."""
    system = {"linux": "linux", "darwin": "darwin", "win32": "win32"}.get(sys.platform)
    cpu = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(machine.machine())
    name = f"{system}-{cpu}"
    return name if name in PLATFORMS else None


def platforms(kind=None):
    """The platforms to make packages for: those of --platform, or this machine's and all whose binary exists. With `kind`, those that have
    packages of this kind.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="a platform to make packages for; may be given several times")
    chosen = parser.parse_known_args()[0].platform or [name for name in PLATFORMS if name == host() or os.path.exists(path_of(name))]
    return [name for name in chosen if kind is None or kind in PLATFORMS[name]]


def run(*command, **more):
    """Runs a command, which must succeed. Returns what it writes."""
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, **more)
    if done.returncode != 0:
        sys.stdout.buffer.write(done.stdout)
        sys.exit(f"failed ({done.returncode}): {' '.join(map(str, command))}")
    return done.stdout.decode(errors="replace")


def put(path, content, mode=0o644):
    """Writes a file and the folders above it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(path, mode)


def put_json(path, value):
    put(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def copy(source, path, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(source, path)
    os.chmod(path, mode)


def out_folder(name):
    """The empty folder for the files of one kind of package."""
    folder = os.path.join(target_folder(), "packages", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def tell(path):
    print(f"{os.path.relpath(path, ROOT)}: {os.path.getsize(path):,} bytes")


def matrix():
    """The matrix of the release workflow."""
    return {"include": [{"platform": name, "target": row["target"], "runner": row["runner"], "tried_on": row.get("tried_on", row["runner"])} for name, row in PLATFORMS.items()]}


if __name__ == "__main__":
    if sys.argv[1:] != ["--matrix"]:
        sys.exit("usage: packaging/product.py --matrix")
    print(json.dumps(matrix()))
