"""The known differences from the reference server. Each is one rule with a name and a reason.

A rule applies to a case (a call, and the tree before it). It does one of these:
- `normal(case, text) -> text`: changes the texts of both answers to what must be equal;
- `refuses`: file-editor may fail where the reference server succeeds; then it must have changed nothing;
- `files(case, bytes) -> bytes`: changes the contents of the written file on both sides to what must be equal;
- `free`: any answer and any change of files is accepted (for what the contract answers in another way altogether).

A rule that is `open` stands for a question that the contract does not answer. It counts only with --allow=<name>.
"""

import json
import os
import re
import time
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Callable, Optional

import edits
from trees import ROOT


class Unsorted(Exception):
    """A listing of file-editor is not in its own order."""


@dataclass
class Case:
    tool: str
    arguments: dict
    tree: dict
    root: str
    zone: str
    # Whether the second server is file-editor: only then its own order of listings is checked.
    ours: bool
    meant: Optional[dict] = None

    def paths(self):
        found = [self.arguments.get(name) for name in ("path", "source", "destination")]
        several = self.arguments.get("paths")
        found += several if isinstance(several, list) else []
        return [path for path in found if isinstance(path, str)]

    def place(self, path):
        """Where a path leads on disk, with its links unresolved."""
        return os.path.normpath(os.path.join(self.root, path.replace(ROOT, self.root)))

    def file(self, path=None):
        """The bytes of the file that a path leads to before the call; None if there is none inside."""
        path = self.arguments.get("path") if path is None else path
        if not isinstance(path, str) or "\0" in path:
            return None
        real = os.path.realpath(self.place(path))
        entry = self.tree.get(os.path.relpath(real, self.root))
        return entry[2] if entry and entry[0] == "file" else None

    def link(self, path, wanted):
        """Whether a component of the path is a link for which `wanted(its path)` holds."""
        place = self.place(path)
        while len(place) > len(self.root):
            if os.path.islink(place) and wanted(place):
                return True
            place = os.path.dirname(place)
        return False


def broken(place):
    return not os.path.exists(place)


def outside(case, place):
    real = os.path.realpath(place)
    return real != case.root and not real.startswith(case.root + "/")


# Listings.

LISTS = {"list_directory", "list_directory_with_sizes", "directory_tree", "search_files"}
UNITS = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}
SIZE = re.compile(r" +([\d.]+) (B|KB|MB|GB|TB)$")


def bare(line):
    """The name in a line of a listing."""
    line = line.partition(" ")[2]
    return SIZE.sub("", line).rstrip(" ").encode()


def in_order(lines, key):
    if any(key(one) > key(other) for one, other in zip(lines, lines[1:])):
        raise Unsorted("the listing is not in order: " + " | ".join(lines[:20]))


def shown(line):
    found = SIZE.search(line)
    return (UNITS[found[2]], float(found[1])) if found else (0, 0.0)


def sort_tree(entries, check):
    names = [entry["name"].encode() for entry in entries]
    if check and names != sorted(names):
        raise Unsorted(f"the entries are not by name: {names[:20]}")
    for entry in entries:
        if "children" in entry:
            sort_tree(entry["children"], check)
    entries.sort(key=lambda entry: entry["name"].encode())


def by_name(case, text, second):
    check = second and case.ours
    lines = text.split("\n")
    if case.tool == "directory_tree":
        tree = json.loads(text)
        if json.dumps(tree, indent=2, ensure_ascii=False) != text:
            return text
        sort_tree(tree, check)
        return json.dumps(tree, indent=2, ensure_ascii=False)
    if case.tool == "list_directory_with_sizes":
        body, end = lines[:-3], lines[-3:]
        if check and case.arguments.get("sortBy") == "size":
            files = [line for line in body if line.startswith("[FILE]")]
            in_order(files, lambda line: tuple(-part for part in shown(line)))
        elif check:
            in_order(body, bare)
        return "\n".join(sorted(body) + end)
    if check and case.tool == "list_directory":
        in_order(lines, bare)
    return "\n".join(sorted(lines))


def is_control(char):
    return unicodedata.category(char) == "Cc"


def one_line(case, text, second):
    """Names with control characters on one line, in their order. The blanks before sizes are as many as names leave."""
    for name in {os.path.basename(path) for path in case.tree if any(map(is_control, os.path.basename(path)))}:
        shown = "".join(f"\\x{ord(char):02x}" if is_control(char) else char for char in name)
        found, plain = shown if second and case.ours else name, name.replace("\n", "\v")
        if case.tool == "directory_tree":
            found, plain = (json.dumps(name, ensure_ascii=False)[1:-1] for name in (found, plain))
        text = text.replace(found, plain)
    return "\n".join(SIZE.sub(r" \1 \2", line) for line in text.split("\n"))


def links_out(case):
    """The names of the links in the listed folder that lead outside."""
    folder = case.place(case.arguments.get("path", "")) if case.tool == "list_directory_with_sizes" and case.paths() else ""
    if not os.path.isdir(folder):
        return []
    return [entry.name for entry in os.scandir(folder) if entry.is_symlink() and outside(case, entry.path)]


def without_sizes_outside(case, text, second):
    names = {name.encode() for name in links_out(case)}
    lines = [SIZE.sub(" ?", line) if line.startswith("[FILE] ") and bare(line) in names else line for line in text.split("\n")]
    return "\n".join("Combined size: ?" if line.startswith("Combined size:") else line for line in lines)


# Times.

MOMENT = re.compile(r"^(\w{3} \w{3} \d{2} \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}) \((.+)\)$")


def times(case, text, second):
    """Times near to now, of creation and of access are cut out, if they have the right form. An edit that changes nothing
    writes nothing here: the time of a file that the reference server wrote in this run is cut out, too."""
    place = os.path.realpath(case.place(case.arguments.get("path", "")))
    written = os.path.exists(place) and abs(os.stat(place).st_mtime - time.time()) < 600
    lines = []
    for line in text.split("\n"):
        key, _, value = line.partition(": ")
        found = MOMENT.match(value) if key in ("created", "modified", "accessed") else None
        if found:
            moment = datetime.strptime(found[1], "%a %b %d %Y %H:%M:%S GMT%z").timestamp()
            if key == "modified" and written:
                line = "modified: in this run, or before it"
            elif key != "modified" or abs(moment - time.time()) < 600:
                line = f"{key}: some time {found[1][-8:]} ({found[2]})"
        lines.append(line)
    return "\n".join(lines)


def without_zone_names(case, text, second):
    return re.sub(r"(GMT[+-]\d{4}) \(.+\)", r"\1 (zone)", text)


# Many files in one answer.

def blocks(case, text, change):
    """Applies `change(path, block)` to each file's block of read_multiple_files."""
    paths = case.paths()
    starts, position = [], 0
    for nth, path in enumerate(paths):
        before = "\n---\n" if nth else ""
        position = text.find(before + path + ":", position)
        if position < 0:
            return text
        starts.append(position + len(before))
    ends = [start - len("\n---\n") for start in starts[1:]] + [len(text)]
    return "\n---\n".join(change(path, text[start:end]) for path, start, end in zip(paths, starts, ends))


def without_errors(refused):
    def change(case, text, second):
        def one(path, block):
            failed = block.startswith(f"{path}: Error - ")
            return f"{path}: Error - ?" if failed or refused(case, path) else block
        return blocks(case, text, one)
    return change


def not_text(case, path):
    data = case.file(path) or b""
    try:
        return "\0" in data.decode()
    except UnicodeDecodeError:
        return True


def keeps(case):
    """Whether a file that is written has an encoding or line breaks that stay, or gets other line breaks, which is said."""
    data = case.file()
    return data is not None and (b"\r" in data or b"\0" in data or not_text(case, None) or "\r" in str(case.arguments.get("content")))


def many(case):
    return case.tool == "read_multiple_files" and isinstance(case.arguments.get("paths"), list)


def unclear(path):
    return any(map(is_control, path))


def upward(path):
    return ".." in path.split("/")


def marked(case):
    return any((case.file(path) or b"").startswith(b"\xef\xbb\xbf") for path in case.paths())


def text_edited(case):
    data = case.file() if case.tool == "edit_file" else None
    return None if data is None else data.decode(errors="replace")


def edit_texts(case):
    edits_given = case.arguments.get("edits")
    given = [edit.get(key) for edit in edits_given if isinstance(edit, dict) for key in ("oldText", "newText")] if isinstance(edits_given, list) else []
    return [text for text in given if isinstance(text, str)]


def mark_edited(case):
    """The file starts with a mark, or does so after the edit."""
    texts = edit_texts(case)
    starts = (text_edited(case) or "").startswith("\ufeff") or any(text.startswith("\ufeff") for text in texts)
    return starts and any("\ufeff" in text for text in texts)


def lone_break(case):
    if case.tool == "read_text_file" and any(case.arguments.get(name) for name in ("head", "tail")):
        return re.search(rb"\r(?!\n)", case.file() or b"") is not None
    texts = edit_texts(case)
    split = "\r\n" in (text_edited(case) or "") and any(text[:1] == "\n" or text[-1:] in ("\r", "\n") for text in texts)
    return split or any(re.search(r"\r(?!\n)", text) for text in [text_edited(case) or "", *texts])


def empty_tail(case):
    return case.tool in ("read_file", "read_text_file") and case.arguments.get("tail") == 1 and (case.file() or b"").endswith(b"\n")


def other_form(case):
    """A path that no file has, but a file has in another Unicode normal form; or a glob that may match one."""
    normal = lambda text: unicodedata.normalize("NFC", text)
    if not json.dumps([case.arguments.get(name) for name in ("pattern", "excludePatterns")], ensure_ascii=False).isascii():
        return any(normal(path) != path for path in case.tree)
    names = {normal(os.path.basename(path)) for path in case.tree if normal(path) != path}
    parts = {part for path in case.paths() for part in path.split("/")}
    here = {os.path.basename(path) for path in case.tree}
    return any(normal(part) in names and part not in here for part in parts) or any(
        normal(part) in names for part in parts)


@dataclass
class Rule:
    name: str
    reason: str
    applies: Callable[[Case], bool]
    normal: Optional[Callable] = None
    refuses: bool = False
    files: Optional[Callable] = None
    free: bool = False
    open: bool = False


# Used by the driver itself; in the table for their reasons and numbers.
ERROR_TEXTS = "error-texts"
LENIENT = "lenient-input"

RULES = [
    Rule(ERROR_TEXTS, "SPEC 7 and 11 (hints): failures have our own texts; both sides must fail. In read_multiple_files, each "
         "file's failure stands in its place", many, normal=without_errors(lambda case, path: False)),
    Rule(LENIENT, "SPEC 11 (lenient input): null, \"5\" and JSON strings are taken as what they mean. The reference server gets the "
         "plain form", lambda case: False),
    Rule("names-on-one-line", "SPEC 25: a name with control characters is shown on one line, so that it forges none; the reference server shows it raw",
         lambda case: case.tool in LISTS and any(map(unclear, case.tree)), normal=one_line),
    Rule("order-of-listings", "SPEC 13: listings are by name here; the reference server gives the order of the file system, or of a "
         "locale. By size, equal sizes and folders may stand anywhere", lambda case: case.tool in LISTS, normal=by_name),
    Rule("hints-without-a-match", "SPEC 14 and 25: where nothing matches, lines in brackets say what is near, and that names are looked at",
         lambda case: case.tool == "search_files",
         normal=lambda case, text, second: "No matches found" if text.startswith("No matches found\n[") else text),
    Rule("links-not-entered", "SPEC 14: a search says what it left out: links to folders",
         lambda case: case.tool == "search_files",
         normal=lambda case, text, second: re.sub(r"\n\[Not entered: \d+ links? to (a folder|folders)\]$", "", text)),
    Rule("times-of-now", "created, accessed, and modified by this run: two servers write at two moments",
         lambda case: case.tool == "get_file_info", normal=times),
    Rule("zone-names", "the name of a time zone in words comes from a table of the JavaScript engine; the offset must be equal",
         lambda case: case.tool == "get_file_info" and case.zone != "UTC", normal=without_zone_names),
    Rule("size-outside", "SPEC 8 and 12: nothing is told of what a link outside the folder leads to, not even a size",
         lambda case: bool(links_out(case)), normal=without_sizes_outside),
    Rule("control-characters", "SPEC 12: nothing is created whose name holds a control character",
         lambda case: any(map(unclear, case.paths())), refuses=True),
    Rule("control-characters", "", lambda case: many(case) and any(map(unclear, case.paths())),
         normal=without_errors(lambda case, path: unclear(path))),
    Rule("parent-component", "SPEC 12: `..` is refused", lambda case: any(map(upward, case.paths())), refuses=True),
    Rule("parent-component", "", lambda case: many(case) and any(map(upward, case.paths())),
         normal=without_errors(lambda case, path: upward(path))),
    Rule("not-text", "SPEC 13: reading a file that is not UTF-8 is an error; SPEC 3: nor is a file with NUL bytes text",
         lambda case: case.tool in ("read_file", "read_text_file") and not_text(case, None), refuses=True),
    Rule("edits-of-bytes", "SPEC 25: an edit in ASCII changes no other byte, whatever the file holds; the reference server replaces what is not UTF-8",
         lambda case: case.tool == "edit_file" and not_text(case, None), free=True),
    Rule("not-text", "", lambda case: many(case) and any(not_text(case, path) for path in case.paths()),
         normal=without_errors(not_text)),
    Rule("media-by-content", "SPEC 25: read_media_file says what the bytes are, not the name; text and empty files are refused",
         lambda case: case.tool == "read_media_file", free=True),
    Rule("write-keeps", "SPEC 25: write_file keeps the encoding and the kind of line break of the file it replaces, and says so",
         lambda case: case.tool == "write_file" and keeps(case), free=True),
    Rule("unknown-property", "SPEC 11: an unknown property is an error", lambda case: "bogus" in case.arguments, refuses=True),
    Rule("wrong-numbers", "SPEC 7: 1.5 is a wrong argument, and a number of lines is not negative",
         lambda case: any(isinstance(value, (int, float)) and (value < 0 or value != int(value))
                          for value in (case.arguments.get("head"), case.arguments.get("tail"))), refuses=True),
    Rule("several-places", "SPEC 13: an oldText that stands in several places is refused; the second look is kept only where one "
         "place fits", lambda case: edits.ambiguous(text_edited(case), case.arguments.get("edits")), refuses=True),
    Rule("one-mapping", "SPEC 25: the second look maps the indentation of a block once, or refuses; the reference server indents each line on its own",
         lambda case: edits.mapped(text_edited(case), case.arguments.get("edits")), free=True),
    Rule("outer-breaks", "SPEC 25: a break at an end of an oldText is that of the line there; to the reference server it is an empty line, which the "
         "second look has to find", lambda case: edits.edged(text_edited(case), case.arguments.get("edits")), free=True),
    Rule("no-edits", "SPEC 25: a call without edits is an error", lambda case: case.tool == "edit_file" and case.arguments.get("edits") == [],
         refuses=True),
    Rule("nothing-changed", "SPEC 25: an edit that changes nothing says so", lambda case: case.tool == "edit_file",
         normal=lambda case, text, second: text.removesuffix("Nothing changed: the text is the same as before.")),
    Rule("breaks-stay", "SPEC 13: line breaks stay; the reference server writes the whole file with \\n",
         lambda case: "\r\n" in (text_edited(case) or "") + str([edit.get("newText") for edit in case.arguments.get("edits") or []
                                                                    if isinstance(edit, dict)]).replace("\\r\\n", "\r\n")
         if isinstance(case.arguments.get("edits"), list) else False, files=lambda data: data.replace(b"\r\n", b"\n")),
    Rule("empty-tail", "The last line of a text that ends in a line break is empty, as there. A second text says so", empty_tail, free=True),
    Rule("lone-carriage-returns", "SPEC 3 and 5: a lone \\r is a line break here, and \\n in an oldText finds a break of any kind, never half a CRLF; to the "
         "reference server it is a character. Answers with head or tail say that they do not count it", lone_break, free=True),

    Rule("links-moved", "SPEC 13: a link that is moved keeps leading to what it leads to; the reference server moves that, and the link stays behind, dangling",
         lambda case: case.tool == "move_file" and isinstance(case.arguments.get("source"), str)
         and os.path.islink(case.place(case.arguments["source"])), free=True),
    Rule("broken-links", "the reference server can neither write through, move, replace nor create what a broken link names",
         lambda case: any(case.link(path, broken) for path in case.paths()), free=True, open=True),
    Rule("byte-order-mark", "the reference server shows the mark in texts and diffs, and write_file removes it", marked,
         normal=lambda case, text, second: text.replace("\ufeff", ""), files=lambda data: data.removeprefix(b"\xef\xbb\xbf")),
    Rule("mark-in-edits", "SPEC 3: the mark at the start of a file is no part of its first line, so an edit neither finds nor removes it; "
         "to the reference server it is a character", mark_edited, free=True),
    Rule("empty-path", "an empty path is the first folder to the reference server", lambda case: "" in case.paths(), free=True, open=True),
    Rule("home", "`~` is the home folder to the reference server; here only if that is in a served folder, else a name that is not created",
         lambda case: any(path.startswith("~") for path in case.paths()), free=True),
    Rule("windows-path", "`C:\\x` is refused by the reference server on Linux; here it is a name that is not created",
         lambda case: any(re.match(r"[A-Za-z]:([\\/]|$)", path) for path in case.paths()), free=True),
    Rule("unicode-form", "a name in another normal form (NFC for NFD) finds the file in both, but here it also makes no second one, and a glob matches it",
         other_form, free=True),
    Rule("empty-old-text", "an empty oldText on an empty file inserts in the reference server",
         lambda case: edits.empty(text_edited(case), case.arguments.get("edits")), refuses=True, open=True),
    Rule("ignored-in-tree", "directory_tree shows what .gitignore names in the reference server",
         lambda case: case.tool == "directory_tree", free=True, open=True),
]


def names():
    return list(dict.fromkeys(rule.name for rule in RULES))
