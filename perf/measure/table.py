"""Writes results as Markdown tables, and the aims with whether they are met."""

import json
import os


def short(figure):
    """A number with three significant digits."""
    digits = 0 if figure >= 100 else 1 if figure >= 10 else 2 if figure >= 1 else 3
    return f"{figure:,.{digits}f}"


def time(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if nanoseconds >= size:
            return f"{short(nanoseconds / size)} {unit}"
    return f"{short(nanoseconds / 1e3)} µs"


def rate(nanoseconds):
    return f"{1e9 / nanoseconds:,.0f}/s"


def markdown(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "| --- |" + " ---: |" * (len(titles) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


class Notes:
    """Notes below a table; each reason appears once."""

    def __init__(self):
        self.reasons = []

    def mark(self, reason):
        if reason not in self.reasons:
            self.reasons.append(reason)
        return f"({self.reasons.index(reason) + 1})"

    def text(self):
        return "\n".join(f"({nth}) {reason}  " for nth, reason in enumerate(self.reasons, 1)) + "\n"


def median(row, name):
    return row["results"].get(name, {}).get("median_ns")


def compared(rows, ours, floor, peers):
    """One row per work: floor, ours, peers, and two ratios."""
    notes, lines = Notes(), []
    for row in rows:
        own = median(row, ours) or median(row, f"{ours} --sync=none")
        base, others = median(row, floor), [median(row, peer) for peer in peers if median(row, peer)]
        shown = rate if row["work"].endswith("per answer") else time
        cells = [shown(base) if base else "", f"**{shown(own)}**" if own else failed(row, ours, notes)]
        for peer in peers:
            found = median(row, peer)
            cells.append(shown(found) if found else failed(row, peer, notes))
        cells.append(f"{short(own / base)} ×" if own and base else "")
        cells.append(f"{short(min(others) / own)} ×" if own and others else "")
        lines.append([row["work"].removesuffix(", per answer"), *cells])
    titles = ["work (median)", floor, ours, *peers, f"{ours} / {floor}", f"fastest peer / {ours}"]
    return markdown(titles, lines) + "\n" + notes.text()


def against(rows, new, old):
    """One row per work with the medians of two binaries, and the works in which the new one is over 10 % slower."""
    lines, slower = [], []
    for row in rows:
        times = [median(row, name) or median(row, f"{name} --sync=none") for name in (old, new)]
        if not all(times):
            raise SystemExit(f"{row['work']}: {row['results']}")
        shown = rate if row["work"].endswith("per answer") else time
        lines.append([row["work"], *map(shown, times), f"{short(times[1] / times[0])} ×"])
        slower += [row["work"]] if times[1] > 1.1 * times[0] else []
    return markdown(["work (median)", "old", "new", "new / old"], lines), slower


def failed(row, name, notes):
    result = row["results"].get(name) or row["results"].get(f"{name} --sync=none") or {}
    if "lacks" in result:
        return f"– {notes.mark(result['lacks'])}"
    return f"failed {notes.mark(name + ': ' + result['failed'])}" if result.get("failed") else ""


def aims(found):
    """`found`: aim, value, bound, unit, and whether the bound is a minimum."""
    rows = []
    for what, figure, bound, unit, at_least in found:
        if figure is None:
            rows.append([what, f"{'≥' if at_least else '≤'} {bound:,} {unit}", "not measured", ""])
            continue
        met = figure >= bound if at_least else figure <= bound
        rows.append([what, f"{'≥' if at_least else '≤'} {bound:,} {unit}", f"{short(figure)} {unit}",
                     "met" if met else "**missed**"])
    return markdown(["aim", "bound", "figure", ""], rows)


def save(folder, name, data, text, plots):
    """Writes the JSON, the Markdown and the plots of one measurement, and prints the folder."""
    os.makedirs(folder, exist_ok=True)
    for ending, content in (("json", json.dumps(data, indent=1) + "\n"), ("md", text)):
        with open(os.path.join(folder, f"{name}.{ending}"), "w") as file:
            file.write(content)
    for plot, svg in plots.items():
        with open(os.path.join(folder, f"{plot}.svg"), "w") as file:
            file.write(svg)
    print(text)
    print(f"written to {folder}")
