"""Servers as an agent uses them: what a job needs, by the nearest calls of each server's tools, and what they cost.

A player reads the answers as a model would: the next call follows from the text of the last one. Its lines count from 1,
its paths are relative. Knows nothing of the jobs.
"""

import json
import os
import re
from collections import namedtuple

from measure.server import Client

# `text` may have lost its indentation. `around`: at least the lines around that were asked for, and the line itself, by number.
Place = namedtuple("Place", "path line text around", defaults=[None])


def size(what):
    return len(json.dumps(what, ensure_ascii=False, separators=(",", ":")).encode())


class Player:
    """Counts calls, failed calls and bytes: the name and the arguments of each call, and all text of its answer."""
    root = ""

    def __init__(self, command, environment=None, log=None):
        self.client, self.log = Client(command, environment), log
        self.calls = self.failed = self.bytes = self.characters = 0
        self.tools = {}  # By name: calls, bytes of the arguments, bytes of the answers.
        _, message = self.client.ask("tools/list")
        self.listed = size(message["result"]["tools"])

    def close(self):
        self.client.close()

    def path(self, name):
        return f"{self.root}/{name}" if self.root else name

    def relative(self, path):
        return path.removeprefix(f"{self.root}/") if self.root else path

    def call(self, tool, **arguments):
        _, message = self.client.ask("tools/call", name=tool, arguments=arguments)
        result = message.get("result", {"isError": True, "content": [{"text": json.dumps(message.get("error"))}]})
        text = "\n".join(item.get("text", "") for item in result["content"])
        self.calls += 1
        self.failed += bool(result.get("isError")) or self.is_refusal(text)
        sent, received = len(tool) + size(arguments), len(text.encode())
        self.bytes += sent + received
        self.characters += len(tool) + len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))) + len(text)
        self.tools[tool] = [sum(pair) for pair in zip(self.tools.get(tool, (0, 0, 0)), (1, sent, received))]
        if self.log:
            self.log(f"{tool} {json.dumps(arguments)[:300]}\n  {text[:300]!r}")
        return text

    def is_refusal(self, text):
        """Whether a call failed, though its answer is not marked."""
        return False

    def seen(self, paths, texts, pattern):
        """The places of a pattern in files that were read whole."""
        files = [(path, dict(enumerate(text.split("\n"), 1))) for path, text in zip(paths, texts)]
        return [Place(path, number, line, lines) for path, lines in files for number, line in lines.items() if re.search(pattern, line)]

    def mend(self, old, new):
        """Replaces a text in all files."""
        for path, places in by_file(self.find(old)).items():
            self.replace(path, [(old, new)], places)

    def replace(self, path, pieces, places):
        """Replaces all of some exact texts (`pieces`: old and new) in a file; `places`: where they are."""
        raise NotImplementedError

    def change_line(self, place, new, is_unique=True):
        """Replaces the line; exact text needs more of it if it stands elsewhere in the file, too."""
        old = place.text
        if not is_unique:
            before = self.read(place.path, place.line - 1, place.line - 1)
            old, new = before + "\n" + old, before + "\n" + new
        self.replace(place.path, [(old, new)], [place])

    def put_before(self, place, line):
        self.replace(place.path, [(place.text, line + "\n" + place.text)], [place])


class Ours(Player):
    """file-editor as the drop-in for the reference server."""

    def __init__(self, binary, root, **more):
        super().__init__([binary, root, "--tools=filesystem,search"], **more)

    def find(self, pattern, glob=None, path=None, before=0, after=0, only=False):
        wanted = {"pattern": pattern, "path": path, "glob": glob, "output_mode": "content", "-B": before, "-A": after, "-o": only}
        found, text = [], self.call("grep", **{key: value for key, value in wanted.items() if value})
        while True:
            found += self.places(text, before or after)
            going = re.search(r"Go on with grep (\{.*\})\]$", text)
            if not going:
                return found
            text = self.call("grep", **json.loads(going[1]))

    @staticmethod
    def places(text, has_context):
        found, block, path = [], [], None
        for line in [*text.split("\n"), "--"]:
            numbered = re.match(r"(\d+)([:-])(.*)", line)
            if numbered and path:
                block.append((int(numbered[1]), numbered[2] == ":", numbered[3]))
                continue
            texts = {number: words for number, _, words in block}
            for number, is_match, words in block:
                if is_match:
                    found.append(Place(path, number, words, texts if has_context else None))
            block = []
            path = path if line == "--" else line or None
        return found

    def files_with(self, *words):
        def files(word):
            text = self.call("grep", pattern=word)
            return {line.rsplit(": ", 1)[0] for line in text.split("\n") if re.search(r": \d+$", line)}
        return set.intersection(*map(files, words))

    def mend(self, old, new):
        for path in sorted(self.files_with(old)):
            self.call("edit_file", path=path, edits=[{"oldText": old, "newText": new, "replaceAll": True}], diff=False)

    def tree(self):
        return [line for line in self.call("glob", pattern="**").split("\n") if line and not line.startswith("[")]

    def read(self, path, first, last):
        return self.call("read_text_file", path=path, start_line=first, end_line=last)

    def read_many(self, paths):
        return between(self.call("read_multiple_files", paths=paths), paths, "{}:\n", "\n---\n")

    def replace(self, path, pieces, places):
        edits = [{"oldText": old, "newText": new} | ({"replaceAll": True} if count(old, places) > 1 else {}) for old, new in pieces]
        self.call("edit_file", path=path, edits=edits, diff=False)


class Lines(Player):
    """file-editor with the set `lines` alone: an agent that looks for text reads all files."""
    base = 0

    def __init__(self, binary, root, **more):
        super().__init__([binary, f"--dir={root}", "--transport=stdio", "--tools=lines", "--names=paths"], **more)

    def tree(self, match=None):
        text = self.call("list_files", **({"match": match} if match else {}))
        return re.findall(r"^name: (.*), modified: ", text, re.M)

    def find(self, pattern, glob=None, path=None, before=0, after=0, only=False):
        if path and path.endswith(".log"):
            return self.tail(path, pattern, before, after)
        paths = [path] if path and "." in path else self.tree(below(path, glob)) if glob or path else self.sources()
        return self.seen(paths, [self.whole(path) for path in paths], pattern)

    def sources(self):
        return [path for path in self.tree() if not path.endswith(".log")]

    def tail(self, path, pattern, before, after, step=100):
        """Reads backwards until the match and the lines before it are there."""
        head, text = self.part(path, start_line=-step)
        first, last = (int(number) for number in re.search(r"\(lines (\d+)-(\d+) of", head).groups())
        lines = text.split("\n")
        while not (at := [nth for nth, line in enumerate(lines) if re.search(pattern, line)]) or at[0] < before:
            _, text = self.part(path, start_line=max(0, first - step), end_line=first - 1)
            lines, first = text.split("\n") + lines, max(0, first - step)
        return [Place(path, first + 1 + nth, lines[nth], dict(enumerate(lines, first + 1))) for nth in at]

    def part(self, path, **which):
        head, _, text = self.call("read_file", name=path, **which).partition("\n\n")
        return head, text

    def whole(self, path):
        return self.part(path)[1]

    def files_with(self, *words):
        return with_all(self.find("|".join(words)), words)

    def read(self, path, first, last):
        return self.part(path, start_line=first - 1 + self.base, end_line=last - 1 + self.base)[1]

    def read_many(self, paths):
        return [self.whole(path) for path in paths]

    def replace(self, path, pieces, places):
        edits = []
        for place in places:
            new = place.text
            for old, text in pieces:
                new = new.replace(old, text)
            edits.append({"line": place.line - 1 + self.base, "operation": "replace", "expect": place.text, "content": new})
        self.call("edit_file", name=path, edits=edits)

    def change_line(self, place, new, is_unique=True):
        self.replace(place.path, [(place.text, new)], [place])

    def put_before(self, place, line):
        self.call("edit_file", name=place.path, edits=[{"line": place.line - 1 + self.base, "operation": "insert", "content": line}])


class Agent(Player):
    """file-editor with the set `agent`."""

    def __init__(self, binary, root, **more):
        journal = os.path.join(os.path.dirname(root), "journal")
        super().__init__([binary, root, "--tools=agent", f"--journal={journal}"], **more)


class Both(Ours, Lines):
    """file-editor with the sets `search` and `lines`: found by the one, read and edited by the other."""
    base = 1
    mend, read, read_many = Player.mend, Lines.read, Lines.read_many
    replace, change_line, put_before = Lines.replace, Lines.change_line, Lines.put_before

    def __init__(self, binary, root, **more):
        flags = ["--transport=stdio", "--tools=search,lines", "--names=paths", "--line-base=1"]
        Player.__init__(self, [binary, f"--dir={root}", *flags], **more)


def by_file(places):
    found = {}
    for place in places:
        found.setdefault(place.path, []).append(place)
    return found


def below(path, glob):
    """The glob in a folder; without one, in any."""
    return f"{path}/{glob}" if path else f"**/{glob}"


def count(old, places):
    return sum(place.text.count(old) for place in places)


def with_all(places, words):
    """The files that have places of all words."""
    return set.intersection(*({place.path for place in places if word in place.text} for word in words))


def between(text, paths, head, end):
    """The texts of several files in one answer: each behind its head, up to the end before the next head."""
    starts = [text.index(head.format(path)) for path in paths]
    ends = [start - len(end) for start in starts[1:]] + [len(text)]
    return [text[start + len(head.format(path)):last] for path, start, last in zip(paths, starts, ends)]
