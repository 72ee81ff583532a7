"""The project of `perf/jobs`: that of `perf/day` in bytes, with what jobs over many files need. The same at each run."""

import json

from measure import project

FORMER, PRESENT = "weigh_cargo", "weigh_freight"  # A Python function in 60 files, and `weigh_cargo_list` beside it.
MODULES = [f"fleet/hold_{number:02}.py" for number in range(60)]
HEADED = MODULES[:30]  # They begin with documentation.
CALLED = MODULES[40:52]  # They call `dock`.
MOVED, MOVED_TO = "fleet/cranes/hoist.py", "fleet/cranes/winch.py"
IMPORTING = MODULES[20:30]
SPELLED = ["docs/faq.md", "docs/office.md", "fleet/hold_03.py", "deploy/notes.md", "deploy/README.md"]
CRLF, CYRILLIC = "web/legacy.ini", "docs/приказ.txt"
HUNKS = MODULES[52:58]
BIG_LOG, WIDE = "logs/year.log", "web/berths.json"
READ = ["fleet/hold_01.py", "fleet/hold_02.py", "docs/storage.md"]
STALE = "fleet/hold_59.py"
LICENCE = "# SPDX-License-Identifier: MIT"


def module(number):
    words = project.Words(f"hold {number}")
    text = words.filled('"""{sentence}"""\n\nimport json\n')
    if MODULES[number] in IMPORTING:
        text += "from fleet.cranes.hoist import lift\n"
    text += f"\n\ndef hold_{number}(vessel, berth):\n    total = {FORMER}(vessel)\n    each = {FORMER}_list(vessel)\n"
    if MODULES[number] in CALLED:
        text += "    dock(vessel, berth)\n"
    text += words.filled("    # {sentence}\n") + f"    return total + sum(each) + {number}\n"
    text += f"\n\ndef after_{number}(vessel):\n    depth = {number} + 2\n    width = depth * 3\n    return {FORMER}(vessel) + width\n"
    return text


def big_log(lines=300_000):
    """About 30 MB; each hour has its own number of errors."""
    words = project.Words("year")
    names = [words.name() for _ in range(50)]
    found = []
    for number in range(lines):
        hour, level = number * 24 // lines, "ERROR" if number % (40 + number * 24 // lines) == 0 else "INFO"
        found.append(f"2026-11-20T{hour:02}:{number % 60:02}:{number % 59:02}.{number % 1000:03}Z {level:5} harbour: "
                     f"{names[number % 50]} berth={number % 97} vessel={number % 1009} took {number % 431} ms queue={number % 13}\n")
    return "".join(found)


def wide(count=40_000):
    """A line of 2 MB."""
    berths = {f"berth_{number}": {"depth": number % 17, "length": number % 301, "free": number % 3 == 0} for number in range(count)}
    return json.dumps(berths, separators=(",", ":"))


def make():
    """The files: path and bytes."""
    files = {path: text.encode() for path, text in project.make().items()}
    for number, path in enumerate(MODULES):
        files[path] = module(number).encode()
    files[MOVED] = b'"""Lifts."""\n\n\ndef lift(load):\n    return load\n'
    for number, path in enumerate(SPELLED):
        word = ("seperate", "Seperate", "SEPERATE")[number % 3]
        files[path] = files.get(path, b"") + f"# {word} berths are kept, and a {word} list.\n".encode()
    files["deploy/dock.md"] = b"Call dock(vessel, berth) last.\n"
    head = "[window]\ntitle=Harbour\n\n[gate]\nopen=6\nclose=22\nlamp=on\n\n[crane]\nopen=7\n"
    files[CRLF] = head.replace("\n", "\r\n").encode()
    russian = "Приказ о стоянке\n\nКапитан порта решает, где стоит судно.\nСтоянка ночью бесплатная.\nДнём она стоит сто рублей.\n" * 4
    files[CYRILLIC] = russian.encode("cp1251")
    files[BIG_LOG] = big_log().encode()
    files[WIDE] = wide().encode()
    return files


def hunks(files, wrong):
    """A patch of 12 hunks in six files; of one of them a line is not what the file has, if `wrong`."""
    patch = ""
    for path in HUNKS:
        number = int(path[-5:-3])
        lines = files[path].decode().split("\n")
        patch += f"--- a/{path}\n+++ b/{path}\n"
        for old, new in ((f"    each = {PRESENT}_list(vessel)", None), (f"    depth = {number} + 2", f"    depth = {number} + 3")):
            old = next(line for line in lines if line.startswith("    each = ")) if new is None else old
            new = new or old.replace("vessel", "vessel.hold")
            at = lines.index(old)
            shown = "    width = depth * 4" if wrong and path == HUNKS[4] and "depth" in old else lines[at + 1]
            patch += f"@@ -{at},3 +{at},3 @@\n {lines[at - 1]}\n-{old}\n+{new}\n {shown}\n"
    return patch


def patched(files):
    found = dict(files)
    for path in HUNKS:
        number = int(path[-5:-3])
        lines = found[path].decode().split("\n")
        lines = [line.replace("vessel", "vessel.hold") if line.startswith("    each = ") else line for line in lines]
        found[path] = "\n".join(lines).replace(f"    depth = {number} + 2", f"    depth = {number} + 3").encode()
    return found
