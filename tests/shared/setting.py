"""The servers that scenarios work with, and the edits that most of them make meanwhile."""

import os
import re
import threading
import time

from servers import Client, Failed, until

# --timeout of the servers, and what a call may take longer, in seconds. CephFS needs more than 5: see docs/several-machines.md.
TIMEOUT = int(os.environ.get("SHARED_TIMEOUT", "4"))
MARGIN = 1

# How long a server may need to work again after a fault has ended. A read of MooseFS 3, of any program, can wait for 30 s if
# another machine cuts the file at that moment: its client holds a page that it is told to drop.
RECOVERY = 45

FILES = 4


class Setting:
    """The file system, the same folder on each mount, and servers: one on the first mount, two on the second.

    Every request of a scenario goes through a client from here, and must end within the deadline and MARGIN."""

    def __init__(self, system, folders, servers, new_server):
        self.system, self.folders, self.servers = system, folders, servers
        # Makes one more server, of a folder and with more flags.
        self.new_server = new_server
        self.lock = threading.Lock()
        self.requests, self.longest, self.late = 0, 0.0, []

    def run(self, scenario):
        """Gives the bars that were missed, as texts."""
        since = time.monotonic()
        self.requests, self.longest, self.late = 0, 0.0, []
        try:
            summary, missed = scenario(self)
        except (Failed, AssertionError, TimeoutError, RuntimeError, OSError) as error:
            summary, missed = "broke off", [f"{scenario.__name__}: {error!r}"]
        missed = missed + self.late
        if not self.requests:
            missed.append("no request was measured")
        print(f"{scenario.__name__}: {summary}; longest of {self.requests} requests {self.longest:.2f} s "
              f"({time.monotonic() - since:.1f} s)", flush=True)
        for miss in missed[:8]:
            print(f"  MISSED {miss}", flush=True)
        return missed

    def ended(self, server, what, took):
        with self.lock:
            self.requests += 1
            self.longest = max(self.longest, took)
            if took > TIMEOUT + MARGIN:
                self.late.append(f"{what} took {took:.1f} s at the server of {server.folder}, port {server.port}")

    def client_of(self, server):
        return Client(server.port, timeout=TIMEOUT + 20, ended=lambda what, took: self.ended(server, what, took))

    def client(self, place):
        return self.client_of(self.servers[place])

    def clients(self):
        return [self.client_of(server) for server in self.servers]

    def write(self, name, text):
        (self.folders[0] / name).write_text(text)


# What an edit is answered that may have been made.
IN_DOUBT = ["may have been made", "not known whether", "change is in place"]


# What a call is answered whose key was sent before, when that answer was lost.
DONE_BEFORE = "was carried out before, with success"


class Work:
    """Threads that edit files on all servers, and read each acknowledged edit back on another server. With `keyed`, each second
    one sends a failed edit again with its idempotency key, until it is told that it is made."""

    def __init__(self, setting, prefix, keyed=False):
        self.setting, self.prefix, self.keyed = setting, prefix, keyed
        self.ending, self.lock = threading.Event(), threading.Lock()
        self.acknowledged, self.refused, self.doubtful, self.failures, self.stale = [], [], [], [], []
        self.answered = [0] * len(setting.servers)
        for number in range(FILES):
            setting.write(f"{prefix}{number}", "END\n")
        self.threads = [threading.Thread(target=self.edit, args=(number,)) for number in range(2 * len(setting.servers))]

    def start(self):
        for thread in self.threads:
            thread.start()
        return self

    def result(self, call, mark=None):
        """The result of a call, or None if it failed. Notes which edits surely were not made."""
        try:
            return call()
        except Failed as failure:
            text = str(failure)
            if DONE_BEFORE in text:
                return text
            known = text.startswith("Error: ") and not any(doubt in text for doubt in IN_DOUBT)
            with self.lock:
                self.failures.append(text)
                if mark:
                    (self.refused if known else self.doubtful).append(mark)
            return None

    def edit(self, number):
        clients, turn = self.setting.clients(), 0
        place, keyed = number % len(clients), self.keyed and number >= len(clients)
        while not self.ending.is_set():
            turn += 1
            name, mark = f"{self.prefix}{turn % FILES}", f"<{number}-{turn}>"
            edit = {"path": name, "edits": [{"oldText": "END\n", "newText": f"{mark}\nEND\n"}]}
            if keyed:
                edit["idempotency_key"] = f"{self.prefix} {mark}"
            made = False
            while not made and not self.ending.is_set():
                made = self.result(lambda: clients[place].call("edit_file", diff=False, **edit), mark)
                if not made:
                    time.sleep(0.05)
                    if not keyed:
                        break
            if not made:
                continue
            with self.lock:
                self.acknowledged.append(mark)
                self.answered[place] += 1
            other = (place + 1 + turn % (len(clients) - 1)) % len(clients)
            text = self.result(lambda: clients[other].text("read_text_file", path=name))
            if text is not None and mark not in text:
                with self.lock:
                    self.stale.append(f"server {other} did not show {mark}, which server {place} had acknowledged")

    def count(self):
        with self.lock:
            return list(self.answered)

    def until_all_work(self):
        """Waits until each server has acknowledged further edits."""
        before = self.count()
        until("each server acknowledges edits again",
              lambda: all(now > then + 1 for now, then in zip(self.count(), before)), RECOVERY)

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def missed(self, may_fail=False):
        """The bars that were missed. The files are read on both mounts."""
        missed = list(self.stale)
        for folder in self.setting.folders:
            text = "".join((folder / f"{self.prefix}{number}").read_text() for number in range(FILES))
            marks = re.findall(r"<\d+-\d+>", text)
            lost = set(self.acknowledged) - set(marks)
            missed += [f"lost: {mark}" for mark in sorted(lost)]
            not_made = set(self.refused) - set(self.doubtful) - set(self.acknowledged)
            missed += [f"made, and told as failed: {mark}" for mark in not_made if mark in marks]
            missed += [f"made twice: {mark}" for mark in sorted(set(marks)) if marks.count(mark) > 1]
        if not may_fail:
            missed += [f"failed: {failure}" for failure in self.failures]
        return missed

    def summary(self):
        return f"{len(self.acknowledged)} edits acknowledged, {len(self.failures)} calls failed, {len(self.doubtful)} in doubt"


def with_fault(prefix, fault, keyed=False):
    """Edits before, during and after a fault. Keys (`keyed`) hold as long as the servers run."""
    def scenario(setting):
        work = Work(setting, prefix, keyed).start()
        missed = []
        try:
            work.until_all_work()
            fault(setting)
            work.until_all_work()
        except (TimeoutError, RuntimeError) as error:
            missed.append(f"{prefix}: {error}")
        work.end()
        return work.summary(), missed + work.missed(may_fail=True)
    scenario.__name__ = prefix
    return scenario
