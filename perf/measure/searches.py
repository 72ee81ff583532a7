"""Searches as one timed call each: of file-editor, of ripgrep and of peers; and small reads beside searches.

Knows nothing of the corpus but the folder to search in and what must be found.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time

from measure import job, peers, subjects


class Search:
    """Something that searches a folder. Each method gives the milliseconds until all results are there, and their text."""

    def close(self):
        pass


class Ripgrep(Search):
    name = "rg"

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *arguments):
        start = time.perf_counter()
        text = subprocess.run([self.program, "--no-config", *arguments, self.folder], stdout=subprocess.PIPE).stdout
        return (time.perf_counter() - start) * 1000, text.decode(errors="replace")

    def grep(self, arguments):
        return self.run(*arguments)

    def glob(self, pattern):
        return self.run("--files", "-g", pattern)


class Peer(Search):
    """A peer that a client is connected to."""

    def __init__(self, client, folder):
        self.client, self.folder = client, folder

    def ask(self, tool, **arguments):
        took, message = self.client.ask("tools/call", name=tool, arguments=arguments)
        return took, "\n".join(item["text"] for item in message["result"]["content"])

    def close(self):
        self.client.close()


class Rust(Peer):
    """Its search shows all lines that match; it has no counts."""
    name = "rust-mcp-filesystem"

    def grep(self, pattern, ignore_case=False):
        query = f"(?i){pattern}" if ignore_case else pattern
        return self.ask("search_files_content", path=self.folder, pattern="**/*", query=query, is_regex=True)

    def glob(self, pattern):
        return self.ask("search_files", path=self.folder, pattern=f"**/{pattern}")


class Desktop(Peer):
    """Its search is a session. It is asked without a pause until the search is complete, so this is the least time."""
    name = "DesktopCommander"

    def search(self, **wanted):
        start = time.perf_counter()
        _, text = self.ask("start_search", path=self.folder, **wanted)
        session = re.search(r"session: (\S+)", text)[1]
        while True:
            _, text = self.ask("get_more_search_results", sessionId=session, length=1000)
            if "Status: IN PROGRESS" not in text:
                return (time.perf_counter() - start) * 1000, text
            time.sleep(0.001)

    def grep(self, pattern, ignore_case=False):
        return self.search(pattern=pattern, searchType="content", ignoreCase=ignore_case, contextLines=0)

    def glob(self, pattern):
        return self.search(pattern=pattern, searchType="files", ignoreCase=False)


# By the player whose server they ask.
PEERS = {peers.Rust: [Rust], peers.Desktop: [Desktop]}


def forget(folder):
    """Drops the pages of all files from the page cache. They must be on the disk."""
    for place, _, names in os.walk(folder):
        for name in names:
            file = os.open(os.path.join(place, name), os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Searching:
    """Clients over HTTP that search all the while, each one search after the other."""

    def __init__(self, port, count, pattern):
        self.done, self.searches, self.failed = threading.Event(), 0, []
        body = subjects.call(0, "grep", {"pattern": pattern})
        self.threads = [threading.Thread(target=self.search, args=(port, body)) for _ in range(count)]

    def search(self, port, body):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        while not self.done.is_set():
            try:
                connection.request("POST", "/mcp", body, headers)
                answer = connection.getresponse().read().decode(errors="replace")
            except (http.client.HTTPException, OSError) as why:
                # The load generator stops the server at its end, in the midst of searches.
                self.failed += [] if self.done.wait(10) else [str(why)]
                return
            self.searches += 1
            if "files searched" not in answer:
                self.failed.append(answer[:300])
                return

    def start(self):
        for thread in self.threads:
            thread.start()
        return True

    def stop(self):
        self.done.set()
        for thread in self.threads:
            thread.join()


def reads_beside(load, binary, folder, name, size, pattern, rounds, in_flight=128, searches=8):
    """Answers per second of small reads over HTTP, alone and beside searches by turns, and how many searches ended.

    Each turn has its own server, which reads first and then gets the searches."""
    found, ended = {"alone": [], "beside": []}, 0
    for nth in range(2 * rounds):
        port, which = free_port(), ("alone", "beside")[nth % 2]
        command = [binary, f"--dir={folder}", f"--port={port}", "--tools=filesystem,search", "--timeout=300", "--max-file=1048576"]
        run = {"name": which, "command": command, "http": True, "mode": {"window": in_flight}, "before": [],
               "requests": [subjects.call(0, "read_text_file", {"path": name})], "first": job.ready(os.path.dirname(folder), "beside")}
        searching = Searching(port, searches if which == "beside" else 0, pattern)

        def right(_):
            text = json.dumps(job.answer(run["first"])["result"]["content"][0]["text"])
            return len(text) >= size and searching.start()
        try:
            [result] = load.time([run], right, turn_ms=1000, most_ms=60_000).values()
        finally:
            searching.stop()
        if result.get("failed") or searching.failed:
            raise SystemExit(f"{which}: {result.get('failed') or searching.failed[0]}")
        found[which].append(1e9 / result["median_ns"])
        ended += searching.searches
    return found, ended
