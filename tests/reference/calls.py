"""Random calls of the 14 tools on a tree. Absolute paths begin with `<root>`, which is replaced before the call."""

import json
import os
import unicodedata

from trees import ROOT

WEIGHTS = {"read_text_file": 12, "read_file": 3, "read_media_file": 5, "read_multiple_files": 6, "write_file": 8, "edit_file": 22,
           "create_directory": 5, "list_directory": 6, "list_directory_with_sizes": 8, "directory_tree": 8, "move_file": 6,
           "search_files": 12, "get_file_info": 6, "list_allowed_directories": 1}
WRITES = {"write_file", "edit_file", "create_directory", "move_file"}
PATTERNS = ["*", "**", "**/*", "*.txt", "**/*.txt", "**/*.{txt,md}", "src", "src/**", "**/src", "**/src/**", "node_modules", "**/node_modules/**",
            "build", ".*", "**/.*", "?.txt", "[ab].txt", "[!a]*", "[^a]*", "[a-c]*", "{a,b}.txt", "\\{a,b\\}.txt", "\\[x].txt", "[[]x].txt",
            "!*.txt", "!a.txt", "#c.txt", "\\#c.txt", "\\!n.txt", "+(a|b).txt", "@(a|b)*", "*(a|b).txt", "?(a).txt", "!(a).txt", "x!(a)", "{1..10}.txt",
            "*.TXT", "README", "*/a.txt", "**/a.txt", "a b/**", "größe/*", "😀.txt", "?.md", "???.md", "", "/", "./a.txt", "src/", "src//a.txt",
            "[[:alpha:]]*", "**/[[:upper:]]*", "link-*", "**/link-*", "*.log", "a.txt/", "**/", "**.txt", "src/../*", "Deep/**/*.rs", "{src,docs}/**",
            "*e\u0301*", "*é*", "[", "{a", "a**b", "*.*", "**/*.*", "{,x}a.txt", "(a).txt", "a.t(x)t", "[]", "[]]", "[a-]*", "\\*", "**/**/*.txt"]


class Calls:
    """Draws calls. `tree` is what is on disk now."""

    def __init__(self, chance):
        self.chance = chance

    def draw(self, tree):
        """A tool, its arguments, and what lenient input is to mean (None: as it is)."""
        self.tree = tree
        tool = self.chance.choices(list(WEIGHTS), WEIGHTS.values())[0]
        arguments = getattr(self, tool)()
        meant = None
        if self.chance.random() < 0.06:
            arguments, meant = self.wrong(tool, arguments)
        return tool, arguments, meant

    def some(self, *kinds):
        return self.chance.choice([path for path, entry in sorted(self.tree.items()) if entry[0] in kinds] or ["a.txt"])

    def path(self, *kinds):
        """Mostly a path of one of these kinds, sometimes something else."""
        chance, draw = self.chance, self.chance.random()
        if draw < 0.6:
            path = self.some(*kinds)
        elif draw < 0.72:
            path = self.some("link")
        elif draw < 0.80:
            path = self.some("file", "folder", "link")
        elif draw < 0.86:
            path = os.path.join(self.some("folder", "link", "file"), chance.choice(["a.txt", "new", "none/x.txt", "a b.txt", "src"]))
        elif draw < 0.92:
            path = chance.choice(["new.txt", "none/x.txt", "new folder", "a.txt", "neu-ü.md", "New/Deep/Folder", "src"])
        else:
            return chance.choice([".", "./", ROOT, ROOT + "/", "..", "../outside", "../outside/secret.txt", "/etc/hostname", "/", "src/../a.txt",
                                  "src/..", "~", "~/a.txt", "C:\\a.txt", f"{ROOT}/../outside", f"{ROOT}x/a.txt", ROOT + "/src/../a.txt", ""])
        if draw < 0.8:
            form = chance.random()
            path = (f"{ROOT}/{path}" if form < 0.3 else "./" + path if form < 0.36 else path + "/" if form < 0.4
                    else path.replace("/", "//") if form < 0.43 else unicodedata.normalize("NFC", path) if form < 0.48
                    else path.swapcase() if form < 0.5 else path)
        return path

    def read_text_file(self):
        arguments = {"path": self.path("file")}
        for name in ("head", "tail"):
            if self.chance.random() < 0.3:
                arguments[name] = self.chance.choice([0, 1, 1, 2, 3, 5, 10, 1000, 2.0, -1, 1.5])
        return arguments

    read_file = read_text_file

    def read_media_file(self):
        return {"path": self.path("file")}

    def read_multiple_files(self):
        return {"paths": [self.path("file") for _ in range(self.chance.choice([0, 1, 2, 3, 8]))]}

    def write_file(self):
        return {"path": self.path("file"), "content": self.content()}

    def content(self):
        lines = [self.chance.choice(["one", "two", "", "  three", "größer 😀", "```", "$& $1", "\\"]) for _ in range(self.chance.randrange(5))]
        return self.chance.choice(["\n", "\n", "\r\n"]).join(lines) + self.chance.choice(["", "\n"])

    def edit_file(self):
        path = self.some("file")
        content = self.tree.get(path, ("file", 0, b""))[2].decode(errors="replace").replace("\r\n", "\n")
        edits = []
        for _ in range(self.chance.choice([0, 1, 1, 1, 1, 2, 3])):
            old = self.old(content)
            new = self.new(old)
            edits.append({"oldText": old, "newText": new})
            # The next edit sees what this one made.
            content = content.replace(old, new, 1)
        arguments = {"path": path if self.chance.random() < 0.9 else self.path("file"), "edits": edits}
        if self.chance.random() < 0.3:
            arguments["dryRun"] = self.chance.choice([True, True, False])
        return arguments

    def old(self, content):
        chance, lines = self.chance, content.split("\n")
        first = chance.randrange(len(lines))
        count = chance.choice([1, 1, 1, 2, 3, 5])
        part = lines[first:first + count]
        draw = chance.random()
        if draw < 0.35:
            return "\n".join(part)
        if draw < 0.5:
            return "\n".join(part) + "\n"
        if draw < 0.55:
            return "\r\n".join(part)
        if draw < 0.85:
            # Other white space, for the second look.
            return "\n".join(chance.choice(["", "  ", "    ", "\t"]) + line.strip() + chance.choice(["", " ", "\t"]) for line in part)
        if draw < 0.93 and content:
            start = chance.randrange(len(content))
            return content[start:start + chance.randrange(1, 12)]
        return chance.choice(["not there", "one", "", " ", "\n", "the same"])

    def new(self, old):
        chance = self.chance
        lines = old.split("\n")
        draw = chance.random()
        if draw < 0.25:
            lines[chance.randrange(len(lines))] += chance.choice(["!", "$&", "$1", "`" * 3, "`" * 5, " ü"])
        elif draw < 0.45:
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(["", "new", "  new", "      deeper", "\ttab"]))
        elif draw < 0.6:
            del lines[chance.randrange(len(lines))]
        elif draw < 0.7:
            lines = [chance.choice(["", "  ", "    "]) + line for line in lines]
        elif draw < 0.8:
            return ""
        else:
            return chance.choice(["NEW", "NEW\n", "A\nB\n  C", "A\r\nB", old])
        return "\n".join(lines)

    def create_directory(self):
        return {"path": self.path("folder")}

    def list_directory(self):
        return {"path": self.path("folder") if self.chance.random() < 0.7 else "."}

    def list_directory_with_sizes(self):
        arguments = self.list_directory()
        if self.chance.random() < 0.6:
            arguments["sortBy"] = self.chance.choice(["name", "size", "size"])
        return arguments

    def patterns(self):
        return [self.chance.choice(PATTERNS) for _ in range(self.chance.choice([1, 1, 2, 3]))]

    def directory_tree(self):
        arguments = self.list_directory()
        if self.chance.random() < 0.7:
            arguments["excludePatterns"] = self.patterns()
        return arguments

    def search_files(self):
        arguments = {**self.list_directory(), "pattern": self.chance.choice(PATTERNS)}
        if self.chance.random() < 0.4:
            arguments["excludePatterns"] = self.patterns()
        return arguments

    def move_file(self):
        return {"source": self.path("file", "folder"), "destination": self.path("folder") if self.chance.random() < 0.2 else
                os.path.join(self.some("folder") if self.chance.random() < 0.6 else "", self.chance.choice(["moved", "moved.txt", "a.txt", "ü b"]))}

    def get_file_info(self):
        return {"path": self.path("file", "folder")}

    def list_allowed_directories(self):
        return {}

    def wrong(self, tool, arguments):
        """Wrong arguments, and what they mean where SPEC 11 takes them."""
        chance = self.chance
        plain = [name for name, value in arguments.items() if not isinstance(value, str)]
        name = chance.choice(plain if plain and chance.random() < 0.6 else sorted(arguments) or ["bogus"])
        value = arguments.get(name)
        draw = chance.random()
        if draw < 0.25:
            return {**arguments, "bogus": 1}, None
        if draw < 0.45:
            return {key: value for key, value in arguments.items() if key != name}, None
        if draw < 0.6 and isinstance(value, list):
            return {**arguments, name: json.dumps(value)}, arguments
        if draw < 0.6 and isinstance(value, (int, bool)):
            return {**arguments, name: json.dumps(value)}, arguments
        if draw < 0.75:
            rest = {key: value for key, value in arguments.items() if key != name}
            return {**arguments, name: None}, rest if name not in ("path", "paths", "pattern", "content", "edits", "source", "destination") else None
        return {**arguments, name: chance.choice([{}, True, {"a": 1}])}, None


def bound(value, root):
    """The arguments with the real root."""
    if isinstance(value, str):
        return value.replace(ROOT, root)
    if isinstance(value, list):
        return [bound(item, root) for item in value]
    if isinstance(value, dict):
        return {key: bound(item, root) for key, item in value.items()}
    return value
