"""A client of an MCP server over stdio, and two changed reference servers for the self-test."""

import json
import os
import re
import selectors
import subprocess
import time

import edits

SECONDS = 30


class Gone(Exception):
    """The server ended, or did not answer in time."""


class Server:
    """One process, started on one folder. Calls are sent one after the other."""

    def __init__(self, command, zone="UTC"):
        environment = {**os.environ, "TZ": zone}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=environment)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.rest, self.last = b"", 0
        info = {"name": "reference-test", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Gone("the server ended") from None

    def line(self):
        end = time.monotonic() + SECONDS
        while b"\n" not in self.rest:
            if not self.selector.select(max(0, end - time.monotonic())):
                raise Gone(f"no answer within {SECONDS} s")
            part = os.read(self.process.stdout.fileno(), 1 << 20)
            if not part:
                raise Gone("the server ended")
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def request(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            answer = self.line()
            if answer.get("id") == self.last:
                return answer

    def call(self, tool, arguments):
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.selector.close()
        self.process.stdout.close()


class Faulty(Server):
    """The reference server with one fault. Each fault must be found by the comparison."""

    FAULTS = {
        "text": "one character more in the answers of read_text_file",
        "entry": "the last entry of list_directory is missing",
        "type": "read_media_file names another media type",
        "disk": "write_file adds a byte to the file",
        "mode": "edit_file changes the mode of the file",
        "success": "failed calls of get_file_info are answered with success",
        "failure": "create_directory answers with a failure",
        "diff": "the diff of edit_file has another header",
    }

    def __init__(self, command, zone, root, fault):
        self.root, self.fault = root, fault
        super().__init__(command, zone)

    def place(self, arguments):
        path = os.path.normpath(os.path.join(self.root, arguments["path"]))
        return path if os.path.exists(path) else os.path.join(self.root, ".gitignore")

    def call(self, tool, arguments):
        answer = super().call(tool, arguments)
        result = answer.get("result", {})
        well = result and not result.get("isError")
        item = result["content"][0] if result else {}
        fault = (self.fault, tool)
        if fault == ("text", "read_text_file") and well:
            item["text"] += "."
        elif fault == ("entry", "list_directory") and well:
            item["text"] = item["text"].rpartition("\n")[0]
        elif fault == ("type", "read_media_file") and well:
            item["mimeType"] = "image/x-other"
        elif fault == ("disk", "write_file") and well:
            with open(self.place(arguments), "ab") as file:
                file.write(b".")
        elif fault == ("mode", "edit_file") and well and not arguments.get("dryRun"):
            os.chmod(self.place(arguments), 0o604)
        elif fault == ("success", "get_file_info") and not well:
            answer["result"] = {"content": [{"type": "text", "text": "size: 0"}]}
        elif fault == ("failure", "create_directory"):
            result["isError"] = True
        elif fault == ("diff", "edit_file") and well:
            item["text"] = item["text"].replace("===\n", "====\n", 1)
        return answer


class Careful(Server):
    """The reference server with the known differences of file-editor, as far as a wrapper can have them. It must pass."""

    def __init__(self, command, zone, root):
        self.root = root
        super().__init__(command, zone)

    def call(self, tool, arguments):
        arguments = {name: plain(name, value) for name, value in arguments.items() if value is not None}
        data = self.data(arguments.get("path"))
        if self.refused(tool, arguments, data):
            return failure()
        answer = super().call(tool, arguments)
        result = answer.get("result", {"isError": True})
        if result.get("isError"):
            return failure()
        item = result["content"][0]
        if tool == "edit_file" and b"\r\n" in data and not arguments.get("dryRun"):
            path = os.path.realpath(os.path.join(self.root, arguments["path"]))
            with open(path, "r+b") as file:
                found = file.read()
                file.seek(0)
                file.write(found.replace(b"\n", b"\r\n"))
        elif tool == "directory_tree":
            item["text"] = json.dumps(ordered(json.loads(item["text"])), indent=2, ensure_ascii=False)
        elif tool in ("list_directory", "search_files"):
            item["text"] = "\n".join(sorted(item["text"].split("\n"), key=lambda line: line.partition(" ")[2].encode()))
        elif tool == "list_directory_with_sizes" and arguments.get("sortBy") != "size":
            lines = item["text"].split("\n")
            lines[:-3] = sorted(lines[:-3], key=lambda line: line.partition(" ")[2][:30].encode() + line.encode())
            item["text"] = "\n".join(lines)
        elif tool == "get_file_info":
            item["text"] = re.sub(r"\(.+\)", "(local)", item["text"]) if "+0000" not in item["text"] else item["text"]
        elif tool == "read_multiple_files":
            item["text"] = re.sub(r": Error - .*", ": Error - ours", item["text"])
        return answer

    def data(self, path):
        try:
            with open(os.path.join(self.root, path), "rb") as file:
                return file.read()
        except (OSError, TypeError, ValueError):
            return b""

    def refused(self, tool, arguments, data):
        paths = [value for name, value in arguments.items() if isinstance(value, str) and name in ("path", "source", "destination")]
        counts = [value for value in (arguments.get("head"), arguments.get("tail")) if isinstance(value, (int, float))]
        text = data.decode(errors="replace")
        return ("bogus" in arguments or any(".." in path.split("/") for path in paths)
                or any(count < 0 or count != int(count) for count in counts)
                or tool in ("read_file", "read_text_file", "edit_file") and ("\0" in text or "\ufffd" in text)
                or tool == "edit_file" and edits.ambiguous(text, arguments.get("edits")))


def plain(name, value):
    """Lenient input: a number or a list given as a JSON string."""
    if isinstance(value, str) and name in ("head", "tail", "dryRun", "paths", "edits", "excludePatterns"):
        return json.loads(value)
    return value


def failure():
    return {"result": {"content": [{"type": "text", "text": "Error: ours"}], "isError": True}}


def ordered(entries):
    for entry in entries:
        ordered(entry.get("children", []))
    entries.sort(key=lambda entry: entry["name"].encode())
    return entries
