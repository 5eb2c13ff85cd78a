# SPDX-License-Identifier: MIT
"""
Plain text: numbers of three digits or so, and tables of them.
"""
import textwrap

WIDTH = 96


def number(x):
    if x is None:
        return "-"
    size = abs(x)
    if size < 9.995:
        text = f"{x:.2f}"
        return text.lstrip("-") if float(text) == 0 else text
    if size < 99.95:
        return f"{x:.1f}"
    if size < 9999.5:
        return f"{x:.0f}"
    for letter in "kMG":
        x /= 1000
        if abs(x) < 999.5 or letter == "G":
            return f"{x:.3g}{letter}" if abs(x) < 999.5 else f"{x:.0f}G"
    return None


def whole(x):
    return "-" if x is None else f"{x:.0f}"


def extent(low_high):
    if low_high is None:
        return ""
    return "..".join(number(x) for x in low_high)


def power(n):
    """10^6 for 1000000."""
    digits = str(n)
    if n >= 10000 and digits.rstrip("0") == "1":
        return f"10^{len(digits) - 1}"
    return digits


def wrap(text, indent="", width=WIDTH):
    return textwrap.wrap(text, width, subsequent_indent=indent,
                         break_on_hyphens=False)


def widths(heads, rows):
    """Of each column: no wider than what is in it."""
    return [max([len(head)] + [len(row[i]) for row in rows])
            for i, head in enumerate(heads)]


def widen(columns, title):
    """The last column of a group, if the group's title needs more."""
    more = len(title) - (sum(columns) + 2 * (len(columns) - 1))
    return columns[:-1] + [columns[-1] + max(0, more)]


def join(name, groups):
    return " | ".join([name, *groups]).rstrip()


def render(groups, rows):
    """
    groups: (title, headings); rows: (name, a list of cells for each group).
    """
    first = max([len(name) for name, _ in rows], default=0)
    sizes = [widen(widths(heads, [cells[g] for _, cells in rows]), title)
             for g, (title, heads) in enumerate(groups)]

    def line(name, cells):
        return join(name.ljust(first), [
            "  ".join(text.rjust(size) for text, size in zip(texts, size_of))
            for texts, size_of in zip(cells, sizes)])

    total = [sum(size_of) + 2 * (len(size_of) - 1) for size_of in sizes]
    titles = join(" " * first, [title.ljust(size) for (title, _), size
                                in zip(groups, total)])
    heads = line("", [heads for _, heads in groups])
    rule = "-+-".join("-" * size for size in [first, *total])
    return [*([titles] if titles.strip(" |") else []), heads, rule,
            *(line(name, cells) for name, cells in rows)]
