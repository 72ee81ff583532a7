"""Random folders: made from a seed, recorded as plain data, written to disk, compared."""

import os
import shutil
import stat

ROOT = "<root>"

FOLDERS = ["src", "docs", "node_modules", "build", "a b", ".config", "größe", "Deep", "x.d"]
NAMES = ["a.txt", "b.md", "main.rs", "README", "UPPER.TXT", "upper.txt", "Ünï.txt", "😀.txt", "日本語.md", "a b.txt", "it's.txt",
         ".env", "[x].txt", "{a,b}.txt", "#c.txt", "!n.txt", "x+y.txt", "a-name-of-more-than-thirty-characters.txt",
         "e\u0301.txt", "10.txt", "9.txt", "_u", "a-b", "ab", "debug.log", "quo\"te.txt", "per%20cent.txt", "noext"]
BROKEN = ["two\nlines.txt", "a\n[FILE] b.md", "tab\there", "c\r"]
MEDIA = ["p.png", "P.JPG", "j.jpeg", "g.gif", "w.webp", "b.bmp", "s.svg", "m.mp3", "v.wav", "o.ogg", "f.flac", "d.bin", "ü.pdf", ".png"]
WORDS = ["one", "two", "three", "  indented", "\ttab", "", "x", "fn main() {", "    let a = 1;", "}", "größer 😀", "`code`", "```",
         "trailing  ", "-minus", "+plus", "a $& b", "\\ No newline at end of file", "the same", "the same"]


def text(chance):
    """Text with one kind of line break, or a mixture; unique lines between lines that repeat."""
    count = chance.choice([0, 1, 1, 2, 3, 5, 8, 13, 30, 60])
    lines = [chance.choice(WORDS) + (f" {nth}" if chance.random() < 0.7 else "") for nth in range(count)]
    if chance.random() < 0.15 and lines:
        # Characters of several bytes at the border of blocks of 1,024 bytes.
        lines[chance.randrange(count)] = "ü€😀"[chance.randrange(3)] * chance.randrange(200, 1500)
    kind = chance.random()
    breaks = ["\n"] if kind < 0.7 else ["\r\n"] if kind < 0.85 else ["\r"] if kind < 0.9 else ["\n", "\r\n", "\r"]
    parts = [line + chance.choice(breaks) for line in lines]
    if parts and chance.random() < 0.3:
        parts[-1] = parts[-1].rstrip("\r\n")
    mark = "\ufeff" if chance.random() < 0.06 else ""
    return (mark + "".join(parts)).encode()


def content(chance, name):
    if name in MEDIA or chance.random() < 0.05:
        return chance.randbytes(chance.choice([0, 1, 2, 3, 100, 1023, 1024, 1025, 70_000]))
    if chance.random() < 0.04:
        return text(chance) + chance.choice([b"\xff\xfe", b"caf\xe9\n", b"\0", b"\xc3"])
    return text(chance)


def make(chance):
    """A tree: path -> ("folder", mode) | ("file", mode, bytes, time in ns) | ("link", target)."""
    tree = {".gitignore": ("file", 0o644, b"*.log\nbuild/\n", 1_700_000_000_000_000_000)}
    folders = [""]
    for _ in range(chance.choice([0, 2, 4, 8, 12])):
        path = os.path.join(chance.choice(folders), chance.choice(FOLDERS))
        if path.count("/") < 4 and path not in tree:
            tree[path] = ("folder", chance.choice([0o755, 0o755, 0o700, 0o775]))
            folders.append(path)
    for _ in range(chance.choice([0, 5, 15, 30, 45])):
        name = chance.choice(MEDIA if chance.random() < 0.25 else NAMES if chance.random() < 0.97 else BROKEN)
        path = os.path.join(chance.choice(folders), name)
        if path not in tree:
            moment = chance.randrange(-2_000_000_000, 3_000_000_000) * 10**9 + chance.randrange(10**9)
            mode = chance.choice([0o644, 0o644, 0o600, 0o755, 0o640])
            tree[path] = ("file", mode, content(chance, name), moment)
    for nth in range(chance.choice([0, 1, 3, 6])):
        folder = chance.choice(folders)
        path = os.path.join(folder, f"link-{nth}{chance.choice(['', '.txt', '.png'])}")
        inside = chance.choice(sorted(tree))
        up = "../" * (folder.count("/") + 1 if folder else 0)
        # No absolute target inside the folder: SPEC 8 refuses it, and no call on it or above it would be comparable.
        target = chance.choice([up + inside, up + inside, up + inside, "nowhere", "..", ".",
                                f"{up}../outside", f"{up}../outside/secret.txt", os.path.basename(path)])
        tree[path] = ("link", target)
    return tree


def write(tree, root):
    """Fills an existing folder, which loses what it had."""
    clear(root)
    outside = os.path.join(os.path.dirname(root), "outside")
    os.makedirs(outside, exist_ok=True)
    with open(os.path.join(outside, "secret.txt"), "w") as file:
        file.write("secret\n")
    for path in sorted(tree, key=lambda path: path.count("/")):
        put(root, path, tree[path])


def put(root, path, entry):
    where = os.path.join(root, path)
    if entry[0] == "folder":
        os.mkdir(where)
        os.chmod(where, entry[1])
    elif entry[0] == "link":
        os.symlink(entry[1].replace(ROOT, root), where)
    else:
        with open(where, "wb") as file:
            file.write(entry[2])
        os.chmod(where, entry[1])
        if len(entry) > 3:
            os.utime(where, ns=(entry[3], entry[3]))


def clear(root):
    for entry in os.scandir(root):
        remove(entry.path)


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def read(root, folder=""):
    """What is on disk, as `make` gives it, without the times."""
    found = {}
    for entry in os.scandir(os.path.join(root, folder)):
        path = os.path.join(folder, entry.name)
        mode = stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode)
        if entry.is_symlink():
            found[path] = ("link", os.readlink(entry.path).replace(root, ROOT))
        elif entry.is_dir():
            found[path] = ("folder", mode)
            found |= read(root, path)
        elif entry.is_file():
            with open(entry.path, "rb") as file:
                found[path] = ("file", mode, file.read())
        else:
            found[path] = ("other", mode)
    return found


def timed(root):
    """What is on disk, with the times of the files."""
    return {path: (*entry, os.stat(os.path.join(root, path)).st_mtime_ns) if entry[0] == "file" else entry
            for path, entry in read(root).items()}


def differences(one, other):
    return sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))


def copy(source, target):
    """Makes the target folder equal to the source folder. Touches only what differs."""
    want, have = read(source), read(target)
    for path in reversed(differences(want, have)):
        if os.path.lexists(os.path.join(target, path)):
            remove(os.path.join(target, path))
    have = read(target)
    for path in sorted(differences(want, have), key=lambda path: path.count("/")):
        put(target, path, want[path])
        if want[path][0] == "file":
            moment = os.stat(os.path.join(source, path)).st_mtime_ns
            os.utime(os.path.join(target, path), ns=(moment, moment))


def told(tree):
    """The tree as text for a reproduction."""
    lines = []
    for path, entry in sorted(tree.items()):
        rest = {"file": lambda: f"{entry[1]:04o} {entry[2][:300]!r}" + (f" … {len(entry[2])} bytes" if len(entry[2]) > 300 else "")
                + (f" time {entry[3]} ns" if len(entry) > 3 else ""),
                "folder": lambda: f"{entry[1]:04o}", "link": lambda: f"-> {entry[1]}", "other": lambda: ""}[entry[0]]()
        lines.append(f"    {entry[0]:6} {path!r} {rest}")
    return "\n".join(lines)
