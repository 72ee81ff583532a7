"""What `run` does to servers on any shared file system, and what must hold."""

import contextlib
import signal
import threading
import time

from servers import Failed, until
from setting import RECOVERY, Work, with_fault


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
            client = setting.client(place)
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


@contextlib.contextmanager
def reading(read, ending):
    """Readers of all three servers, which go on until `ending` is set: at the end of the block, also if it fails."""
    readers = [threading.Thread(target=read, args=(place,)) for place in range(3)]
    for reader in readers:
        reader.start()
    try:
        yield
    finally:
        ending.set()
        for reader in readers:
            reader.join()


def rename_while_read(setting):
    clients, missed, counts = setting.clients(), [], {"read": 0, "missing": 0}
    text = "".join(f"line {number}\n" for number in range(2_000))
    setting.write("here", text)
    ending = threading.Event()

    def read(place):
        client = setting.client(place)
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

    with reading(read, ending):
        for turn in range(60):
            names = ["here", "there"] if turn % 2 == 0 else ["there", "here"]
            clients[turn % 3].call("move_file", source=names[0], destination=names[1])
    if counts["read"] == 0:
        missed.append("the file was never read")
    return f"60 moves, {counts['read']} whole texts, {counts['missing']} times missing", missed


def replaced_while_read(setting):
    """A server whose read began before another one replaced the file shows the text before or after that, whole, with its version."""
    clients, missed, ending, told = setting.clients(), [], threading.Event(), []
    texts = [f"state {state}: {'x' * 80}\n" * 30_000 for state in "ab"]
    for text in texts:
        told.append(clients[0].call("write_file", path="replaced", content=text)["_meta"]["file-editor/version"])
    allowed = [(version, text[:text.index("\n")]) for version, text in zip(told, texts)]
    counts = {"read": 0, "searched": 0}

    def read(place):
        client = setting.client(place)
        while not ending.is_set():
            try:
                result = client.call("read_text_file", path="replaced", head=1)
                seen = (result["_meta"]["file-editor/version"], result["content"][0]["text"].strip())
                counts["read"] += 1
                if seen not in allowed:
                    missed.append(f"server {place} read {seen}")
                # Each text has one state only.
                found = [client.text("grep", pattern=f"state {state}", path="replaced", output_mode="count") for state in "ab"]
                counts["searched"] += 2
                if any("30000" not in text and "No matches" not in text for text in found):
                    missed.append(f"server {place} found {found}")
            except Failed as failure:
                missed.append(f"server {place}: {str(failure)[:200]}")

    with reading(read, ending):
        for turn in range(60):
            clients[turn % 3].call("write_file", path="replaced", content=texts[turn % 2])
    return f"60 times replaced, {counts['read']} whole reads, {counts['searched']} searches", missed


def truncation_under_readers(setting):
    """Another program, on the other mount, cuts a file and writes it again while it is read."""
    missed, counts, ending = [], {"read": 0, "failed": 0}, threading.Event()
    lines = [f"state {state}: {'x' * 80}" for state in "ab"]
    texts = [f"{line}\n" * 8_000 for line in lines]
    setting.write("cut", texts[0])

    def read(place):
        client = setting.client(place)
        while not ending.is_set():
            try:
                text = client.text("read_text_file", path="cut", tail=3)
                counts["read"] += 1
                # It may be cut anywhere, also within a line.
                *whole, last = text.split("\n")
                if any(line not in lines for line in whole) or not any(line.startswith(last) for line in lines):
                    missed.append(f"server {place} read {text[-200:]!r}")
            except Failed:
                counts["failed"] += 1

    with reading(read, ending):
        for turn in range(40):
            (setting.folders[1] / "cut").write_text(texts[turn % 2])
    for place, client in enumerate(setting.clients()):
        if until("the file can be read again", lambda: first_line(client, "cut"), RECOVERY) != lines[1]:
            missed.append(f"server {place} shows an old state at the end")
    if counts["read"] == 0:
        missed.append("the file was never read")
    return f"40 times cut and written, {counts['read']} reads, {counts['failed']} failed", missed


def first_line(client, path):
    try:
        return client.text("read_text_file", path=path, head=1)
    except Failed:
        return None


def kill_servers(setting):
    for server in setting.servers:
        for _ in range(3):
            time.sleep(0.3)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            server.start()


ALL = [parallel_edits, read_after_write, create_races, rename_while_read, replaced_while_read,
       truncation_under_readers, with_fault("servers_killed", kill_servers)]
