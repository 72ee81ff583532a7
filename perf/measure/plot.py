"""Writes plots as SVG: a row of dots per work, and lines of time over size; both on logarithmic axes."""

import html
import math

COLOURS = ["#8c8c8c", "#d1242f", "#0969da", "#bf8700", "#1a7f37", "#8250df", "#bc4c00"]
STYLE = "font-family='system-ui, sans-serif' font-size='12'"


def label(x, y, words, anchor="start", **more):
    rest = "".join(f" {key.replace('_', '-')}='{value}'" for key, value in more.items())
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'{rest}>{html.escape(str(words))}</text>"


def duration(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size * 0.999:
            return f"{nanoseconds / size:g} {unit}"
    return f"{nanoseconds:g} ns"


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def page(width, height, parts):
    body = "\n".join(parts)
    return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
            f"height='{height}' {STYLE}>\n<rect width='100%' height='100%' fill='white'/>\n{body}\n</svg>\n")


def legend(names, x, y):
    parts = []
    for nth, name in enumerate(names):
        parts += [f"<circle cx='{x}' cy='{y - 4}' r='5' fill='{COLOURS[nth]}'/>", label(x + 10, y, name)]
        x += 24 + 7 * len(name)
    return parts


def wrapped(words, x, y, width):
    lines, line = [], ""
    for word in words.split():
        if len(line) + len(word) > width:
            lines, line = [*lines, line], ""
        line = f"{line} {word}".strip()
    return [label(x, y + nth * 14, line, fill="#57606a", font_size=10) for nth, line in enumerate([*lines, line])]


def dots(title, rows, names, caption, left=370):
    """`rows`: works, and their nanoseconds by name. Further left is faster. `left`: room for the works' names."""
    width, step, top = 1000, 22, 78
    low, high = decades([value for _, row in rows for value in row.values()])
    across = lambda value: left + (math.log10(value) - low) / (high - low) * (width - left - 30)
    bottom = top + step * len(rows)
    parts = [label(14, 24, title, font_size=16, font_weight="bold"), *legend(names, 20, 48)]
    for power in range(low, high + 1):
        x = across(10.0 ** power)
        parts += [f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{top - 8}' y2='{bottom - 4}' stroke='#d8dee4'/>",
                  label(x, top - 12, duration(10.0 ** power), "middle", fill="#57606a", font_size=10)]
    for nth, (work, row) in enumerate(rows):
        y = top + step * nth + 8
        parts.append(label(left - 12, y + 4, work, "end"))
        ends = [across(value) for value in row.values()]
        parts.append(f"<line x1='{min(ends):.1f}' x2='{max(ends):.1f}' y1='{y}' y2='{y}' stroke='#eaeef2' stroke-width='3'/>")
        for name in reversed([name for name in names if name in row]):
            shape = f"cx='{across(row[name]):.1f}' cy='{y}' r='5' fill='{COLOURS[names.index(name)]}'"
            parts.append(f"<circle {shape}><title>{html.escape(name)}: {row[name] / 1e6:.3g} ms</title></circle>")
    return page(width, bottom + 52, [*parts, *wrapped(caption, 14, bottom + 14, 165)])


def lines(title, series, across_title, ticks, caption, unit=duration):
    """`series`: by name, points of a size and a value. `ticks`: sizes with their labels."""
    left, right, top, width, height = 90, 24, 78, 720, 420
    points = [point for found in series.values() for point in found]
    low, high = decades([figure for _, figure in points])
    first, last = math.log10(ticks[0][0]), math.log10(ticks[-1][0])
    across = lambda size: left + (math.log10(size) - first) / (last - first) * (width - left - right)
    up = lambda figure: height - 60 - (math.log10(figure) - low) / (high - low) * (height - 60 - top)
    parts = [label(14, 24, title, font_size=16, font_weight="bold"), *legend(list(series), 20, 48)]
    for power in range(low, high + 1):
        y = up(10.0 ** power)
        parts += [f"<line x1='{left}' x2='{width - right}' y1='{y:.1f}' y2='{y:.1f}' stroke='#d8dee4'/>",
                  label(left - 8, y + 4, unit(10.0 ** power), "end", fill="#57606a", font_size=10)]
    for size, words in ticks:
        parts.append(label(across(size), height - 42, words, "middle", fill="#57606a", font_size=10))
    parts.append(label((left + width) / 2, height - 24, across_title, "middle"))
    for nth, found in enumerate(series.values()):
        path = " ".join(f"{across(size):.1f},{up(figure):.1f}" for size, figure in found)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{COLOURS[nth]}' stroke-width='2'/>")
        parts += [f"<circle cx='{across(size):.1f}' cy='{up(figure):.1f}' r='3.5' fill='{COLOURS[nth]}'/>"
                  for size, figure in found]
    return page(width, height + 30, [*parts, *wrapped(caption, 14, height - 2, 125)])
