"""Servers on stdio that one client asks, and the memory that they take."""

import json
import re
import statistics
import subprocess
import threading
import time

from measure.subjects import HANDSHAKE


class Client:
    """A client of a server on stdio. It passes over what the server says unasked."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.asked = 1
        self.send(HANDSHAKE[0])
        self.answer()
        for message in HANDSHAKE[1:]:
            self.send(message)

    def send(self, message):
        self.process.stdin.write(message.encode() if isinstance(message, str) else json.dumps(message).encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def answer(self):
        """When the last byte of the answer to the last request came, and the answer."""
        while line := self.process.stdout.readline():
            came, message = time.perf_counter(), json.loads(line)
            if message.get("id") == self.asked and "method" not in message:
                return came, message
        raise SystemExit(f"{self.process.args}: ended")

    def ask(self, method, **params):
        """Milliseconds from the first byte of the request to the last one of the answer, and the answer."""
        self.asked += 1
        start = time.perf_counter()
        self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        came, message = self.answer()
        return (came - start) * 1000, message

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:  # Some peers stay when their input ends.
            self.process.terminate()
            self.process.wait()


class Server(Client):
    """file-editor."""

    def __init__(self, binary, folder, *flags):
        super().__init__([binary, f"--dir={folder}", "--transport=stdio", "--max-file=1048576", "--timeout=300", *flags])

    def call(self, tool, **arguments):
        """The milliseconds of a call, and its result."""
        took, message = self.ask("tools/call", name=tool, arguments=arguments)
        result = message["result"]
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

    def at_rest(self, longest=120):
        """Waits until the server has done nothing for a while: its filters are made. The seconds until then."""
        def ticks():
            with open(f"/proc/{self.process.pid}/stat") as file:
                return sum(map(int, file.read().rsplit(") ", 1)[1].split()[11:13]))
        start, quiet, last = time.monotonic(), 0, ticks()
        while quiet < 4 and time.monotonic() - start < longest:
            time.sleep(0.25)
            now = ticks()
            quiet, last = (quiet + 1 if now == last else 0), now
        return time.monotonic() - start
