"""Where the edits of an edit_file call fit. A model for two rules, not for the outcome of an edit."""

# What JavaScript's `trim` removes. Others remove U+0085 as well, and leave U+FEFF.
BLANK = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


def plain(text):
    return text.replace("\r\n", "\n")


def exact(content, old):
    """The number of places, overlapping ones included. An empty text stands everywhere."""
    if not old:
        return len(content) + 1
    count, position = 0, content.find(old)
    while position >= 0:
        count, position = count + 1, content.find(old, position + 1)
    return count


def loose(content, old):
    """The lines at which the old lines stand if white space around each line is ignored."""
    lines, wanted = content.split("\n"), [line.strip(BLANK) for line in old.split("\n")]
    bare = [line.strip(BLANK) for line in lines]
    return [nth for nth in range(len(bare) - len(wanted) + 1) if bare[nth:nth + len(wanted)] == wanted]


def steps(content, edits):
    """For each edit, the number of its places. Ends at one that fits nowhere."""
    content = plain(content)
    for edit in edits:
        old, new = plain(edit["oldText"]), plain(edit["newText"])
        places = exact(content, old)
        if places:
            yield content, old, new, places
            content = content.replace(old, new, 1)
            continue
        found = loose(content, old)
        if not found:
            return
        yield content, old, new, len(found)
        lines = content.split("\n")
        lines[found[0]:found[0] + old.count("\n") + 1] = indented(new, old, blanks(lines[found[0]]))
        content = "\n".join(lines)


def blanks(line):
    return line[:len(line) - len(line.lstrip(BLANK))]


def indented(new, old, indent):
    """The new lines as the second look puts them in: the next edit meets their indentation."""
    old_lines = old.split("\n")
    for nth, line in enumerate(new.split("\n")):
        before = blanks(old_lines[nth]) if nth < len(old_lines) else ""
        if nth == 0:
            yield indent + line.lstrip(BLANK)
        elif before and blanks(line):
            yield indent + " " * max(0, len(blanks(line)) - len(before)) + line.lstrip(BLANK)
        else:
            yield line


def well_formed(content, edits):
    return content is not None and isinstance(edits, list) and all(
        isinstance(edit, dict) and isinstance(edit.get("oldText"), str) and isinstance(edit.get("newText"), str) for edit in edits)


def ambiguous(content, edits):
    """Whether an edit fits in several places. A file that is empty has one place for an empty text."""
    return well_formed(content, edits) and any(places > 1 for _, _, _, places in steps(content, edits))


def empty(content, edits):
    return well_formed(content, edits) and any(not old for _, old, _, _ in steps(content, edits))


def mapped(content, edits):
    """Whether the indentation of an edit is mapped: it fits only but for blanks, and is not of one line each with no other blanks."""
    def flat(text, old, new):
        line = text.split("\n")[loose(text, old)[0]]
        return ("\n" not in old + new and old.strip(BLANK) and new.strip(BLANK) and blanks(old) == blanks(new)
                and all(part == part.rstrip(BLANK) for part in (line, old, new)))
    return well_formed(content, edits) and any(
        not exact(text, old) and not flat(text, old, new) for text, old, new, _ in steps(content, edits))


def edged(content, edits):
    """Whether the first edit that fits nowhere begins or ends with a break, blanks aside, which is no line of its own here."""
    if not well_formed(content, edits):
        return False
    fitting = len(list(steps(content, edits)))
    lines = plain(edits[fitting]["oldText"]).split("\n") if fitting < len(edits) else []
    return len(lines) > 1 and not (lines[0].strip(BLANK) and lines[-1].strip(BLANK))


# Texts and edits, each with whether an edit fits in several places: the blanks that an edit put in count for the next one.
EXAMPLES = [
    ("\ttab\nx \nNEW\n", [("\tx \n    NEW\t", "\tx \n    NEW\t\n"), ("    ", "")], True),
    ("two\n  three", [("\tthree", ""), (" ", "x")], True),
    ("  a\nb", [("\ta", "c"), ("  c", "d")], False),
]


def wrong_examples():
    return [content for content, edits, several in EXAMPLES
            if ambiguous(content, [{"oldText": old, "newText": new} for old, new in edits]) != several]
