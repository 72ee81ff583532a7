"""What `run` does to servers on a shared file system, and what must hold."""

import os
import re
import signal
import subprocess
import threading
import time

from servers import Client, Failed, until

# --timeout of the servers, and what a call may take longer, in seconds.
TIMEOUT = 4
MARGIN = 1

# How long a server may need to work again after a fault has ended. A read of MooseFS 3, of any program, can wait for 30 s if
# another machine cuts the file at that moment: its client holds a page that it is told to drop.
RECOVERY = 45

FILES = 4


class Setting:
    """The file system, the same folder on each mount, and servers: one on the first mount, two on the second."""

    def __init__(self, system, folders, servers, new_server):
        self.system, self.folders, self.servers = system, folders, servers
        # Makes one more server, of a folder.
        self.new_server = new_server

    def run(self, scenario):
        """Gives the bars that were missed, as texts."""
        since = time.monotonic()
        try:
            summary, missed = scenario(self)
        except (Failed, AssertionError, TimeoutError, RuntimeError, OSError) as error:
            summary, missed = "broke off", [f"{scenario.__name__}: {error!r}"]
        print(f"{scenario.__name__}: {summary} ({time.monotonic() - since:.1f} s)", flush=True)
        for miss in missed[:8]:
            print(f"  MISSED {miss}", flush=True)
        return missed

    def clients(self):
        return [Client(server.port, timeout=TIMEOUT + 20) for server in self.servers]

    def write(self, name, text):
        (self.folders[0] / name).write_text(text)


# What an edit is answered that may have been made.
IN_DOUBT = ["may have been made", "not known whether", "change is in place"]


class Work:
    """Threads that edit files on all servers, and read each acknowledged edit back on another server."""

    def __init__(self, setting, prefix, reads_back=True):
        self.setting, self.prefix, self.reads_back = setting, prefix, reads_back
        self.ending, self.lock = threading.Event(), threading.Lock()
        self.acknowledged, self.refused, self.failures, self.stale, self.late = [], [], [], [], []
        self.answered = [0] * len(setting.servers)
        for number in range(FILES):
            setting.write(f"{prefix}{number}", "END\n")
        self.threads = [threading.Thread(target=self.edit, args=(number,)) for number in range(2 * len(setting.servers))]

    def start(self):
        for thread in self.threads:
            thread.start()
        return self

    def timed(self, where, call, mark=None):
        """The result of a call, or None if it failed. Notes calls that ended too late, and edits that surely were not made."""
        since = time.monotonic()
        try:
            return call()
        except Failed as failure:
            with self.lock:
                self.failures.append(str(failure))
                if str(failure).startswith("Error: ") and not any(doubt in str(failure) for doubt in IN_DOUBT):
                    self.refused.append(mark)
            return None
        finally:
            took = time.monotonic() - since
            if took > TIMEOUT + MARGIN:
                with self.lock:
                    self.late.append(f"{where}: a call took {took:.1f} s")

    def edit(self, number):
        clients, turn = self.setting.clients(), 0
        place = number % len(clients)
        while not self.ending.is_set():
            turn += 1
            name, mark = f"{self.prefix}{turn % FILES}", f"<{number}-{turn}>"
            edit = {"path": name, "edits": [{"oldText": "END\n", "newText": f"{mark}\nEND\n"}]}
            if self.timed(f"server {place}", lambda: clients[place].call("edit_file", diff=False, **edit), mark) is None:
                time.sleep(0.05)
                continue
            with self.lock:
                self.acknowledged.append(mark)
                self.answered[place] += 1
            if not self.reads_back:
                continue
            other = (place + 1 + turn % (len(clients) - 1)) % len(clients)
            text = self.timed(f"server {other}", lambda: clients[other].text("read_text_file", path=name))
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
        missed = self.stale + self.late
        for folder in self.setting.folders:
            text = "".join((folder / f"{self.prefix}{number}").read_text() for number in range(FILES))
            marks = re.findall(r"<\d+-\d+>", text)
            lost = set(self.acknowledged) - set(marks)
            missed += [f"lost: {mark}" for mark in sorted(lost)]
            missed += [f"made, and told as failed: {mark}" for mark in self.refused if mark in marks]
            missed += [f"made twice: {mark}" for mark in sorted(set(marks)) if marks.count(mark) > 1]
        if not may_fail:
            missed += [f"failed: {failure}" for failure in self.failures]
        return missed

    def summary(self):
        return f"{len(self.acknowledged)} edits acknowledged, {len(self.failures)} calls failed"


def parallel_edits(setting):
    work = Work(setting, "parallel").start()
    time.sleep(8)
    work.end()
    return work.summary(), work.missed()


def read_after_write(setting):
    clients, missed, rounds = setting.clients(), [], 60
    for turn in range(rounds):
        for writer, reader in [(0, 1), (1, 0), (0, 2), (2, 1)]:
            text = f"round {turn} of {writer}\n"
            clients[writer].call("write_file", path="written", content=text)
            read = clients[reader].text("read_text_file", path="written")
            if read != text:
                missed.append(f"server {reader} read {read!r} after {text!r} on server {writer}")
    return f"{4 * rounds} writes, each read on another server", missed


def create_races(setting):
    missed, rounds, won = [], 40, [0, 0, 0]
    for turn in range(rounds):
        barrier, results = threading.Barrier(3), [None] * 3
        (setting.folders[0] / "new" / str(turn)).mkdir(parents=True)

        def create(place):
            client = Client(setting.servers[place].port)
            barrier.wait()
            try:
                client.call("write_file", path=f"new/{turn}/file", content=f"by {place}\n", create_only=True)
                results[place] = True
            except Failed as failure:
                results[place] = str(failure)

        threads = [threading.Thread(target=create, args=(place,)) for place in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        winners = [place for place in range(3) if results[place] is True]
        files = [path.read_text() for path in (setting.folders[0] / "new" / str(turn)).iterdir()]
        if len(winners) != 1 or files != [f"by {winners[0]}\n"]:
            missed.append(f"{results}, and there is {files}")
        for place in winners:
            won[place] += 1
    return f"{rounds} files, each made by one of three servers ({won})", missed


def rename_while_read(setting):
    clients, missed, counts = setting.clients(), [], {"read": 0, "missing": 0}
    text = "".join(f"line {number}\n" for number in range(2_000))
    setting.write("here", text)
    ending = threading.Event()

    def read(place):
        client = Client(setting.servers[place].port)
        while not ending.is_set():
            for path in ["here", "there"]:
                try:
                    if client.text("read_text_file", path=path) != text:
                        missed.append(f"server {place} read another text at {path}")
                    counts["read"] += 1
                except Failed as failure:
                    counts["missing"] += 1
                    if "not found" not in str(failure).lower() and "ENOENT" not in str(failure):
                        missed.append(f"server {place}: {str(failure)[:200]}")

    readers = [threading.Thread(target=read, args=(place,)) for place in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(60):
        names = ["here", "there"] if turn % 2 == 0 else ["there", "here"]
        clients[turn % 3].call("move_file", source=names[0], destination=names[1])
    ending.set()
    for reader in readers:
        reader.join()
    return f"60 moves, {counts['read']} whole texts, {counts['missing']} times missing", missed


def truncation_under_readers(setting):
    """Another program, on the other mount, cuts a file and writes it again while it is read."""
    missed, counts, ending = [], {"read": 0, "failed": 0}, threading.Event()
    lines = [f"state {state}: {'x' * 80}" for state in "ab"]
    texts = [f"{line}\n" * 8_000 for line in lines]
    setting.write("cut", texts[0])

    def read(place):
        client = Client(setting.servers[place].port)
        while not ending.is_set():
            since = time.monotonic()
            try:
                text = client.text("read_text_file", path="cut", tail=3)
                counts["read"] += 1
                # It may be cut anywhere, also within a line.
                *whole, last = text.split("\n")
                if any(line not in lines for line in whole) or not any(line.startswith(last) for line in lines):
                    missed.append(f"server {place} read {text[-200:]!r}")
            except Failed:
                counts["failed"] += 1
            if time.monotonic() - since > TIMEOUT + MARGIN:
                missed.append(f"server {place}: a read took {time.monotonic() - since:.1f} s")

    readers = [threading.Thread(target=read, args=(place,)) for place in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(40):
        (setting.folders[1] / "cut").write_text(texts[turn % 2])
    ending.set()
    for reader in readers:
        reader.join()
    for place, client in enumerate(setting.clients()):
        if until("the file can be read again", lambda: first_line(client, "cut"), RECOVERY) != lines[1]:
            missed.append(f"server {place} shows an old state at the end")
    return f"40 times cut and written, {counts['read']} reads, {counts['failed']} failed", missed


def first_line(client, path):
    try:
        return client.text("read_text_file", path=path, head=1)
    except Failed:
        return None


def with_fault(prefix, fault):
    """Edits before, during and after a fault."""
    def scenario(setting):
        work = Work(setting, prefix).start()
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


def freeze(name, part=""):
    def fault(setting):
        with setting.system.frozen(name, part):
            time.sleep(TIMEOUT + 2)
    return fault


def kill_master(setting):
    setting.system.kill("mfsmaster")
    time.sleep(2)
    setting.system.start_master()


def kill_chunkserver(setting):
    setting.system.kill("mfschunkserver")
    time.sleep(2)
    setting.system.start_chunkserver()


def remount(setting):
    """The client of the second mount dies; some time later the operator removes its session, for its locks, and mounts again."""
    mount = setting.system.mounts[1]
    setting.system.kill("mfsmount", "/b")
    time.sleep(2)
    setting.system.unmount(mount)
    setting.system.remove_dead_sessions()
    setting.system.mount(mount)


def locks_of_a_dead_client(setting):
    """A lock of a client that died stays until its session is removed: edits say so within their deadline, then work."""
    mount, missed = setting.system.mounts[1], []
    setting.write("locked", "x\n")
    client = Client(setting.servers[0].port, timeout=TIMEOUT + 20)
    with subprocess.Popen(["flock", setting.folders[1] / "locked", "sleep", "600"], start_new_session=True) as holder:
        until("the other machine has the lock", lambda: not can_lock(setting.folders[0] / "locked"))
        setting.system.kill("mfsmount", "/b")
        os.killpg(holder.pid, signal.SIGKILL)
    setting.system.unmount(mount)
    setting.system.mount(mount)
    since = time.monotonic()
    try:
        client.call("write_file", path="locked", content="early\n")
        missed.append("an edit did not wait for the lock of a dead client")
    except Failed as failure:
        if "locked" not in str(failure):
            missed.append(f"while a dead client has the lock: {failure}")
    if time.monotonic() - since > TIMEOUT + MARGIN:
        missed.append(f"an edit of a locked file took {time.monotonic() - since:.1f} s")
    removed = setting.system.remove_dead_sessions()
    client.call("write_file", path="locked", content="late\n")
    if setting.clients()[1].text("read_text_file", path="locked") != "late\n":
        missed.append("the edit after the session was removed is not there")
    return f"{len(removed)} sessions removed", missed


def can_lock(path):
    return subprocess.run(["flock", "--nonblock", path, "true"], check=False).returncode == 0


def nothing_is_made_below_a_lost_mount(setting):
    """A server of the mount itself. While nothing is mounted, the path names an empty folder of the local disk."""
    mount, missed = setting.system.mounts[1], []
    server = setting.new_server(mount)
    try:
        client = Client(server.start().port, timeout=TIMEOUT + 20)
        client.call("write_file", path="made-before", content="x\n")
        setting.system.kill("mfsmount", "/b")
        setting.system.unmount(mount)
        for turn in range(3):
            try:
                client.call("write_file", path=f"made-{turn}", content="x\n")
                missed.append("a file was made while nothing was mounted")
            except Failed:
                pass
        if any(mount.iterdir()):
            missed.append(f"below the mount there is {list(mount.iterdir())}")
        # A folder with the name of the one that the second server serves.
        below = setting.folders[1]
        below.mkdir()
        try:
            Client(setting.servers[1].port, timeout=TIMEOUT + 20).call("write_file", path="made-below", content="x\n")
            missed.append("a file was made in a folder below the mount")
        except Failed:
            pass
        if any(below.iterdir()):
            missed.append(f"in the folder below the mount there is {list(below.iterdir())}")
        below.rmdir()
        setting.system.mount(mount)
        if client.text("read_text_file", path="made-before") != "x\n":
            missed.append("another file after the mount came back")
        client.call("write_file", path="made-after", content="x\n")
    finally:
        server.kill()
    return "a server of the mount itself, without its mount", missed


def remounted_within_a_call(setting):
    """A call that meets a dead mount succeeds if the mount is back within two seconds."""
    mount, results = setting.system.mounts[1], []
    setting.write("met", "met\n")
    clients = setting.clients()

    def read(place):
        try:
            results.append(clients[place].text("read_text_file", path="met"))
        except Failed as failure:
            results.append(str(failure))

    setting.system.kill("mfsmount", "/b")
    readers = [threading.Thread(target=read, args=(place,)) for place in range(3)]
    for reader in readers:
        reader.start()
    time.sleep(0.3)
    setting.system.unmount(mount)
    setting.system.mount(mount)
    for reader in readers:
        reader.join()
    return "3 reads", [f"a read gave {result!r}" for result in results if result != "met\n"]


def kill_servers(setting):
    for server in setting.servers:
        for _ in range(3):
            time.sleep(0.3)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            server.start()


def healthy_while_frozen(setting):
    """A mount that does not answer leaves the admin port and what needs no file alone."""
    missed = []
    with setting.system.frozen("mfsmount", "/b"):
        readers = [threading.Thread(target=ignored, args=(Client(server.port), "read_text_file", {"path": "written"}))
                   for server in setting.servers[1:] for _ in range(6)]
        for reader in readers:
            reader.start()
        time.sleep(0.5)
        for place, server in enumerate(setting.servers):
            since = time.monotonic()
            try:
                server.is_healthy()
                tools = Client(server.port, timeout=10).request("tools/list", {})
            except Failed as failure:
                tools = str(failure)
            took = time.monotonic() - since
            if "tools" not in tools or took > 2:
                missed.append(f"server {place}: {tools}, after {took:.1f} s")
        # Only the servers whose mount it is say so.
        health = lambda: [server.is_healthy() for server in setting.servers]
        try:
            until("only the servers of the mount are not healthy", lambda: health() == [True, False, False], 10)
        except TimeoutError as late:
            missed.append(f"{late}: {health()}")
    for reader in readers:
        reader.join()
    return "3 servers asked while a mount did not answer", missed


def ignored(client, tool, arguments):
    try:
        client.call(tool, **arguments)
    except Failed:
        pass


WITHOUT_FAULTS = [parallel_edits, read_after_write, create_races, rename_while_read, truncation_under_readers,
                  with_fault("servers_killed", kill_servers)]
ALL = [*WITHOUT_FAULTS,
       healthy_while_frozen,
       nothing_is_made_below_a_lost_mount,
       remounted_within_a_call,
       locks_of_a_dead_client,
       with_fault("chunkserver_frozen", freeze("mfschunkserver")),
       with_fault("master_frozen", freeze("mfsmaster")),
       with_fault("client_frozen", freeze("mfsmount", "/b")),
       with_fault("chunkserver_killed", kill_chunkserver),
       with_fault("master_killed", kill_master),
       with_fault("client_killed_and_remounted", remount)]
