"""The servers under test, and their requests: for each work, the nearest call of their tools, as in `tools/list`."""

import hashlib
import json
import os

from measure import texts


class Lacks(Exception):
    """The subject has no call for the work. The text names the nearest call."""


class Subject:
    """A server with its arguments. `path` returns the name of a file for its tools."""
    durable = False
    # Used only for edits without a flush, in place of another subject.
    only_unflushed = False

    def __init__(self, name, program, version):
        self.name, self.program, self.version = name, program, version

    def command(self, folder):
        return [*self.program, folder]

    def path(self, folder, name):
        return os.path.join(folder, name)

    def files(self):
        """The same server with its tools for trees of files."""
        return self

    def content(self, answer):
        """The file's text in the answer to a read."""
        return words(answer)

    def matches(self, answer, expected):
        return self.content(answer) == expected

    def edit(self, folder, name, size, line, state):
        """Changes one line to its other state; `state` is the state before."""
        return self.exact(folder, name, size, [line], state)


def words(answer):
    return answer["result"]["content"][0]["text"]


class Ours(Subject):
    durable = True

    def __init__(self, name, program, version, *flags):
        super().__init__(name, program, version)
        self.flags = flags
        self.durable = "--sync=none" not in flags

    def command(self, folder):
        return [*self.program, f"--dir={folder}", "--transport=stdio", "--max-size=100", *self.flags]

    def files(self):
        found = OurFiles(self.name, self.program, self.version, *(flag for flag in self.flags if not flag.startswith("--tools=")))
        found.only_unflushed = self.only_unflushed
        return found

    def http(self, folder):
        return [*self.program, f"--dir={folder}", "--port=0", "--max-size=100", *self.flags]

    def content(self, answer):
        return words(answer).partition("\n\n")[2]

    def matches(self, answer, expected):
        # The answer has no break after its last line.
        return self.content(answer) + "\n" == expected

    def read(self, folder, name):
        return "read_file", {"name": name}

    def lines(self, folder, name, first, count):
        return "read_file", {"name": name, "start_line": first, "end_line": first + count - 1}

    def list(self, folder):
        return "list_files", {}

    def edit(self, folder, name, size, line, state):
        edit = {"line": line, "operation": "replace", "content": texts.heading(line, 1 - state),
                "expect": texts.heading(line, state)}
        return "edit_file", {"name": name, "edits": [edit]}

    def exact(self, folder, name, size, lines, state):
        edits = [{"old_text": texts.heading(line, state), "new_text": texts.heading(line, 1 - state)}
                 for line in lines]
        return "file_edit", {"path": name, "edits": edits}


class Pairs(Subject):
    """The common part of the file system servers: paths, and edits of exact text."""
    many = "read_multiple_files"

    def list(self, folder):
        return "list_directory_with_sizes", {"path": folder}

    def read(self, folder, name):
        return "read_text_file", {"path": self.path(folder, name)}

    def exact(self, folder, name, size, lines, state):
        edits = [{"oldText": texts.heading(line, state), "newText": texts.heading(line, 1 - state)}
                 for line in lines]
        return "edit_file", {"path": self.path(folder, name), "edits": edits}


    def names(self, folder):
        return "list_directory", {"path": folder}

    def tree(self, folder):
        return "directory_tree", {"path": folder}

    def search(self, folder, pattern):
        return "search_files", {"path": folder, "pattern": pattern}

    def read_many(self, folder, names):
        return self.many, {"paths": [self.path(folder, name) for name in names]}

    def write(self, folder, name, content):
        return "write_file", {"path": self.path(folder, name), "content": content}

    def move(self, folder, source, destination):
        return "move_file", {"source": self.path(folder, source), "destination": self.path(folder, destination)}


class OurFiles(Pairs):
    """file-editor with the tools of the reference server. Its answers are not cut, because a peer's are not."""

    def __init__(self, name, program, version, *flags):
        super().__init__(name, program, version)
        self.flags = flags
        self.durable = "--sync=none" not in flags

    limit = "--answer-limit=0"

    def command(self, folder):
        return [*self.program, f"--dir={folder}", "--transport=stdio", "--max-size=100", "--tools=filesystem", self.limit,
                *self.flags]

    def http(self, folder):
        return [*self.program, f"--dir={folder}", "--port=0", "--max-size=100", "--tools=filesystem", self.limit, *self.flags]

    def limited(self):
        """The same server with the answer limit that it has without a flag."""
        found = OurFiles(self.name, self.program, self.version, *self.flags)
        found.limit = "--answer-limit=60"
        return found


class Reference(Pairs):
    """npm: the reference server."""

    def lines(self, folder, name, first, count):
        raise Lacks("not offered: only `head` and `tail`; nearest: the first half of the file")


class RustPeer(Pairs):
    """crates.io: writes only with --allow-write. Its search does not tell upper from lower case."""
    many = "read_multiple_text_files"

    def command(self, folder):
        return [*self.program, "--allow-write", folder]

    def lines(self, folder, name, first, count):
        return "read_file_lines", {"path": self.path(folder, name), "offset": first, "limit": count}


class TextEditor(Subject):
    """PyPI: line ranges, with hashes of the file and of the range from an earlier read. That read is not timed."""

    def command(self, folder):
        return self.program

    def list(self, folder):
        raise Lacks("not offered")

    def content(self, answer):
        (file,) = json.loads(words(answer)).values()
        return file["ranges"][0]["content"]

    def read(self, folder, name):
        return "get_text_file_contents", {"files": [{"file_path": self.path(folder, name), "ranges": [{"start": 1}]}]}

    def lines(self, folder, name, first, count):
        wanted = {"start": first + 1, "end": first + count}
        return "get_text_file_contents", {"files": [{"file_path": self.path(folder, name), "ranges": [wanted]}]}

    def edit(self, folder, name, size, line, state):
        file = texts.edited(size, [line]) if state else texts.text(size).encode()
        old, new = (texts.heading(line, which) + "\n" for which in (state, 1 - state))
        patch = {"line_start": line + 1, "line_end": line + 1, "contents": new, "range_hash": hashed(old.encode())}
        file = {"path": self.path(folder, name), "file_hash": hashed(file), "patches": [patch]}
        return "edit_text_file_contents", {"files": [file]}

    def exact(self, folder, name, size, lines, state):
        raise Lacks("not offered: patches of line ranges")


def hashed(data):
    return hashlib.sha256(data).hexdigest()


def call(nth, tool, arguments):
    """A `tools/call` as one line. Ids in flight must differ; they have the same length, so that answers do too."""
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1000 + nth, "method": "tools/call", "params": params})


INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "perf", "version": "1"}}})
HANDSHAKE = [INITIALIZE, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})]
