"""Servers that are frozen and killed while they hold the lock of a file, and what the others must do meanwhile and after that."""

import fcntl
import pathlib
import re
import signal
import threading
import time

from servers import Client, Failed, until
from setting import IN_DOUBT, MARGIN, TIMEOUT

# An edit of so many lines takes some milliseconds, so that it can be met with the lock.
LINES, TRIES = 40_000, 50

REFUSED = "locked by another process"

# States of an edit: its file is locked, and the new text is written beside it.
FREE, LOCKED, WRITING = "without the lock", "with the lock", "writing"


def can_lock(path):
    with open(path, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False


class Edit(threading.Thread):
    """An edit that adds a mark to a file. `failure` is the text of its failure; None if it was acknowledged."""

    def __init__(self, client, path, mark):
        super().__init__()
        self.client, self.path, self.mark, self.failure, self.ended_at = client, path, mark, "not ended", None
        self.start()

    def run(self):
        try:
            edits = [{"oldText": "END\n", "newText": f"{self.mark}\nEND\n"}]
            self.client.call("edit_file", path=self.path, diff=False, edits=edits)
            self.failure = None
        except Failed as failure:
            self.failure = str(failure)
        self.ended_at = time.monotonic()

    def problem(self, marks):
        """How the file differs from what was told."""
        count = marks.count(self.mark)
        if self.failure is None:
            allowed = [1]
        elif self.failure.startswith("Error: ") and not any(doubt in self.failure for doubt in IN_DOUBT):
            allowed = [0]
        else:
            allowed = [0, 1]
        return None if count in allowed else f"{self.mark} is {count} times in {self.path}; told: {self.failure or 'made'}"


class Held:
    """A folder with a file, and a server that is stopped in an edit of it with its lock."""

    def __init__(self, setting, name, place):
        self.setting, self.place, self.path = setting, place, f"{name}/file"
        self.server, self.edits = setting.servers[place], []
        self.folder = pathlib.Path(self.server.folder) / name
        self.folder.mkdir()
        setting.write(self.path, "".join(f"line {number}\n" for number in range(LINES)) + "END\n")

    @property
    def others(self):
        return [place for place in range(len(self.setting.servers)) if place != self.place]

    def edit(self, client, what):
        edit = Edit(client, self.path, f"<{what}-{len(self.edits)}>")
        self.edits.append(edit)
        return edit

    def signal(self, number):
        self.server.process.send_signal(number)

    def is_stopped(self):
        state = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state == "T"

    def state(self):
        """How far the edit is that the server makes, as far as it has the lock."""
        if len(list(self.folder.iterdir())) > 1:
            return WRITING
        return FREE if can_lock(self.folder / "file") else LOCKED

    def stop(self, state):
        """Stops the server in this state; gives its edit. The time of that is not measured: it cannot answer."""
        for _ in range(TRIES):
            edit = self.edit(Client(self.server.port, timeout=TIMEOUT + 60), f"stopped{self.place}")
            while edit.is_alive() and self.state() != state:
                pass
            self.signal(signal.SIGSTOP)
            until("the server is stopped", self.is_stopped)
            if edit.is_alive() and self.state() == state and not can_lock(self.folder / "file"):
                return edit
            self.signal(signal.SIGCONT)
            edit.join()
        raise RuntimeError(f"in {TRIES} edits, the server was never met {state}")

    def missed(self):
        """Each edit is there as it was told, and nothing else is in the folder, on each mount."""
        missed = []
        for folder in self.setting.folders:
            marks = re.findall(r"<\w+-\d+>", (folder / self.path).read_text())
            missed += [problem for problem in (edit.problem(marks) for edit in self.edits) if problem]
            names = [path.name for path in (folder / self.path).parent.iterdir()]
            if names != ["file"]:
                missed.append(f"in the folder there is {names}")
        return missed

    def edits_on_all(self, what):
        """Edits on all servers, one after the other, that must be made."""
        for place in [*self.others, self.place]:
            edit = self.edit(self.setting.client(place), f"{what}{place}")
            edit.join()
            if edit.failure:
                yield f"{what}, server {place}: {edit.failure}"


def frozen_with_lock(setting):
    """Longer than the deadline: edits of its file fail on the other servers; reads of it, and edits of other files, do not."""
    missed, told = [], []
    for place, state in [(0, LOCKED), (1, WRITING)]:
        held = Held(setting, f"frozen{place}", place)
        setting.write(f"free{place}", "END\n")
        stopped = held.stop(state)
        try:
            waiting = [held.edit(setting.client(other), f"waiting{other}") for other in held.others]
            turns = 0
            while any(edit.is_alive() for edit in waiting):
                turns += 1
                for other in held.others:
                    client = setting.client(other)
                    text = client.text("read_text_file", path=held.path, tail=2)
                    if text != "END\n":
                        missed.append(f"server {other} read {text!r}")
                    client.call("edit_file", path=f"free{place}", edits=[{"oldText": "END", "newText": f"{turns}\nEND"}])
            missed += [f"server {place} has the lock: {edit.failure}" for edit in waiting if REFUSED not in (edit.failure or "made")]
            told.append(f"{turns} rounds of reads and other edits")
        finally:
            freed_at = time.monotonic()
            held.signal(signal.SIGCONT)
        stopped.join()
        if stopped.ended_at - freed_at > MARGIN:
            missed.append(f"the stopped edit was answered {stopped.ended_at - freed_at:.1f} s after its server went on")
        told.append(f"{state}: {(stopped.failure or 'made').splitlines()[0]}")
        missed += held.edits_on_all("after")
        missed += held.missed()
    return f"servers stopped: {'; '.join(told)}", missed


def frozen_with_lock_for_a_moment(setting):
    """Less than the deadline: all edits are made, those of the other servers after it."""
    missed, cases = [], [(0, LOCKED), (1, WRITING), (2, LOCKED), (0, WRITING)]
    for turn, (place, state) in enumerate(cases):
        held = Held(setting, f"moment{turn}", place)
        stopped = held.stop(state)
        waiting = [held.edit(setting.client(other), f"waiting{other}") for other in held.others]
        time.sleep(TIMEOUT / 4)
        missed += [f"{edit.mark} did not wait: {edit.failure}" for edit in waiting if not edit.is_alive()]
        held.signal(signal.SIGCONT)
        for edit in [stopped, *waiting]:
            edit.join()
            if edit.failure:
                missed.append(f"{edit.mark}: {edit.failure}")
        missed += held.missed()
    return f"{len(cases)} servers stopped for {TIMEOUT / 4} s", missed


def killed_with_lock(setting):
    """Its lock goes with it: the next edit on the same mount and on the other one is made, also one that waits already."""
    missed, told = [], []
    for turn in range(6):
        place, state = turn % 3, [LOCKED, WRITING][turn // 3]
        held = Held(setting, f"killed{turn}", place)
        stopped = held.stop(state)
        waiting = [held.edit(setting.client(other), f"waiting{other}") for other in held.others]
        held.signal(signal.SIGKILL)
        held.server.process.wait()
        for edit in [stopped, *waiting]:
            edit.join()
        held.server.start()
        missed += [f"{edit.mark}: {edit.failure}" for edit in waiting if edit.failure]
        missed += held.edits_on_all("after")
        missed += held.missed()
        told.append("made" if stopped.mark in (held.folder / "file").read_text() else "not made")
    return f"servers killed with a lock: their edits were {', '.join(told)}", missed


ALL = [frozen_with_lock, frozen_with_lock_for_a_moment, killed_with_lock]
