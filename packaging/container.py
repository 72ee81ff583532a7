"""A container of an OCI image, started by runc (Debian) without a container engine above it."""

import json
import os
import shutil
import subprocess

from product import NAME, PLATFORMS, VERSION, put_json, run


def unpack(platform, archive, bundle):
    """Takes the image of a platform out of an archive, as a client on that platform does, and makes the folder of a container of it. Returns
    what the image says of itself.
    """
    layout, choice = f"{bundle}-layout:{VERSION}", f"--override-arch={PLATFORMS[platform]['oci']}"
    run("skopeo", choice, "copy", f"oci-archive:{archive}:{VERSION}", f"oci:{layout}")
    rootless = [] if os.getuid() == 0 else ["--rootless"]
    run("umoci", "unpack", *rootless, "--image", layout, bundle)
    return json.loads(run("skopeo", choice, "inspect", "--config", f"oci:{layout}"))


def container(bundle, *arguments, folder=None):
    """The command that starts the container, with arguments in place of the image's if there are some, and a folder mounted where the image
    has one for it.
    """
    path = os.path.join(bundle, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    config["process"]["terminal"] = False
    if arguments:
        config["process"]["args"] = [config["process"]["args"][0], *arguments]
    if folder:
        config["mounts"].append({"destination": "/files", "type": "none", "source": folder, "options": ["bind"]})
    put_json(path, config)
    return ["runc", "run", f"--bundle={bundle}", f"{NAME}-{os.getpid()}"]


def contains(bundle):
    """Whether a container starts here. Says so if it does not."""
    if shutil.which("runc") is None or os.getuid() != 0:
        print("no container was started: this needs runc and root")
        return False
    path = os.path.join(bundle, "config.json")
    with open(path, "rb") as file:
        before = file.read()
    started = subprocess.run(container(bundle, "--version"), capture_output=True, check=False)
    with open(path, "wb") as file:
        file.write(before)
    if started.returncode != 0:
        print(f"no container was started: {started.stderr.decode(errors='replace').strip()}")
    return started.returncode == 0
