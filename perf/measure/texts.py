"""The files for the measurements: the same in every run."""

import functools
import os
import random
import time

KB, MB = 1 << 10, 1 << 20
# The last is the largest file for `--max-size=100`, minus room for an edit.
SIZES = {"1 KB": KB, "10 KB": 10 * KB, "100 KB": 100 * KB, "1 MB": MB, "10 MB": 10 * MB, "100 MB": 100 * MB - 4 * KB}

# Lines like those of source code and notes: empty, indented, quoted, not ASCII.
LINES = ["", "}", "    let excerpt = workspace.read(&name, range, &control)?;",
         '\tprintln!("{name}: {lines} lines");',
         "The lines of a file are what lies between its breaks, and a break at the end starts no further one.",
         "# Überschrift – größer als 1 €", "    if (count > limit) { return count - limit; }",
         "2026-11-21T10:07:15Z info served=/work/notes took=0.8"]
# One line in this many is unique, so that an edit by exact text can find it.
HEADING = 10


def heading(line, state=0):
    """The heading at a line, in one of its two states, which have the same length."""
    return f"## Section {line:08d} {'as edited' if state else 'as it was'}"


@functools.lru_cache(maxsize=8)
def text(size):
    """Exactly `size` bytes of lines; the last line ends in a break."""
    chance, parts, length, line = random.Random(1), [], 0, 0
    while length < size:
        part = (chance.choice(LINES) if line % HEADING else heading(line)) + "\n"
        parts.append(part)
        length += len(part.encode())
        line += 1
    data = "".join(parts).encode()[:size - 1].decode(errors="ignore").rstrip("\n")
    return data + "x" * (size - 1 - len(data.encode())) + "\n"


@functools.lru_cache(maxsize=8)
def middle(size):
    """The line number of the heading in the middle, and the total number of lines."""
    total = text(size).count("\n")
    return total // 2 // HEADING * HEADING, total


def edited(size, lines):
    """The text as bytes, with the headings at these lines in their other state."""
    data = text(size)
    for line in lines:
        data = data.replace(heading(line), heading(line, 1)) if len(lines) == 1 else data
    if len(lines) > 1:
        every = data.split("\n")
        for line in lines:
            every[line] = heading(line, 1)
        data = "\n".join(every)
    return data.encode()


def name(size):
    """The file name for a size: `10MB.txt` for `10 MB`."""
    return f"{size}.txt".replace(" ", "")


def write(folder, name, size):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(text(size).encode())
    # The server caches nothing of a file in the clock tick of its last change.
    time.sleep(0.03)
    return path


def fill(folder, count, size):
    """Writes `count` files of one size, each with its own beginning."""
    os.makedirs(folder, exist_ok=True)
    data = text(size).encode()
    for nth in range(count):
        with open(os.path.join(folder, f"file-{nth:06d}.txt"), "wb") as file:
            file.write(f"{nth:08d}".encode() + data[8:])
    return folder


def fill_tree(folder, folders, files):
    """Writes `files` small files in each of `folders` folders."""
    for nth in range(folders):
        fill(os.path.join(folder, f"folder-{nth:04d}"), files, 64)
    return folder
