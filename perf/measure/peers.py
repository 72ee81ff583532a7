"""The peers as players: each with the tools that cost it least. Their paths are absolute."""

import json
import os
import re
import time

from measure.players import Place, Player, with_all, below, between, count


class Peer(Player):
    """A peer that takes exact text in edits."""
    many = "read_multiple_files"
    ending = "\n---\n"

    def __init__(self, command, root, **more):
        self.root = root
        super().__init__([*command, root], **more)

    def files(self, pattern, path=None):
        """The files that match; folders have no dot in their names."""
        text = self.call("search_files", path=self.path(path) if path else self.root, pattern=pattern)
        return sorted(self.relative(line) for line in text.split("\n") if "." in os.path.basename(line))

    def tree(self):
        return self.files("**/*")

    def read_many(self, paths):
        paths = [self.path(path) for path in paths]
        return between(self.call(self.many, paths=paths), paths, "{}:\n", self.ending)

    def files_with(self, *words):
        return with_all(self.find("|".join(words)), words)


class Reference(Peer):
    """npm's reference server: an agent that looks for text reads all files, ten in a call."""

    def find(self, pattern, glob=None, path=None, before=0, after=0, only=False):
        if path and path.endswith(".log"):
            return self.tail(path, pattern, before, after)
        paths = [path] if path and "." in path else self.files(below(None, glob), path) if glob or path else self.sources()
        texts = [text for nth in range(0, len(paths), 10) for text in self.read_many(paths[nth:nth + 10])]
        return self.seen(paths, texts, pattern)

    def sources(self):
        return [path for path in self.tree() if not path.endswith(".log")]

    def tail(self, path, pattern, before, after, step=100):
        """There are no ranges: twice as many last lines, until the match and the lines before it are there. The
        number of the first line stays unknown."""
        while True:
            lines = self.call("read_text_file", path=self.path(path), tail=step).split("\n")
            at = [nth for nth, line in enumerate(lines) if re.search(pattern, line)]
            if at and at[0] >= before:
                return [Place(path, nth, lines[nth], dict(enumerate(lines))) for nth in at]
            step *= 2

    def read(self, path, first, last):
        return "\n".join(self.call("read_text_file", path=self.path(path), head=last).split("\n")[first - 1:])

    def replace(self, path, pieces, places):
        """An edit replaces one place, so there is one for each."""
        edits = [{"oldText": old, "newText": new} for old, new in pieces for _ in range(count(old, places) or 1)]
        self.call("edit_file", path=self.path(path), edits=edits)


class Rust(Peer):
    """crates.io: its search shows no lines around a match, and cuts long lines."""
    many = "read_multiple_text_files"

    def __init__(self, command, root, **more):
        super().__init__([*command, "--allow-write"], root, **more)

    def find(self, pattern, glob=None, path=None, before=0, after=0, only=False):
        """One file is searched as the files of its name in its folder."""
        folder, name = os.path.split(path) if path and "." in path else (path, f"**/{glob or '*'}")
        is_word = re.fullmatch(r"\w+", pattern)
        text = self.call("search_files_content", path=self.path(folder) if folder else self.root, pattern=name, query=pattern,
                         **({} if is_word else {"is_regex": True}))
        found, path = {}, None
        for line in text.split("\n"):
            numbered = re.match(r"  (\d+):\d+: (.*)", line)
            if numbered:
                found.setdefault((path, int(numbered[1])), numbered[2])
            elif line.startswith("/"):
                path = self.relative(line)
        around = lambda path, line: self.around(path, line, before, after) if before or after else None
        return [Place(path, line, words, around(path, line)) for (path, line), words in found.items()]

    def around(self, path, line, before, after):
        first = max(1, line - before)
        return dict(enumerate(self.read(path, first, line + after).split("\n"), first))

    def read(self, path, first, last):
        return self.call("read_file_lines", path=self.path(path), offset=first - 1, limit=last - first + 1).removesuffix("\n")

    def replace(self, path, pieces, places):
        edits = [{"oldText": old, "newText": new} for old, new in pieces]
        several = {"replaceAll": True} if any(count(old, places) > 1 for old, _ in pieces) else {}
        self.call("edit_file", path=self.path(path), edits=edits, **several)


class Desktop(Peer):
    """npm's DesktopCommander: its search runs ripgrep, which it brings along. A match is shown without the rest of its
    line, so a pattern takes the whole line. Its shell is not used: no other server has one."""

    def __init__(self, command, root, **more):
        self.root, home = root, os.path.join(os.path.dirname(root), "home")
        settings = os.path.join(home, ".claude-server-commander")
        os.makedirs(settings, exist_ok=True)
        with open(os.path.join(settings, "config.json"), "w") as file:
            json.dump({"telemetryEnabled": False, "allowedDirectories": [root]}, file)
        Player.__init__(self, command, {**os.environ, "HOME": home}, **more)

    def is_refusal(self, text):
        return text.startswith(("Expected ", "Search content not found", "Error"))

    def search(self, **wanted):
        """The lines of all results. The first answer seldom has all of them. A model takes longer to go on than a search."""
        text = self.call("start_search", **wanted)
        time.sleep(0.3)
        session = re.search(r"session: (\S+)", text)[1]
        lines = []
        while True:
            text = self.call("get_more_search_results", sessionId=session, **({"offset": len(lines)} if lines else {}))
            lines += re.findall(r"^\W+ (/.*)$", text, re.M)
            if "Status: IN PROGRESS" not in text and "More results available" not in text:
                return lines

    def find(self, pattern, glob=None, path=None, before=0, after=0, only=False):
        """A file that is named is read around a match, because a search shows each line with the path."""
        context = max(before, after) if not path else 0
        lines = self.search(path=self.path(path) if path else self.root, pattern=pattern if only else f".*(?:{pattern}).*", searchType="content",
                            ignoreCase=False, contextLines=context, **({"filePattern": glob} if glob else {}))
        texts = {(self.relative(found[1]), int(found[2])): found[3] for line in lines if (found := re.match(r"(.*):(\d+) - (.*)$", line))}
        places = []
        for (path, line), words in texts.items():
            if re.search(pattern, words):
                near = self.near(texts, path, line, before, after, context) if before or after else None
                places.append(Place(path, line, words, near))
        return places

    def near(self, texts, path, line, before, after, context):
        """Lines around a match, in the results or read."""
        first, last = max(1, line - before), line + after
        if context:
            return {number: texts[path, number] for number in range(first, last + 1) if (path, number) in texts}
        return dict(enumerate(self.read(path, first, last).split("\n"), first))

    def files_with(self, *words):
        return with_all(self.find("|".join(words), only=True), words)

    def tree(self):
        text = self.call("list_directory", path=self.root, depth=10)
        return re.findall(r"^\[FILE\] (.*)$", text, re.M)

    def read(self, path, first, last):
        text = self.call("read_file", path=self.path(path), offset=first - 1, length=last - first + 1)
        return text.partition("\n\n")[2]

    def read_many(self, paths):
        paths = [self.path(path) for path in paths]
        texts = between(self.call("read_multiple_files", paths=paths), paths, "\n--- {} contents: ---\n", "\n")
        return [text.partition("\n\n")[2] for text in texts]

    def replace(self, path, pieces, places):
        for old, new in pieces:
            times = count(old, places)
            self.call("edit_block", file_path=self.path(path), old_string=old, new_string=new,
                      **({"expected_replacements": times} if times > 1 else {}))
