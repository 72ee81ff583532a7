"""The works: their requests, subjects, expected results, and the command for the floor."""

import json
import os
import shutil

from measure import job, subjects, texts
from measure.subjects import HANDSHAKE, INITIALIZE, Lacks, call

FLOOR = "floor"
LARGE_TREE = "directory_tree, 100,000 files in 1,000 folders"
UNFLUSHED = "never flushes: see the row without a flush"


class Works:
    """Runs works one by one; `rows` holds their results."""

    def __init__(self, load, ours, unsynced, peers, folder, log):
        self.load, self.ours, self.unsynced, self.peers = load, ours, unsynced, peers
        self.folder, self.log, self.rows, self.depths = folder, log, [], {}

    def place(self, name):
        return os.path.join(self.folder, name)

    def work(self, title, asks, ask, check, floor, mode="warm", folder=None, **limits):
        """`asks`: subjects; `ask(subject, folder)`: calls, sent in a circle; `check(subject, folder, answer)`;
        `floor(folder)`: the floor's command; `folder(subject)`: the subject's folder, which may be shared."""
        runs, lacks, places = [], {}, {}
        for subject in asks:
            places[subject.name] = where = folder(subject)
            try:
                calls = ask(subject, where)
            except Lacks as why:
                lacks[subject.name] = {"lacks": str(why)}
                continue
            runs.append(self.run(subject.name, subject.command(where), mode, calls, HANDSHAKE))
        first = runs[0]
        if floor:
            what, *arguments = floor(folder(None))
            command = self.load.floor(what, first["first"], *arguments)
            ready = "warm" if mode == "fresh" else mode
            runs.insert(1, {**first, "name": FLOOR, "command": command, "before": [], "mode": ready,
                            "first": job.ready(self.folder, FLOOR)})
        by_name = {subject.name: subject for subject in asks}

        def right(name):
            if name == FLOOR:
                return same(first["first"], job.ready(self.folder, FLOOR))
            return check(by_name[name], places[name], job.answer(job.ready(self.folder, name)))
        self.note(title, {**self.load.time(runs, right, **limits), **lacks})

    def run(self, name, command, mode, calls, before):
        lines = [request if isinstance(request, str) else call(nth, *request) for nth, request in enumerate(calls)]
        return {"name": name, "command": command, "mode": mode, "requests": lines,
                "before": before if mode != "start" else [], "first": job.ready(self.folder, name)}

    def note(self, title, results):
        self.rows.append({"work": title, "results": results})
        cells = [f"{name} {result['median_ns'] / 1e6:.3f} ms ({result['samples']})" if "median_ns" in result
                 else f"{name}: {result}" for name, result in results.items()]
        self.log(f"{title}: " + ", ".join(cells))

    def all(self):
        return [self.ours, *(peer for peer in self.peers if not peer.only_unflushed)]

    def start(self):
        folder = self.place("start")
        texts.fill(folder, 10, texts.KB)
        self.work("start to first answer", self.all(), lambda subject, where: [INITIALIZE],
                  lambda subject, where, answer: "serverInfo" in answer["result"], lambda where: ["answer"],
                  mode="start", folder=lambda subject: folder)

    def read(self, size):
        folder = self.place("read")
        name, data = texts.name(size), texts.text(texts.SIZES[size])
        texts.write(folder, name, texts.SIZES[size])
        self.work(f"read {size} whole", self.all(), lambda subject, where: [subject.read(where, name)],
                  lambda subject, where, answer: subject.matches(answer, data),
                  lambda where: ["answer"], folder=lambda subject: folder)

    def lines(self, size, again, count=100):
        folder, name = self.place("read"), texts.name(size)
        path = texts.write(folder, name, texts.SIZES[size])
        data = texts.text(texts.SIZES[size]).split("\n")
        first = len(data) // 2
        expected = "\n".join(data[first:first + count]) + "\n"
        start = len(("\n".join(data[:first]) + "\n").encode())

        def right(subject, where, answer):
            # For some peers, the last break belongs to the range.
            return subject.content(answer).rstrip("\n") == expected.rstrip("\n")
        self.work(f"{count} lines from the middle of {size}, {'again' if again else 'first'}", self.all(),
                  lambda subject, where: [subject.lines(where, name, first, count)], right,
                  lambda where: ["range", path, start, len(expected.encode())],
                  mode="warm" if again else "fresh", folder=lambda subject: folder)

    def depth(self, sizes=("1 MB", "100 MB"), count=100):
        """Reads lines of a small and of a large file in turn from one process: median nanoseconds by size. The state of
        the machine changes over minutes, so separate measurements would not be comparable."""
        folder, calls = self.place("read"), []
        for size in sizes:
            name = texts.name(size)
            texts.write(folder, name, texts.SIZES[size])
            first = texts.text(texts.SIZES[size]).count("\n") // 2
            calls.append(self.ours.lines(folder, name, first, count))
        run = self.run(self.ours.name, self.ours.command(folder), "warm", calls, HANDSHAKE)
        # `lines` checks the text itself.
        [found] = self.load.time([run], lambda name: bool(job.answer(run["first"]))).values()
        self.depths = dict(zip(sizes, found["each_ns"]))
        self.log(f"{count} lines by turns: {self.depths}")

    def list(self, size, again, count=1000):
        folder = self.place(f"list-{size}".replace(" ", ""))
        if not os.path.exists(folder):
            texts.fill(folder, count, texts.SIZES[size])
        names = os.listdir(folder)

        def right(subject, where, answer):
            text = subjects.words(answer)
            return all(name in text for name in names)
        self.work(f"list {count:,} files of {size}, {'again' if again else 'first'}", self.all(),
                  lambda subject, where: [subject.list(where)], right, lambda where: ["list", where],
                  mode="warm" if again else "fresh", folder=lambda subject: folder)

    def edit(self, size, flushed):
        line, _ = texts.middle(texts.SIZES[size])
        self.edits(f"edit one line of {size}", size, [line], flushed,
                   lambda subject, where, state: subject.edit(where, "edited.txt", texts.SIZES[size], line, state))

    def exact(self, size, count, flushed):
        """Edits headings that are spread over the whole file."""
        _, total = texts.middle(texts.SIZES[size])
        headings = total // texts.HEADING - 1
        lines = [(nth * headings // count + headings // count // 2) * texts.HEADING for nth in range(count)]
        noun = "edit" if count == 1 else "edits"
        self.edits(f"{count:,} exact-text {noun} in one call on {size}", size, lines, flushed,
                   lambda subject, where, state: subject.exact(where, "edited.txt", texts.SIZES[size], lines, state))

    def edits(self, title, size, lines, flushed, one):
        """Each subject edits its own file, back and forth."""
        after = texts.edited(texts.SIZES[size], lines)
        self.changes(title, size, flushed, one, lambda where: content(where, "edited.txt") == after)

    def changes(self, title, size, flushed, one, right, ours=None, peers=None, floor=True):
        """Each subject changes its own file `edited.txt` of a size; `one(subject, folder, state)`: the calls of the two
        states in turn; `right(folder)`: after the first. `ours`: file-editor with and without a flush."""
        durable, unsynced = ours or (self.ours, self.unsynced)
        peers = self.peers if peers is None else peers
        flushing = [peer for peer in peers if peer.durable]
        others = [peer for peer in peers if not peer.durable]
        asked = [durable, *flushing] if flushed else [unsynced, *others]

        def folder(subject):
            where = self.place(f"edit-{subject.name if subject else FLOOR}".replace(" ", ""))
            texts.write(where, "edited.txt", texts.SIZES[size])
            return where
        self.work(f"{title}, {'durable' if flushed else 'not flushed'}", asked,
                  lambda subject, where: [one(subject, where, state) for state in (0, 1)],
                  lambda subject, where, answer: right(where),
                  floor and (lambda where: ["edit", os.path.join(where, "edited.txt"), "full" if flushed else "none"]),
                  folder=folder)
        if flushed:
            self.rows[-1]["results"].update({peer.name: {"lacks": UNFLUSHED} for peer in others})

    # The tools of the reference server, for the servers that have them.

    def files(self):
        """file-editor and the peers with these tools; the others lack them."""
        return [subject.files() for subject in self.all()]

    def files_work(self, title, folder, ask, check, asks=None, floor=None):
        """Reads below one folder, which all subjects share."""
        def asked(subject, where):
            if not isinstance(subject, subjects.Pairs):
                raise Lacks("not offered: no tools for trees of files")
            return [ask(subject, where)]
        self.work(title, asks or self.files(), asked, lambda subject, where, answer: check(subjects.words(answer)), floor,
                  folder=lambda subject: folder)

    def names(self, count):
        folder = self.place(f"list-names-{count}")
        texts.fill(folder, count, 64)
        lines = sorted(f"[FILE] {name}" for name in os.listdir(folder))
        self.files_work(f"list_directory, {count:,} entries", folder, lambda subject, where: subject.names(where),
                        lambda text: sorted(text.split("\n")) == lines)

    def tree(self, folders=100, files=100):
        """A whole tree as JSON, and a search for one name in each folder."""
        folder = self.place("list-tree")
        texts.fill_tree(folder, folders, files)
        count = f"{folders * files:,} files in {folders} folders"
        found = sorted(os.path.join(folder, f"folder-{nth:04d}", f"file-{files // 2:06d}.txt") for nth in range(folders))
        self.files_work(f"directory_tree, {count}", folder, lambda subject, where: subject.tree(where),
                        lambda text: text.count('"file"') == folders * files and len(json.loads(text)) == folders)
        self.files_work(f"search_files, {count}", folder, lambda subject, where: subject.search(where, f"**/*{files // 2}.txt"),
                        lambda text: sorted(text.split("\n")) == found)

    def large_tree(self, folders=1000, files=100):
        """A whole tree as JSON, beside a bare walk that formats the same bytes."""
        folder = self.place("list-large-tree")
        texts.fill_tree(folder, folders, files)
        self.files_work(LARGE_TREE, folder, lambda subject, where: subject.tree(where), lambda text: text.count('"file"') == folders * files and len(json.loads(text)) == folders,
                        [self.ours.files()], lambda where: ["tree", where])

    def read_many(self, count=100, size="10 KB"):
        folder = self.place("list-many")
        texts.fill(folder, count, texts.SIZES[size])
        names = sorted(os.listdir(folder))
        expected = "\n---\n".join(f"{os.path.join(folder, name)}:\n{content(folder, name).decode()}\n" for name in names)
        self.files_work(f"read_multiple_files, {count} of {size}", folder, lambda subject, where: subject.read_many(where, names),
                        lambda text: text == expected)

    def file_changes(self, flushed):
        """write_file, edit_file and move_file, each back and forth on each subject's own file."""
        ours, peers = (self.ours.files(), self.unsynced.files()), [peer.files() for peer in self.peers]
        peers = [peer for peer in peers if isinstance(peer, subjects.Pairs)]
        size, whole = "10 KB", texts.text(texts.SIZES["10 KB"])
        states = [whole[::-1], whole]
        self.changes(f"write_file, {size}", size, flushed, lambda subject, where, state: subject.write(where, "edited.txt", states[state]),
                     lambda where: content(where, "edited.txt") == states[0].encode(), ours, peers)
        for size in ("10 KB", "1 MB"):
            line, _ = texts.middle(texts.SIZES[size])
            after = texts.edited(texts.SIZES[size], [line])
            self.changes(f"edit_file, one line of {size}", size, flushed,
                         lambda subject, where, state: subject.exact(where, "edited.txt", texts.SIZES[size], [line], state),
                         lambda where: content(where, "edited.txt") == after, ours, peers)
        pair = ["edited.txt", "moved.txt"]

        def right(where):
            return content(where, "moved.txt") == whole.encode() and not os.path.exists(os.path.join(where, "edited.txt"))
        self.clear()
        self.changes("move_file", "10 KB", flushed, lambda subject, where, state: subject.move(where, pair[state], pair[1 - state]),
                     right, ours, peers, floor=False)
        self.clear()

    def pipelined(self, window=128):
        folder = self.place("read")
        texts.write(folder, "1KB.txt", texts.KB)
        self.work(f"read 1 KB, {window} in flight, per answer", self.all(),
                  lambda subject, where: [subject.read(where, "1KB.txt")] * 1000,
                  lambda subject, where, answer: subject.matches(answer, texts.text(texts.KB)),
                  lambda where: ["answer"], mode={"window": window}, folder=lambda subject: folder, turn_ms=250)

    def http(self, connections=64):
        folder, ours = self.place("read"), self.ours
        texts.write(folder, "1KB.txt", texts.KB)
        asked = [subject for subject in self.all() if isinstance(subject, subjects.Ours)]
        runs = {subject.name: self.run(subject.name, subject.http(folder), {"window": connections},
                                       [subject.read(folder, "1KB.txt")], []) for subject in asked}
        right = lambda name: ours.matches(job.answer(runs[name]["first"]), texts.text(texts.KB))
        results = self.load.time([{**run, "http": True} for run in runs.values()], right, turn_ms=250)
        results |= {peer.name: {"lacks": "no HTTP"} for peer in self.all() if peer.name not in runs}
        self.note(f"read 1 KB over HTTP, {connections} connections, per answer", results)

    def clear(self):
        for name in os.listdir(self.folder):
            if name.startswith(("list-", "edit-")):
                shutil.rmtree(self.place(name))


def content(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def same(one, other):
    with open(one, "rb") as first, open(other, "rb") as second:
        return first.read() == second.read()
