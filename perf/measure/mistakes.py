"""Usual mistakes of models with the set `agent`: the wrong call, and the one retry that the answer leads to.

A retry is made of the wrong call and of what the answer says: `said(pattern)` takes a part of it, and fails if it is not there. A call
that is taken as it is needs none. `right` looks at the files, or at the last answer."""

import json
import re
from collections import namedtuple

Mistake = namedtuple("Mistake", "title tool arguments retry right")

A = ('"""Berths."""\n\nimport os\n\n\ndef free(berth):\n    if berth.depth > 3:\n        return True\n    return False\n\n\n'
     'def taken(berth):\n    total = 0\n    for ship in berth.ships:\n        total += ship.load\n    return total\n')
FILES = {
    "src/a.py": A,
    "src/main.go": "package main\n\nfunc main() {\n\tif ready {\n\t\tstart(1)\n\t}\n}\n",
    "src/lib.rs": "fn one() {\n    call(1);\n}\n\nfn two() {\n    call(1);\n}\n",
    "docs/guide.md": "# Guide\n\nUse the \"gate\" first.\nIt's open.\n",
    "docs/old.txt": "1\n2\n3\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "config.json": '{\n  "port": 80,\n  "host": "a"\n}\n',
    "empty.txt": "",
    "my file.txt": "here\n",
    "caf\u00e9.txt": "caf\u00e9 au lait\n",
    "web/page.html": "<a href=\"x\">go & see</a>\n",
    ".env.example": "KEY=hidden_word\n",
    ".gitignore": "build/\n",
    "build/out.js": "ignored_word\n",
    "log.txt": "".join(f"line {number}\n" for number in range(1, 101)),
}


class Answer:
    """The answer to the wrong call."""

    def __init__(self, text, is_error):
        self.text, self.is_error = text, is_error

    def said(self, pattern):
        found = re.search(pattern, self.text)
        if not found:
            raise LookupError(f"the answer does not say {pattern}")
        return found[found.lastindex or 0]


def holds(path, part):
    return lambda files, answer: part in files.get(path, "")


def lacks(path):
    return lambda files, answer: path not in files


def shows(*parts):
    return lambda files, answer: all(part in answer.text for part in parts)


def edit(title, arguments, retry, right):
    return Mistake(title, "edit", arguments, retry, right)


def again(tool=None, **changed):
    """The same call with other arguments; `None` leaves one out. Functions get the answer."""
    def retry(mistake, answer):
        arguments = dict(mistake.arguments)
        for name, value in changed.items():
            name = {"case": "-i"}.get(name, name)
            arguments[name] = value(answer) if callable(value) else value
        return tool or mistake.tool, {name: value for name, value in arguments.items() if value is not None}
    return retry


def needs(pattern, retry):
    """The retry, if the answer says this."""
    def checked(mistake, answer):
        answer.said(pattern)
        return retry(mistake, answer)
    return checked


def said(pattern):
    return lambda answer: answer.said(pattern)


OLD, NEW = "        return True", "        return 1"
DONE = holds("src/a.py", "        return 1\n")
DEPTH = "    if berth.depth > 3:\n        return True"

TEXTS = [
    edit("blanks at the end of a line", {"path": "src/a.py", "old": "        return True  ", "new": NEW}, None, DONE),
    edit("a tab for blanks", {"path": "src/a.py", "old": "    if berth.depth > 3:\n\treturn True", "new": "    if berth.depth > 3:\n\treturn 1"},
         again(old=DEPTH, new=DEPTH.replace("True", "1")), DONE),
    edit("blanks for a tab", {"path": "src/main.go", "old": "        start(1)", "new": "        start(2)"}, None,
         holds("src/main.go", "\t\tstart(2)\n")),
    edit("no indentation", {"path": "src/a.py", "old": "if berth.depth > 3:\n    return True", "new": "if berth.depth > 3:\n    return 1"}, None, DONE),
    edit("a stale word", {"path": "src/a.py", "old": "    if berth.depth > 4:\n        return True", "new": "    if berth.depth > 5:\n        return 1"},
         needs(r"berth\.depth > 3", again(old=DEPTH)), DONE),
    edit("a place that stands twice, all meant", {"path": "src/lib.rs", "old": "call(1)", "new": "call(2)"},
         needs(r"\ball\b", again(all=True)), lambda files, answer: files["src/lib.rs"].count("call(2)") == 2),
    edit("a place that stands twice, the second meant", {"path": "src/lib.rs", "old": "    call(1);", "new": "    call(2);"},
         lambda mistake, answer: ("edit", {"path": "src/lib.rs", "lines": answer.said(r"(?m)^(6): "), "new": "    call(2);"}),
         holds("src/lib.rs", "fn two() {\n    call(2);")),
    edit("escaped line breaks", {"path": "src/a.py", "old": DEPTH.replace("\n", "\\n"), "new": DEPTH.replace("True", "1").replace("\n", "\\n")},
         needs(r"\\n", again(old=DEPTH, new=DEPTH.replace("True", "1"))), DONE),
    edit("HTML entities", {"path": "web/page.html", "old": "go &amp; see", "new": "go and see"},
         needs(r"go & see", again(old="go & see")), holds("web/page.html", "go and see")),
    edit("line numbers with a tab in the text", {"path": "src/a.py", "old": "     8\t        return True", "new": NEW},
         needs(r"return True", again(old=OLD)), DONE),
    edit("line numbers with a colon in the text", {"path": "src/a.py", "old": "8: " + OLD, "new": NEW},
         needs(r"return True", again(old=OLD)), DONE),
    edit("a code fence around the text", {"path": "src/a.py", "old": "```python\n" + DEPTH + "\n```", "new": DEPTH.replace("True", "1")},
         needs(r"return True", again(old=DEPTH)), DONE),
    edit("curly quotes", {"path": "docs/guide.md", "old": "Use the \u201cgate\u201d first.", "new": "Use the door first."},
         needs(r'"gate"', again(old='Use the "gate" first.')), holds("docs/guide.md", "the door")),
    edit("a curly apostrophe", {"path": "docs/guide.md", "old": "It\u2019s open.", "new": "It is open."},
         needs(r"It's", again(old="It's open.")), holds("docs/guide.md", "It is open.")),
    edit("a decomposed accent", {"path": "caf\u00e9.txt", "old": "cafe\u0301 au", "new": "tea au"},
         needs(r"(?i)unicode|composed|caf\u00e9", again(old="caf\u00e9 au")), holds("caf\u00e9.txt", "tea au")),
    edit("CR LF in the text", {"path": "src/a.py", "old": DEPTH.replace("\n", "\r\n"), "new": DEPTH.replace("True", "1").replace("\n", "\r\n")}, None, DONE),
    edit("LF for a file of CR LF", {"path": "crlf.txt", "old": "one\ntwo", "new": "1\n2"}, None, holds("crlf.txt", "1\r\n2\r\nthree")),
    edit("existing code left out", {"path": "src/a.py", "old": "def taken(berth):\n    # ... existing code ...\n    return total", "new": "def taken(berth):\n    return 0"},
         lambda mistake, answer: ("edit", {"path": "src/a.py", "lines": f"{answer.said(r'line (12)')}-{answer.said(r'line (16)')}",
                                           "new": mistake.arguments["new"]}), holds("src/a.py", "def taken(berth):\n    return 0\n")),
    edit("existing code left out of the new text", {"path": "src/a.py", "old": "    return total", "new": "    # ... rest of the code ...\n    return 0"},
         needs(r"stands for text", again(new="    return 0")), holds("src/a.py", "return 0")),
    edit("an empty old text for a new file", {"path": "src/new.py", "old": "", "new": "x = 1\n"},
         needs(r"content", again(old=None, new=None, content="x = 1\n")), holds("src/new.py", "x = 1\n")),
    edit("an empty old text to append", {"path": "docs/old.txt", "old": "", "new": "4\n"},
         needs(r"append", again(old=None, new=None, append="4\n")), holds("docs/old.txt", "3\n4\n")),
    edit("an edit that is done already", {"path": "src/a.py", "old": "        return 2", "new": OLD}, None, shows("8:", "return True")),
    edit("old and new are equal", {"path": "src/a.py", "old": OLD, "new": OLD}, None, shows("Nothing changed")),
    edit("another case", {"path": "src/a.py", "old": "DEF FREE(BERTH):", "new": "def is_free(berth):"},
         needs(r"def free\(berth\):", again(old="def free(berth):")), holds("src/a.py", "def is_free(berth)")),
    edit("a line of the middle forgotten", {"path": "src/a.py", "old": "    total = 0\n        total += ship.load\n", "new": "    total = 1\n"},
         needs(r"for ship in", again(old="    total = 0\n    for ship in berth.ships:\n        total += ship.load\n")), holds("src/a.py", "total = 1\n")),
    edit("one of three edits is stale", {"edits": [{"path": "src/a.py", "old": OLD, "new": NEW}, {"path": "src/lib.rs", "old": "fn three", "new": "fn 3"},
                                                  {"path": "docs/old.txt", "old": "2", "new": "two"}]},
         lambda mistake, answer: ("edit", {"retry": answer.said(r'retry"?[:=]? ?"?(r\d+)'), "edits": [{"n": 2, "path": "src/lib.rs", "old": "fn two", "new": "fn 2"}]}),
         lambda files, answer: "fn 2" in files["src/lib.rs"] and "two" in files["docs/old.txt"] and DONE(files, answer)),
]

PATHS = [
    edit("a mistyped path", {"path": "src/a.pyy", "old": OLD, "new": NEW}, again(path=said(r"(src/a\.py)\b(?!y)")), DONE),
    edit("a path without its folder", {"path": "a.py", "old": OLD, "new": NEW}, again(path=said(r"src/a\.py")), DONE),
    edit("an absolute path of another machine", {"path": "/home/user/project/src/a.py", "old": OLD, "new": NEW}, again(path=said(r"(?<![\w/])src/a\.py")), DONE),
    edit("./ before a path", {"path": "./src/a.py", "old": OLD, "new": NEW}, None, DONE),
    edit("a URI", {"path": "file://{root}/src/a.py", "old": OLD, "new": NEW}, None, DONE),
    edit("backslashes", {"path": "src\\a.py", "old": OLD, "new": NEW}, again(path=said(r"src/a\.py")), DONE),
    edit("a path with its line", {"path": "src/a.py:8", "old": OLD, "new": NEW}, again(path=said(r"src/a\.py(?!:)")), DONE),
    edit("a path in backquotes", {"path": "`src/a.py`", "old": OLD, "new": NEW}, again(path=said(r"src/a\.py(?!`)|'(src/a\.py)'")), DONE),
    edit("a line break behind a path", {"path": "src/a.py\n", "old": OLD, "new": NEW}, again(path=said(r"'(src/a\.py)'")), DONE),
    edit("a blank behind a path", {"path": "src/a.py ", "old": OLD, "new": NEW}, again(path=said(r"(src/a\.py)(?! )")), DONE),
    edit("a new file beside a mistyped folder", {"path": "srcs/b.py", "content": "x\n"}, None, lambda files, answer: any(path.endswith("b.py") for path in files)),
    edit("a folder as file", {"path": "src", "old": "a", "new": "b"}, again("files", old=None, new=None, path=said(r"folder|directory") and "src"), shows("a.py")),
    edit("another case of a path", {"path": "SRC/A.py", "old": OLD, "new": NEW}, again(path=said(r"src/a\.py")), DONE),
    edit("a decomposed name", {"path": "cafe\u0301.txt", "old": "lait", "new": "noir"}, None, holds("caf\u00e9.txt", "noir")),
]

FORMS = [
    edit("edits as a string", {"edits": json.dumps([{"path": "src/a.py", "old": OLD, "new": NEW}])}, None, DONE),
    edit("a single edit in place of the list", {"edits": {"path": "src/a.py", "old": OLD, "new": NEW}}, None, DONE),
    edit("old_string and new_string", {"file_path": "src/a.py", "old_string": OLD, "new_string": NEW}, None, DONE),
    edit("oldText and newText", {"path": "src/a.py", "edits": [{"oldText": OLD, "newText": NEW}]}, None, DONE),
    edit("old_str and new_str", {"path": "src/a.py", "old_str": OLD, "new_str": NEW}, None, DONE),
    edit("search and replace", {"path": "src/a.py", "search": OLD, "replace": NEW}, needs(r"\bold\b", again(search=None, replace=None, old=OLD, new=NEW)), DONE),
    edit("filename", {"filename": "src/a.py", "old": OLD, "new": NEW}, needs(r"\bpath\b", again(filename=None, path="src/a.py")), DONE),
    edit("replace_all as a string", {"path": "src/lib.rs", "old": "call(1)", "new": "call(2)", "replace_all": "true"}, None, holds("src/lib.rs", "call(2)")),
    edit("start_line and end_line", {"path": "src/a.py", "start_line": 8, "end_line": 8, "new": NEW}, needs(r"\blines\b", again(start_line=None, end_line=None, lines="8")), DONE),
    edit("lines as a pair", {"path": "src/a.py", "lines": [8, 8], "new": NEW}, needs(r'"?\d+-\d+|"12"', again(lines="8-8")), DONE),
    edit("lines as a number", {"path": "src/a.py", "lines": 8, "new": NEW}, needs(r"\d+-\d+", again(lines="8")) and None, DONE),
    edit("lines with a colon", {"path": "src/a.py", "lines": "8:8", "new": NEW}, needs(r"\d+-\d+", again(lines="8-8")), DONE),
    edit("lines with L", {"path": "src/a.py", "lines": "L8-L8", "new": NEW}, needs(r"\d+-\d+", again(lines="8-8")), DONE),
    edit("lines behind the end", {"path": "docs/old.txt", "lines": "3-9", "new": "x"}, needs(r"3 lines", again(lines="3-3")), holds("docs/old.txt", "2\nx\n")),
    edit("lines the wrong way round", {"path": "docs/old.txt", "lines": "3-2", "new": "x"}, needs(r"line range", again(lines="2-3")), holds("docs/old.txt", "1\nx\n")),
    edit("a stale expect", {"path": "docs/old.txt", "lines": "2", "expect": "zwei", "new": "two"}, again(expect=said(r'now: "(2)"')),
         holds("docs/old.txt", "1\ntwo\n3")),
    edit("content as an object", {"path": "config.json", "content": {"port": 81}}, needs(r"string", again(content='{"port": 81}')), holds("config.json", "81")),
    edit("create_only over a file", {"path": "docs/old.txt", "content": "x", "create_only": True}, needs(r"create_only", again(create_only=None)),
         holds("docs/old.txt", "x")),
    edit("a folder that is not empty", {"path": "docs", "delete": True}, needs(r"recursive", again(recursive=True)), lacks("docs/old.txt")),
    edit("a move onto a file", {"path": "docs/old.txt", "move_to": "empty.txt"}, needs(r"exists|is there", again(move_to="docs/new.txt")), holds("docs/new.txt", "1")),
    edit("a move into a folder", {"path": "docs/old.txt", "move_to": "src/"}, needs(r"src/old\.txt", again(move_to="src/old.txt")), holds("src/old.txt", "1")),
    edit("new_path", {"path": "docs/old.txt", "new_path": "src/old.txt"}, needs(r"move_to", again(new_path=None, move_to="src/old.txt")), holds("src/old.txt", "1")),
    edit("rename", {"path": "docs/old.txt", "rename": "docs/new.txt"}, needs(r"move_to", again(rename=None, move_to="docs/new.txt")), holds("docs/new.txt", "1")),
    edit("dry_run as a string", {"path": "src/a.py", "old": OLD, "new": NEW, "dry_run": "false"}, None, DONE),
    edit("edits and a patch", {"edits": [{"path": "src/a.py", "old": OLD, "new": NEW}], "patch": "x"}, needs(r"patch", again(patch=None)), DONE),
    edit("nothing but a path", {"path": "src/a.py"}, needs(r"\bold\b.*\bnew\b|content", again(old=OLD, new=NEW)), DONE),
]

HUNK = "@@ -7,3 +7,3 @@\n     if berth.depth > 3:\n-        return True\n+        return 1\n     return False\n"
PATCHES = [
    edit("wrong counts in a patch", {"patch": "--- a/src/a.py\n+++ b/src/a.py\n" + HUNK.replace("-7,3 +7,3", "-1,9 +2,7")}, None, DONE),
    edit("a patch in a code fence", {"patch": "```diff\n--- a/src/a.py\n+++ b/src/a.py\n" + HUNK + "```"}, None, DONE),
    edit("a patch without a/ and b/", {"patch": "--- src/a.py\n+++ src/a.py\n" + HUNK}, None, DONE),
    edit("a patch without numbers", {"patch": "--- a/src/a.py\n+++ b/src/a.py\n" + re.sub(r"@@ .* @@", "@@", HUNK)}, None, DONE),
    edit("a patch with blanks lost at empty lines", {"patch": "--- a/src/a.py\n+++ b/src/a.py\n@@ -8,5 +8,5 @@\n-        return True\n+        return 1\n     return False\n\n\n def taken(berth):\n"},
         None, DONE),
    edit("a patch with a stale line", {"patch": "--- a/src/a.py\n+++ b/src/a.py\n" + HUNK.replace("> 3", "> 4")},
         needs(r"berth\.depth > 3", again(patch="--- a/src/a.py\n+++ b/src/a.py\n" + HUNK)), DONE),
    edit("a patch of LF for CR LF", {"patch": "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"}, None, holds("crlf.txt", "one\r\n2\r\n")),
    edit("Begin Patch without its end", {"patch": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-        return True\n+        return 1\n"},
         needs(r"\*\*\* End Patch", again(patch="*** Begin Patch\n*** Update File: src/a.py\n@@\n-        return True\n+        return 1\n*** End Patch\n")), DONE),
    edit("a patch in edits", {"edits": "--- a/src/a.py\n+++ b/src/a.py\n" + HUNK}, needs(r"patch", lambda mistake, answer: ("edit", {"patch": mistake.arguments["edits"]})), DONE),
    edit("a mistyped path in a patch", {"patch": "--- a/src/a.pyy\n+++ b/src/a.pyy\n" + HUNK},
         needs(r"src/a\.py\b(?!y)", again(patch="--- a/src/a.py\n+++ b/src/a.py\n" + HUNK)), DONE),
]

READS = [
    Mistake("offset and limit", "read", {"path": "log.txt", "offset": 5, "limit": 2}, None, shows("line 5", "line 6")),
    Mistake("view_range", "read", {"path": "log.txt", "view_range": [5, 6]}, None, shows("line 5", "line 6")),
    Mistake("lines with a comma", "read", {"path": "log.txt", "lines": "5,6"}, needs(r"\d+-\d+", again(lines="5-6")), shows("line 5", "line 6")),
    Mistake("lines behind the end of a text", "read", {"path": "docs/old.txt", "lines": "9-12"}, needs(r"3 lines|line 3", again(lines="1-3")), shows("3")),
    Mistake("a list in path", "read", {"path": ["docs/old.txt", "src/lib.rs"]}, needs(r"paths", again(path=None, paths=["docs/old.txt", "src/lib.rs"])) , shows("fn one")),
    Mistake("paths in one string", "read", {"paths": "docs/old.txt, src/lib.rs"}, None, shows("fn one")),
    Mistake("a folder to read", "read", {"path": "src"}, needs(r"files", again("files")), shows("a.py")),
    Mistake("a mistyped file to read", "read", {"path": "src/libs.rs"}, again(path=said(r"src/lib\.rs")), shows("fn one")),
    Mistake("a glob to read", "read", {"path": "src/*.rs"}, again(path=said(r"src/lib\.rs")), shows("fn one")),
    Mistake("a negative tail", "read", {"path": "log.txt", "tail": -2}, needs(r"tail", again(tail=2)), shows("line 100")),
    Mistake("lines from the end", "read", {"path": "log.txt", "lines": "-2"}, needs(r"tail", again(lines=None, tail=2)), shows("line 100")),
    Mistake("latin1", "read", {"path": "docs/old.txt", "encoding": "latin1"}, None, shows("1\n2")),
    Mistake("an unknown encoding", "read", {"path": "docs/old.txt", "encoding": "cyrillic-win"}, needs(r"windows-1251|auto|utf-8", again(encoding="utf-8")), shows("1\n2")),
    Mistake("a quoted path to read", "read", {"path": '"src/lib.rs"'}, again(path=said(r"src/lib\.rs(?!\")|'(src/lib\.rs)'")), shows("fn one")),
    Mistake("a name with a wrong ending", "read", {"path": "docs/guide.txt"}, again(path=said(r"docs/guide\.md")), shows("# Guide")),
]

SEARCHES = [
    Mistake("\\| for or", "grep", {"pattern": "free\\|taken"}, needs(r"free\|taken", again(pattern="free|taken")), shows("def taken")),
    Mistake("slashes around a pattern", "grep", {"pattern": "/DEF TAKEN/i"}, needs(r"-i|case", again(pattern="DEF TAKEN", case=True)), shows("def taken")),
    Mistake("doubled backslashes", "grep", {"pattern": "\\\\btaken\\\\b"}, needs(r"\\btaken", again(pattern="\\btaken\\b")), shows("def taken")),
    Mistake("an open parenthesis", "grep", {"pattern": "taken("}, needs(r"fixed_strings", again(fixed_strings=True)), shows("def taken")),
    Mistake("a look-ahead", "grep", {"pattern": "def (?=taken)"}, needs(r"look", again(pattern="def taken")), shows("def taken")),
    Mistake("a glob in path", "grep", {"pattern": "taken", "path": "src/*.py"}, needs(r"glob", again(path=None, glob="src/*.py")), shows("def taken")),
    Mistake("include", "grep", {"pattern": "taken", "include": "*.py"}, needs(r"glob", again(include=None, glob="*.py")), shows("def taken")),
    Mistake("another case of a pattern", "grep", {"pattern": "DEF TAKEN"}, needs(r'"-i"', again(case=True)), shows("def taken")),
    Mistake("a hidden file", "grep", {"pattern": "hidden_word"}, again(include_hidden=lambda answer: bool(answer.said(r"include_hidden|hidden"))), shows("KEY=")),
    Mistake("an ignored file", "grep", {"pattern": "ignored_word"}, again(include_ignored=lambda answer: bool(answer.said(r"include_ignored"))), shows("build/out.js")),
    Mistake("query for pattern", "grep", {"query": "def taken"}, needs(r"pattern", again(query=None, pattern="def taken")), shows("def taken")),
    Mistake("the long name of a type", "grep", {"pattern": "taken", "type": "python"}, again(type=lambda answer: answer.said(r"\bpy\b")), shows("def taken")),
    Mistake("an output mode that is none", "grep", {"pattern": "taken", "output_mode": "lines"}, again(output_mode=said(r"\bcontent\b")), shows("def taken")),
    Mistake("context as a string", "grep", {"pattern": "def taken", "-C": "1"}, None, shows("total = 0")),
    Mistake("several lines without multiline", "grep", {"pattern": "def taken.*\\n.*total"}, needs(r"multiline", again(multiline=True)), shows("total = 0")),
    Mistake("a folder's name as pattern", "files", {"pattern": "src"}, None, shows("src/a.py")),
    Mistake("a glob as path", "files", {"path": "src/*.py"}, needs(r"pattern", again(path=None, pattern="src/*.py")), shows("a.py")),
    Mistake("recursive", "files", {"path": "src", "recursive": True}, again(recursive=None), shows("a.py")),
    Mistake("depth as a string", "files", {"depth": "1"}, None, shows("src/")),
    Mistake("a mistyped folder", "files", {"path": "scr"}, again(path=said(r"\bsrc\b")), shows("a.py")),
]

REPLACES = [
    Mistake("\\1 for $1", "replace", {"pattern": "call\\((\\d)\\)", "replacement": "run(\\1)", "glob": "*.rs"}, needs(r"\$1", again(replacement="run($1)")),
            holds("src/lib.rs", "run(1)")),
    Mistake("a group that is none", "replace", {"pattern": "call\\((\\d)\\)", "replacement": "run($2)", "glob": "*.rs"}, needs(r"\$1|1 group", again(replacement="run($1)")),
            holds("src/lib.rs", "run(1)")),
    Mistake("a wrong number of places", "replace", {"pattern": "call\\(1\\)", "replacement": "call(2)", "expected": 1},
            again(expected=lambda answer: int(answer.said(r"\b(2)\b"))), holds("src/lib.rs", "call(2)")),
    Mistake("parentheses that are meant", "replace", {"pattern": "call(1)", "replacement": "call(2)"}, needs(r"fixed_strings", again(fixed_strings=True)),
            holds("src/lib.rs", "call(2)")),
    Mistake("another case to replace", "replace", {"pattern": "CALL", "replacement": "run"}, needs(r'"-i"', again(case=True)), holds("src/lib.rs", "run(1)")),
    Mistake("no replacement", "replace", {"pattern": "call"}, needs(r"replacement", again(replacement="run")), holds("src/lib.rs", "run(1)")),
    Mistake("old and new for replace", "replace", {"old": "call", "new": "run"}, needs(r"pattern|replacement", again(old=None, new=None, pattern="call", replacement="run")),
            holds("src/lib.rs", "run(1)")),
]

OTHERS = [
    Mistake("edit_file", "edit_file", {"path": "src/a.py", "old": OLD, "new": NEW}, again(said(r"\bedit\b") and "edit"), DONE),
    Mistake("read_file", "read_file", {"path": "src/lib.rs"}, needs(r"\bread\b", again("read")), shows("fn one")),
    Mistake("search", "search", {"pattern": "def taken"}, needs(r"\bgrep\b", again("grep")), shows("def taken")),
    Mistake("list_directory", "list_directory", {"path": "src"}, needs(r"\bfiles\b", again("files")), shows("a.py")),
    Mistake("a time in words", "changes", {"since": "yesterday"}, needs(r"\b\d+h\b", again(since="2h")), shows("Nothing has changed")),
    Mistake("undo of nothing", "undo", {"change": "c9"}, None, lambda files, answer: "c9" in answer.text or "journal" in answer.text),
]

ALL = [*TEXTS, *PATHS, *FORMS, *PATCHES, *READS, *SEARCHES, *REPLACES, *OTHERS]
