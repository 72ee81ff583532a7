"""Jobs over many files: each as the set `agent`, a shell, our drop-in sets and the peers do it, and what must be so after it.

A job gets a player and gives the text in which it found what it looked for. `right` gets the files before the job and that text, and
gives whether the text has what it must have, and the files as they must be. A player whose tools cannot do a job in a sensible number
of calls has no way for it, and the job does not count for that player."""

import os
import re
from collections import Counter, namedtuple

from measure import harbour
from measure.harbour import (BIG_LOG, CALLED, CRLF, CYRILLIC, FORMER, HEADED, HUNKS, IMPORTING, LICENCE, MODULES, MOVED, MOVED_TO,
                             PRESENT, READ, SPELLED, STALE, WIDE)
from measure.project import DEFINITION

Job = namedtuple("Job", "title ways right")

PYTHON = ("rs", "go", "py", "ts", "md", "toml", "yaml")


def in_texts(files, change, paths=None):
    """The files with the texts of some changed."""
    found = dict(files)
    for path in paths or files:
        found[path] = change(found[path].decode()).encode()
    return found


def all_in(text, parts):
    return all(part in text for part in parts)


# Find a definition and its uses.

def uses(files):
    return [(path, number, line) for path, text in files.items() if path.endswith(PYTHON)
            for number, line in enumerate(text.decode().split("\n"), 1) if re.search(rf"\b{DEFINITION}\b", line)]


def uses_right(files, text):
    return all(path in text and re.search(rf"\b{number}[:\t]\s?{re.escape(line)}", text) for path, number, line in uses(files)), files


# Rename a function in 60 files, where a longer name has it as a part.

def renamed(files, text):
    return True, in_texts(files, lambda text: re.sub(rf"\b{FORMER}\b", PRESENT, text), MODULES)


def rename_by_agent(player):
    return player.call("replace", pattern=FORMER, replacement=PRESENT, glob="*.py", **{"-w": True})


def rename_by_shell(player):
    player.run(f"rg -cw {FORMER} -g '*.py'")
    return player.run(f"rg -lw {FORMER} -g '*.py' | xargs sed -i 's/\\b{FORMER}\\b/{PRESENT}/g'")


def rename_by_ours(player):
    text = player.call("grep", pattern=FORMER, glob="*.py", **{"-w": True})
    for path in re.findall(r"^(.*): \d+$", text, re.M):
        player.call("edit_file", path=path, edits=[{"oldText": f"{FORMER}(", "newText": f"{PRESENT}(", "replaceAll": True}], diff=False)


def rename_by_peer(player):
    for path, places in by_path(player.find(rf"\b{FORMER}\(", glob="*.py")).items():
        player.replace(path, [(f"{FORMER}(", f"{PRESENT}(")], places)


def by_path(places):
    found = {}
    for place in places:
        found.setdefault(place.path, []).append(place)
    return found


# Mend a word in five files, in each case that it is spelled in.

def mend(text):
    return text.replace("seperate", "separate").replace("Seperate", "Separate").replace("SEPERATE", "SEPARATE")


def mended(files, text):
    return True, in_texts(files, mend, SPELLED)


def mend_by_agent(player):
    return player.call("replace", pattern="seperate", replacement="separate", preserve_case=True, **{"-i": True})


def mend_by_shell(player):
    player.run("rg -in seperate")
    return player.run("rg -il seperate | xargs sed -i 's/seperate/separate/g;s/Seperate/Separate/g;s/SEPERATE/SEPARATE/g'")


def mend_by_ours(player):
    for word in ("seperate", "Seperate", "SEPERATE"):
        text = player.call("grep", pattern=word)
        for path in re.findall(r"^(.*): \d+$", text, re.M):
            player.call("edit_file", path=path, edits=[{"oldText": word, "newText": mend(word), "replaceAll": True}], diff=False)


def mend_by_peer(player):
    for word in ("seperate", "Seperate", "SEPERATE"):
        for path, places in by_path(player.find(word)).items():
            player.replace(path, [(word, mend(word))], [place for place in places if word in place.text])


# Give a function one more parameter, at all calls. The agent looks at them first.

def with_tide(files, text):
    change = lambda text: re.sub(r"\bdock\(([^()\n]*)\)", r"dock(\1, tide)", text)
    return True, in_texts(files, change, CALLED)


def tide_by_agent(player):
    player.call("grep", pattern=r"\bdock\(", glob="*.py")
    return player.call("replace", pattern=r"\bdock\(([^()\n]*)\)", replacement="dock($1, tide)", glob="*.py")


def tide_by_shell(player):
    player.run(r"rg -n '\bdock\(' -g '*.py'")
    return player.run(r"rg -l '\bdock\(' -g '*.py' | xargs sed -Ei 's/\bdock\(([^()]*)\)/dock(\1, tide)/'")


def tide_by_ours(player):
    for place in player.find(r"\bdock\(", glob="*.py"):
        player.change_line(place, place.text.replace("berth)", "berth, tide)"))


# Put a licence line into 30 files that begin with their documentation.

def headed(files, text):
    return True, in_texts(files, lambda text: f"{LICENCE}\n{text}", HEADED)


def head_by_agent(player):
    return player.call("replace", pattern=r'\A"""', replacement=f'{LICENCE}\n"""', multiline=True, path="fleet", glob="hold_[012]?.py")


def head_by_shell(player):
    player.run("head -n 3 fleet/hold_00.py")
    return player.run(f"sed -i '1i {LICENCE}' fleet/hold_[012]?.py")


def head_by_ours(player):
    for place in player.find(r'^""".*', path="fleet", glob="hold_[012]?.py"):
        if place.line == 1:
            player.put_before(place, LICENCE)


# Move a module and the imports of it.

def moved(files, text):
    found = in_texts(files, lambda text: text.replace("fleet.cranes.hoist", "fleet.cranes.winch"), IMPORTING)
    found[MOVED_TO] = found.pop(MOVED)
    return True, found


def move_by_agent(player):
    player.call("edit", path=MOVED, move_to=MOVED_TO)
    return player.call("replace", pattern="fleet.cranes.hoist", replacement="fleet.cranes.winch", fixed_strings=True)


def move_by_shell(player):
    player.run(f"mv {MOVED} {MOVED_TO} && rg -lF fleet.cranes.hoist")
    return player.run("rg -lF fleet.cranes.hoist | xargs sed -i 's/fleet\\.cranes\\.hoist/fleet.cranes.winch/'")


def move_by_ours(player):
    player.call("move_file", source=player.path(MOVED), destination=player.path(MOVED_TO))
    for place in player.find(r"fleet\.cranes\.hoist", glob="*.py"):
        player.change_line(place, place.text.replace("hoist", "winch"))


# Change two lines of a file with CR LF. Both stand twice; the section tells them apart.

def crlf(files, text):
    found = dict(files)
    found[CRLF] = found[CRLF].replace(b"[gate]\r\nopen=6\r\nclose=22\r\n", b"[gate]\r\nopen=7\r\nclose=23\r\n")
    return True, found


def crlf_by_agent(player):
    player.call("read", path=CRLF)
    return player.call("edit", path=CRLF, old="[gate]\nopen=6\nclose=22", new="[gate]\nopen=7\nclose=23")


def crlf_by_shell(player):
    player.run(f"cat -A {CRLF}")
    return player.run(f"sed -i '/^\\[gate\\]/,/^\\[crane\\]/{{s/^open=6\\r/open=7\\r/;s/^close=22\\r/close=23\\r/}}' {CRLF}")


def crlf_by_ours(player):
    player.call("read_text_file", path=player.path(CRLF))
    player.call("edit_file", path=player.path(CRLF), edits=[{"oldText": "[gate]\nopen=6\nclose=22", "newText": "[gate]\nopen=7\nclose=23"}])


# Change a sentence of a text in windows-1251.

def cyrillic(files, text):
    found = dict(files)
    found[CYRILLIC] = found[CYRILLIC].decode("cp1251").replace("бесплатная", "платная", 1).encode("cp1251")
    return "Приказ" in text, found


def cyrillic_by_agent(player):
    text = player.call("read", path=CYRILLIC, lines="1-5", encoding="windows-1251")
    player.call("edit", path=CYRILLIC, lines="4", expect="Стоянка ночью бесплатная.", new="Стоянка ночью платная.", encoding="windows-1251")
    return text


def cyrillic_by_shell(player):
    text = player.run(f"iconv -f cp1251 -t utf-8 {CYRILLIC} | head -5")
    player.run(f"python3 - <<'E'\np='{CYRILLIC}'\nt=open(p,encoding='cp1251',newline='').read()\n"
               "t=t.replace('бесплатная','платная',1)\nopen(p,'w',encoding='cp1251',newline='').write(t)\nE")
    return text


# Prove that a name is used nowhere.

def absent(files, text):
    return bool(re.search(r"(?i)no match|nothing matches|none", text)), files


# Errors by hour in a log of 30 MB.

def by_hour(files, text):
    hours = Counter(line[11:13] for line in files[BIG_LOG].decode().split("\n") if line[25:30] == "ERROR")
    return all(re.search(rf"\b{count}\s+{hour}\b", text) for hour, count in hours.items()), files


def hours_by_agent(player):
    return player.call("grep", pattern=r"^\S+T(\d\d):\S+ ERROR", path=BIG_LOG, tally=1)


def hours_by_shell(player):
    return player.run(rf"rg -o '^\S+T(\d\d):\S+ ERROR' -r '$1' {BIG_LOG} | sort | uniq -c | sort -rn")


# Change 12 places in six files, all or none. In one the text is not what was thought; the answer leads to the right one.

def changed(files, text):
    return True, harbour.patched(files)


def number_of(path):
    return int(path[-5:-3])


def edits(wrong):
    found = []
    for path in HUNKS:
        depth = f"    depth = {number_of(path)} + 2"
        stale = "\n    width = depth * 4" if wrong and path == HUNKS[4] else ""
        found += [{"path": path, "old": "_list(vessel)", "new": "_list(vessel.hold)"},
                  {"old": depth + stale, "new": depth[:-1] + "3" + stale}]
    return found


def places_by_agent(player):
    text = player.call("edit", edits=edits(True))
    handle = re.search(r'"?retry"?: ?"(r\d+)"', text)[1]
    right = edits(False)[9]
    return player.call("edit", retry=handle, edits=[{"n": 10, **right}])


def places_by_shell(player):
    files = {path: open(os.path.join(player.place, path), "rb").read() for path in HUNKS}
    player.run("cat >/tmp/hunks.diff <<'E'\n" + harbour.hunks(files, True) + "E\ngit apply /tmp/hunks.diff")
    player.run(f"grep -n -A2 'depth = ' {HUNKS[4]}")
    return player.run("sed -i 's/width = depth \\* 4/width = depth * 3/' /tmp/hunks.diff && git apply /tmp/hunks.diff")


def places_by_ours(player):
    for nth, path in enumerate(HUNKS):
        one, other = edits(nth == 4)[2 * nth:2 * nth + 2]
        both = [{"oldText": edit["old"], "newText": edit["new"]} for edit in (one, other)]
        player.call("edit_file", path=player.path(path), edits=both)
        if nth == 4:
            other = edits(False)[9]
            both[1] = {"oldText": other["old"], "newText": other["new"]}
            player.call("edit_file", path=player.path(path), edits=both)


# Tell what differs from the last commit, and take the last change back.

def told(files, text):
    return all_in(text, [os.path.basename(path) for path in HUNKS]), files


# Change a line that somebody else has just changed: what was read before no longer fits.

def met(files, text):
    found = dict(files)
    found[STALE] = found[STALE].replace(b"    depth = 59 + 2\n", b"    depth = 59 + 9\n    keel = 1\n")
    return True, found


def other_writes(player):
    path = os.path.join(player.place, STALE)
    with open(path, "rb") as file:
        text = file.read()
    with open(path, "wb") as file:
        file.write(text.replace(b"depth = 59 + 2", b"depth = 59 + 9"))


def meet_by_agent(player):
    player.call("read", path=STALE, lines="12-20")
    other_writes(player)
    player.call("edit", path=STALE, old="    depth = 59 + 2\n", new="    depth = 59 + 2\n    keel = 1\n")
    return player.call("edit", path=STALE, old="    depth = 59 + 9\n", new="    depth = 59 + 9\n    keel = 1\n")


def meet_by_shell(player):
    player.run(f"sed -n 12,20p {STALE}")
    other_writes(player)
    player.run(f"sed -i 's/^    depth = 59 + 2$/&\\n    keel = 1/' {STALE} && grep -n -B1 keel {STALE}")
    player.run(f"sed -n 12,20p {STALE}")
    return player.run(f"sed -i 's/^    depth = 59 + 9$/&\\n    keel = 1/' {STALE} && grep -n -B1 keel {STALE}")


def meet_by_ours(player):
    player.call("read_text_file", path=player.path(STALE))
    other_writes(player)
    for depth in (2, 9):
        old = f"    depth = 59 + {depth}\n"
        player.call("edit_file", path=player.path(STALE), edits=[{"oldText": old, "newText": old + "    keel = 1\n"}])


# Find and change a value in a line of 2 MB.

def widened(files, text):
    found = dict(files)
    found[WIDE] = found[WIDE].replace(b'"berth_31007":{"depth":16,', b'"berth_31007":{"depth":18,')
    return '"depth":16' in text.replace(" ", ""), found


def widen_by_agent(player):
    text = player.call("grep", pattern=r'"berth_31007":\{[^}]*', path=WIDE, **{"-o": True})
    player.call("edit", path=WIDE, old='"berth_31007":{"depth":16', new='"berth_31007":{"depth":18')
    return text


def widen_by_shell(player):
    text = player.run(f"rg -o '\"berth_31007\":\\{{[^}}]*' {WIDE}")
    player.run(f"sed -i 's/\"berth_31007\":{{\"depth\":16/\"berth_31007\":{{\"depth\":18/' {WIDE}")
    return text


def widen_by_ours(player):
    text = player.call("grep", pattern=r'"berth_31007":\{[^}]*', path=WIDE, output_mode="content", **{"-o": True})
    edit = {"oldText": '"berth_31007":{"depth":16', "newText": '"berth_31007":{"depth":18'}
    player.call("edit_file", path=WIDE, edits=[edit], diff=False)
    return text


# List the project; read three files.

def listed(files, text):
    return all(os.path.basename(path) in text for path in files), files


def read_right(files, text):
    return all_in(text, [files[path].decode().rstrip("\n") for path in READ]), files


def before_last(files, text):
    """The change before the last job is taken back: the caller knows the files that it had."""
    return True, None


NOWHERE = "legacy_weigh"
JOBS = [
    Job("find a definition and its uses", {
        "agent": lambda player: player.call("grep", pattern=DEFINITION, **{"-w": True}),
        "shell": lambda player: player.run(f"rg -nw {DEFINITION}"),
        "ours": lambda player: player.call("grep", pattern=DEFINITION, output_mode="content", **{"-w": True}),
    }, uses_right),
    Job("rename a function in 60 files", {"agent": rename_by_agent, "shell": rename_by_shell, "ours": rename_by_ours,
                                          "peer": rename_by_peer}, renamed),
    Job("mend a word in five files, in every case", {"agent": mend_by_agent, "shell": mend_by_shell, "ours": mend_by_ours,
                                                     "peer": mend_by_peer}, mended),
    Job("add a parameter to a function's calls", {"agent": tide_by_agent, "shell": tide_by_shell, "ours": tide_by_ours,
                                                  "peer": tide_by_ours}, with_tide),
    Job("move a module and mend its imports", {"agent": move_by_agent, "shell": move_by_shell, "ours": move_by_ours,
                                               "peer": move_by_ours}, moved),
    Job("change 12 places in six files, one of them stale", {"agent": places_by_agent, "shell": places_by_shell,
                                                            "ours": places_by_ours}, changed),
    Job("tell what differs from the last commit", {
        "agent": lambda player: player.call("changes", since="HEAD", diff=False),
        "shell": lambda player: player.run("git status --short"),
    }, told),
    Job("take the 12 places back", {
        "agent": lambda player: player.call("undo"),
        "shell": lambda player: player.run("git apply -R /tmp/hunks.diff"),
    }, before_last),
    Job("put a licence line into 30 files", {"agent": head_by_agent, "shell": head_by_shell, "ours": head_by_ours,
                                             "peer": head_by_ours}, headed),
    Job("edit a file with CR LF", {"agent": crlf_by_agent, "shell": crlf_by_shell, "ours": crlf_by_ours, "peer": crlf_by_ours}, crlf),
    Job("edit a text in windows-1251", {"agent": cyrillic_by_agent, "shell": cyrillic_by_shell}, cyrillic),
    Job("prove that a name is used nowhere", {
        "agent": lambda player: player.call("grep", pattern=NOWHERE),
        "shell": lambda player: player.run(f"rg -n {NOWHERE} || echo none"),
        "ours": lambda player: player.call("grep", pattern=NOWHERE),
    }, absent),
    Job("count the errors of each hour in a log of 30 MB", {"agent": hours_by_agent, "shell": hours_by_shell}, by_hour),
    Job("change a line that another program has just changed", {"agent": meet_by_agent, "shell": meet_by_shell, "ours": meet_by_ours,
                                                                "peer": meet_by_ours}, met),
    Job("find and change a value in a line of 2 MB", {"agent": widen_by_agent, "shell": widen_by_shell, "ours": widen_by_ours}, widened),
    Job("list the project", {
        "agent": lambda player: player.call("files"),
        "shell": lambda player: player.run("rg --files | sort"),
        "ours": lambda player: player.call("glob", pattern="**"),
        "peer": lambda player: "\n".join(player.tree()),
    }, listed),
    Job("read three files", {
        "agent": lambda player: player.call("read", paths=READ),
        "shell": lambda player: player.run(f"head -n 999 {' '.join(READ)}"),
        "ours": lambda player: player.call("read_multiple_files", paths=READ),
        "peer": lambda player: "\n".join(player.read_many(READ)),
    }, read_right),
]
