"""Server processes on one folder, and a client of them over HTTP. Python's standard library only."""

import http.client
import json
import signal
import socket
import subprocess
import time

REVISION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "shared-test", "version": "1"},
}

# Longest time until a server is ready, and for its end (contract 8: 2 s, and some for a busy machine).
PATIENCE = 30
END = 3


class Failed(Exception):
    """A call failed. Holds the text for a model, or what came in place of an answer."""


# Ports that were given out: the system may tell one twice until it is in use.
GIVEN = set()


def free_port():
    while True:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        if port not in GIVEN:
            GIVEN.add(port)
            return port


def until(what, check, patience=PATIENCE, process=None):
    """Waits until `check` holds, and gives what it gave."""
    end = time.monotonic() + patience
    while True:
        held = check()
        if held:
            return held
        if time.monotonic() > end:
            raise TimeoutError(f"not within {patience} s: {what}")
        if process is not None and process.poll() is not None:
            raise RuntimeError(f"the process ended with {process.returncode}: {what}")
        time.sleep(0.02)


class Server:
    """One process. It keeps its ports when it is started again."""

    def __init__(self, binary, folder, log, flags=(), tools="filesystem,search", prefix=()):
        self.port, self.admin, self.folder = free_port(), free_port(), folder
        self.command = [*prefix, binary, f"--dir={folder}", f"--tools={tools}", f"--port={self.port}",
                        f"--admin-port={self.admin}", *flags]
        self.log = log
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=self.log)
        until(f"ready: {self.command}", self.is_healthy, process=self.process)
        return self

    def admin_page(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.admin, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def is_healthy(self):
        try:
            return self.admin_page("/healthz")[0] == 200
        except OSError:
            return False

    def figure(self, name):
        """The sum of the samples of a family."""
        lines = self.admin_page("/metrics")[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)

    def terminate(self):
        """Sends SIGTERM; gives the time until the end."""
        since = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        if code != 0:
            raise RuntimeError(f"the server ended with {code}")
        return time.monotonic() - since

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Client:
    """Calls tools at one port. With `keeps`, all requests use one connection. `ended` is told what each request was and its time."""

    def __init__(self, port, keeps=True, revision=REVISION, timeout=60, ended=lambda what, took: None):
        self.port, self.keeps, self.revision, self.timeout, self.ended = port, keeps, revision, timeout, ended
        self.connection, self.last = None, 0

    def request(self, method, params, headers=()):
        since = time.monotonic()
        try:
            return self.answered(method, params, headers)
        finally:
            self.ended(params.get("name", method), time.monotonic() - since)

    def answered(self, method, params, headers):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        self.last += 1
        body = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        sent = {"Content-Type": "application/json", "Accept": "application/json", **dict(headers)}
        if self.revision == REVISION:
            params["_meta"] = META
            sent |= {"MCP-Protocol-Version": REVISION, "Mcp-Method": method}
        try:
            self.connection.request("POST", "/mcp", json.dumps(body).encode(), sent)
            response = self.connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Failed(f"no answer: {error!r}") from None
        if response.status != 200:
            self.close()
            raise Failed(f"status {response.status}: {text[:300]}")
        if not self.keeps or response.will_close:
            self.close()
        answer = json.loads(text)
        if "result" not in answer:
            raise Failed(f"{answer.get('error')}")
        return answer["result"]

    def call(self, tool, **arguments):
        """The result of a tool, which must succeed."""
        headers = {"Mcp-Name": tool} if self.revision == REVISION else {}
        result = self.request("tools/call", {"name": tool, "arguments": arguments}, headers)
        if result.get("isError"):
            raise Failed(result["content"][0]["text"])
        return result

    def text(self, tool, **arguments):
        return self.call(tool, **arguments)["content"][0]["text"]

    def drop(self, tool, **arguments):
        """Sends a call of REST, and closes the connection before the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        connection.request("POST", f"/tools/{tool}", json.dumps(arguments), {"Content-Type": "application/json"})
        connection.close()

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
