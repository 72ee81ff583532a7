"""The files of a project on the disk, by their relative paths."""

import os


def write(root, files):
    """Writes texts and bytes, with the folders that they need."""
    for path, content in files.items():
        place = os.path.join(root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


def on_disk(root):
    """The bytes of all files but those of git."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.relpath(file.name, root)] = file.read()
    return found


def texts(root):
    """The same as texts."""
    return {path: content.decode() for path, content in on_disk(root).items()}
