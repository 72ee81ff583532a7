"""A shell as an agent uses it: `bash -c` in the project, with rg, sed, python and git."""

import subprocess

LONGEST = 30_000  # Bytes of an answer that an agent's shell shows; usual of such tools.


class Shell:
    """Counts calls, failed calls and characters, as the players of servers do."""

    def __init__(self, root, log=None):
        self.root, self.log = root, log
        self.calls = self.failed = self.bytes = self.characters = 0
        self.listed = 0

    def run(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.root, capture_output=True, text=True)
        text = (done.stdout + done.stderr)[:LONGEST]
        self.calls += 1
        self.failed += done.returncode > 1
        self.bytes += len(command.encode()) + len(text.encode())
        self.characters += len(command) + len(text)
        if self.log:
            self.log(f"$ {command[:300]}\n  {text[:300]!r}")
        return text

    def close(self):
        pass
