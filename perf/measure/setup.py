"""Installs the peers from their registries, builds the binaries, and describes the machine."""

import datetime
import json
import os
import platform
import subprocess
import sys

from measure import peers as played
from measure import subjects

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(HERE)
SHARED = ("The load generator shares the machine's cores with the server that it asks; "
          "servers and floor are asked in turn, on the same work.")


def run(*command, cwd=None):
    print("+", " ".join(command), file=sys.stderr)
    subprocess.run(command, cwd=cwd, check=True, stdout=sys.stderr)


def built(folder, name):
    """The release binary of a crate."""
    command = ["cargo", "build", "--release", "--locked", "--message-format=json-render-diagnostics"]
    print("+", " ".join(command), f"({os.path.relpath(folder, ROOT)})", file=sys.stderr)
    messages = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = [message["executable"] for message in map(json.loads, messages.splitlines())
             if message.get("executable") and message["target"]["name"] == name]
    return found[-1]


def load():
    return built(os.path.join(HERE, "load"), "load")


def ours(*flags, name="file-editor", binary=None):
    binary = binary or built(ROOT, "file-editor")
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    return subjects.Ours(name, [binary], version, *flags)


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "file-editor-perf")


def peers(place):
    """The peers, installed below `place` unless they are there already."""
    os.makedirs(place, exist_ok=True)
    return [reference(place), rust(place), python(place)]


def reference(place):
    package = os.path.join(place, "npm", "node_modules", "@modelcontextprotocol", "server-filesystem")
    if not os.path.exists(package):
        run("npm", "install", "--no-fund", "--no-audit", "--prefix", os.path.join(place, "npm"),
            "@modelcontextprotocol/server-filesystem", cwd=place)
    return subjects.Reference("server-filesystem", ["node", os.path.join(package, "dist", "index.js")], version_of(package))


def version_of(package):
    with open(os.path.join(package, "package.json")) as file:
        return json.load(file)["version"]


def rust(place):
    binary = os.path.join(place, "cargo", "bin", "rust-mcp-filesystem")
    if not os.path.exists(binary):
        run("cargo", "install", "--locked", "--root", os.path.join(place, "cargo"), "rust-mcp-filesystem", cwd=place)
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    return subjects.RustPeer("rust-mcp-filesystem", [binary], version)


def python(place):
    venv = os.path.join(place, "venv")
    binary = os.path.join(venv, "bin", "mcp-text-editor")
    if not os.path.exists(binary):
        run(sys.executable, "-m", "venv", venv)
        run(os.path.join(venv, "bin", "pip"), "install", "--quiet", "mcp-text-editor", "mcp<2")
    ask = "import importlib.metadata as m; print(m.version('mcp-text-editor'), 'mcp', m.version('mcp'))"
    found = subprocess.run([os.path.join(venv, "bin", "python"), "-c", ask], check=True, capture_output=True, text=True)
    return subjects.TextEditor("mcp-text-editor", [binary], found.stdout.strip())


def desktop(place):
    """DesktopCommander. Scripts of packages, which load a browser and count installations, do not
    run; its search needs none."""
    package = os.path.join(place, "desktop", "node_modules", "@wonderwhy-er", "desktop-commander")
    if not os.path.exists(package):
        os.makedirs(os.path.join(place, "desktop"), exist_ok=True)
        run("npm", "install", "--no-fund", "--no-audit", "--ignore-scripts", "--prefix", os.path.join(place, "desktop"),
            "@wonderwhy-er/desktop-commander", cwd=place)
    return subjects.Subject("DesktopCommander", ["node", os.path.join(package, "dist", "index.js")], version_of(package))


def players(place):
    """The peers that an agent's day is played with: name, kind, program, version."""
    os.makedirs(place, exist_ok=True)
    found = [(played.Rust, rust(place)), (played.Reference, reference(place)), (played.Desktop, desktop(place))]
    return [(peer.name, kind, peer.program, peer.version) for kind, peer in found]


def said(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[0:1] or ["?"]


def machine(folder):
    """The machine, and the file system of the folder."""
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="minutes"),
            "cores": os.cpu_count(), "processor": model, "memory_gb": round(memory, 1),
            "system": f"{platform.system()} {platform.release()}",
            "file_system": said("findmnt", "--noheadings", "--output", "FSTYPE", "--target", folder)[0],
            "load_before": round(os.getloadavg()[0], 1),
            "commit": said("git", "-C", ROOT, "describe", "--always", "--dirty")[0],
            "node": said("node", "--version")[0], "rustc": said("rustc", "--version")[0],
            "python": platform.python_version()}


def sentence(machine):
    """The text below tables and plots."""
    return (f"{machine['date']}, {machine['cores']} cores of {machine['processor']}, {machine['memory_gb']} GB, "
            f"{machine['system']}, {machine['file_system']}; load {machine['load_before']} before the run; "
            f"commit {machine['commit']}, {machine['rustc']}, node {machine['node']}, Python {machine['python']}. {SHARED}")
