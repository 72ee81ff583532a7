"""Twelve jobs of an agent's day, written once for all players, and what must be so after each.

A job gets a player and gives what it found. It knows what it looks for, not where that is. `right` knows: from the texts
of the project before the job come the places that it must find, and the files as they must be after it."""

import re

from measure.project import (DEFINITION, LICENCE, LOG, MENDED, MOMENT, NEW_NAME, OLD_NAME, RELATED, RULE, RULES, SECTION,
                             SETTING, SETTINGS, TYPO, WORDS)
from measure.players import by_file

BEFORE, AFTER = 15, 25  # Lines of the log.
SOURCES = "rs", "go", "py", "ts", "md", "toml", "yaml"


def lines_with(files, pattern, endings=SOURCES):
    return {(path, number): line for path, text in files.items() if path.endswith(tuple(endings))
            for number, line in enumerate(text.split("\n"), 1) if re.search(pattern, line)}


def definition(player):
    places = player.find(rf"\b{DEFINITION}\b")
    [defined] = [place for place in places if f"fn {DEFINITION}(" in place.text]
    return (defined.path, defined.line), {(place.path, place.line) for place in places}


def definition_right(files, found):
    places = lines_with(files, rf"\b{DEFINITION}\b")
    defined = next(place for place, line in places.items() if f"fn {DEFINITION}(" in line)
    return found == (defined, set(places)), files


def typo(player):
    player.mend(TYPO, MENDED)


def typo_right(files, found):
    return True, {path: text if path == LOG else text.replace(TYPO, MENDED) for path, text in files.items()}


def rename(player):
    """Where a longer name contains the old one, the character behind it tells them apart."""
    places = player.find(OLD_NAME, glob="*.py")
    for path, those in by_file(places).items():
        behind = {letter for place in those for letter in re.findall(OLD_NAME + r"(.?)", place.text)}
        is_alone = not any(re.match(r"\w", letter) for letter in behind)
        pieces = [""] if is_alone else sorted(letter for letter in behind if not re.match(r"\w", letter))
        player.replace(path, [(OLD_NAME + piece, NEW_NAME + piece) for piece in pieces], those)


def rename_right(files, found):
    return True, {path: re.sub(rf"\b{OLD_NAME}\b", NEW_NAME, text) if path.endswith(".py") else text for path, text in files.items()}


def moment(player):
    [place] = player.find(re.escape(MOMENT), path=LOG, before=BEFORE, after=AFTER)
    return [text for number, text in sorted(place.around.items()) if place.line - BEFORE <= number <= place.line + AFTER]


def moment_right(files, found):
    lines = files[LOG].split("\n")
    at = next(nth for nth, line in enumerate(lines) if MOMENT in line)
    return found == lines[at - BEFORE:at + AFTER + 1], files


def two_words(player):
    return player.files_with(*WORDS)


def two_words_right(files, found):
    return found == {path for path, text in files.items() if all(word in text for word in WORDS)}, files


def longest(player):
    """A function begins at the margin, and so does the brace that ends it. The name is looked up if it is not shown."""
    places = player.find(r"^(func|\})", path="gateway", glob="*.go", only=True)
    count, path, line = longest_of((place.path, place.line, place.text) for place in places)
    text = next(place.text for place in places if (place.path, place.line) == (path, line))
    return count, path, name_of(text if "(" in text else player.read(path, line, line))


def name_of(line):
    return re.match(r"func (?:\(.*?\) )?(\w+)", line)[1]


def longest_of(lines):
    found, start = [], None
    for path, number, text in lines:
        if text.startswith("func"):
            start = path, number
        elif start and start[0] == path:
            found.append((number - start[1] + 1, *start))
            start = None
    return max(found)


def longest_right(files, found):
    lines = lines_with(files, r"^(func|\})", ["go"])
    count, path, line = longest_of((*place, text) for place, text in lines.items())
    return found == (count, path, name_of(lines[path, line])), files


def structure(player):
    return set(player.tree())


def structure_right(files, found):
    return found == set(files), files


def setting(player):
    """Changes it in one of two sections, and looks again."""
    def look():
        places = player.find(rf"^\[|^{SETTING} ", path=SETTINGS)
        section = next(nth for nth, place in enumerate(places) if place.text == f"[{SECTION}]")
        return places[section + 1], sum(place.text == places[section + 1].text for place in places) == 1
    place, is_unique = look()
    player.change_line(place, f"{SETTING} = 5", is_unique)
    return look()[0].text


def setting_right(files, found):
    head, section, rest = files[SETTINGS].partition(f"[{SECTION}]\n")
    return found == f"{SETTING} = 5", {**files, SETTINGS: head + section + rest.replace(f"{SETTING} = 3", f"{SETTING} = 5", 1)}


def todos(player):
    """Two lines before and behind each; their indentation does not matter."""
    places = player.find("TODO", before=2, after=2)
    near = lambda place: range(max(1, place.line - 2), place.line + 3)
    return {(place.path, place.line): [place.around[number].strip() for number in near(place)] for place in places}


def todos_right(files, found):
    def near(path, number):
        return [line.strip() for line in files[path].split("\n")[max(0, number - 3):number + 2]]
    return found == {place: near(*place) for place in lines_with(files, "TODO")}, files


def licence(player):
    """Each module begins with its documentation."""
    places = player.find(r'^""".*', glob="*.py")
    for place in places:
        if place.line == 1:
            player.put_before(place, LICENCE)


def licence_right(files, found):
    return True, {path: f"{LICENCE}\n{text}" if path.endswith(".py") else text for path, text in files.items()}


def related(player):
    return [text.rstrip("\n") for text in player.read_many(RELATED)]


def related_right(files, found):
    return found == [files[path].rstrip("\n") for path in RELATED], files


def rule(player):
    [place] = player.find(rf"{RULE}:", glob=RULES)
    player.change_line(place, re.sub(r": .*", ": 15.0", place.text))


def rule_right(files, found):
    return True, {path: re.sub(rf"{RULE}: .*", f"{RULE}: 15.0", text) if path.endswith(RULES) else text for path, text in files.items()}


JOBS = [
    ("find a definition and its uses", definition, definition_right),
    ("mend a typo in all files", typo, typo_right),
    ("rename a function in five files", rename, rename_right),
    ("read the log around a time", moment, moment_right),
    ("find the files with two words", two_words, two_words_right),
    ("find the longest function of a folder", longest, longest_right),
    ("list the project", structure, structure_right),
    ("change a setting and look again", setting, setting_right),
    ("find all TODOs with the lines around", todos, todos_right),
    ("put a licence line into all Python files", licence, licence_right),
    ("read three related files", related, related_right),
    ("find a file and change a line of it", rule, rule_right),
]
