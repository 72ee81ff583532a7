"""A server on stdio that one client asks, and the memory that it takes."""

import json
import re
import statistics
import subprocess
import threading
import time

from measure.subjects import HANDSHAKE


class Server:
    """A server on stdio, asked by one client."""

    def __init__(self, binary, folder, *flags):
        command = [binary, f"--dir={folder}", "--transport=stdio", "--max-file=1048576", "--timeout=300", *flags]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.send(HANDSHAKE[0])
        self.process.stdout.readline()
        for message in HANDSHAKE[1:]:
            self.send(message)

    def send(self, message):
        self.process.stdin.write(message.encode() if isinstance(message, str) else json.dumps(message).encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def call(self, tool, **arguments):
        """Milliseconds from the first byte of the request to the last one of the answer, and its result."""
        start = time.perf_counter()
        self.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        line = self.process.stdout.readline()
        took = (time.perf_counter() - start) * 1000
        result = json.loads(line)["result"]
        if result.get("isError"):
            raise SystemExit(f"{tool} {arguments}: {result['content'][0]['text']}")
        return took, result

    def median(self, times, tool, **arguments):
        return statistics.median(self.call(tool, **arguments)[0] for _ in range(times))

    def anonymous(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+)", file.read()).group(1)) / 1024

    def peak(self, work):
        """What `work` gives, and the most anonymous memory meanwhile."""
        seen, done = [self.anonymous()], threading.Event()

        def look():
            while not done.wait(0.002):
                seen.append(self.anonymous())
        watch = threading.Thread(target=look)
        watch.start()
        try:
            return work(), max(seen)
        finally:
            done.set()
            watch.join()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
