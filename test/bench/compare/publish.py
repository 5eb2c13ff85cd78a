# SPDX-License-Identifier: MIT
"""
Puts a run's figures where readers find them: README's table, and the marked
parts of RESULTS.md.  What is said about them there is written by hand.
"""
import os
import shutil

import page
import plots
import table
from report import NET
from summary import Figure, middle, where

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3)
README = os.path.join(TOP, "README")
RESULTS = os.path.join(TOP, "test", "bench", "RESULTS.md")
PLOTS = os.path.join(TOP, "test", "bench", "plots")

US, MIB = 1000.0, float(1 << 20)

# Those whom a reader would use instead: name, width, and two lines of head.
SHOWN = (
    ("timerthread", 8, "library", ""),
    ("one-heap", 6, "one", "heap"),
    ("64-heaps", 6, "64", "heaps"),
    ("hashed-wheel", 8, "hashed", "wheel"),
    ("brpc-design", 8, "brpc's", "design"),
    ("timerfd-reused", 9, "timerfd", ""),
    ("libevent", 9, "libevent", ""),
)

LATE = Figure("late_p50", scale=US)

ROWS = (
    ("1 thread", where("pair", threads=1, window=0), NET),
    ("2 threads", where("pair", threads=2, window=0), NET),
    ("8 threads", where("pair", threads=8, window=0), NET),
    ("400 threads", where("pair", threads=400, window=0), NET),
    ("100,000 in flight", where("pair", threads=1, window=100000), NET),
    ("  2 threads", where("pair", threads=2, window=100000), NET),
    ("timeouts of 0.1 to 10 s", where("spread", threads=1, window=20000), NET),
    ("  8 threads", where("spread", threads=8, window=20000), NET),
    ("arm and disarm", where("armed", threads=1, window=1000), NET),
    ("another thread cancels", where("handover"), NET),
    ("late, one sparse, us", where("sparse", count=300), LATE),
    ("late, of a million, us", where("fire", threads=1, count=1000000), LATE),
    ("MiB left of a million", where("peak", count=1000000),
     Figure("left", scale=MIB)),
)

TITLE = 25


def head():
    """Two lines."""
    return [(" " * TITLE + "".join(f"{words[n]:>{width}}" for _, width, *words
                                   in SHOWN)).rstrip() for n in (0, 1)]


def shows(case):
    """Has README a line for it?"""
    return any(where(case.work, **dict(case.keys)) == at for _, at, _ in ROWS)


# README's lines before the table and behind it, and RESULTS.md's marks.
BEFORE = "The library is not first everywhere."
AFTER = "brpc's is its published design"
MARK, END = "<!-- {}: compare --publish -->", "<!-- end -->"


def shown(value):
    if value is None:
        return "-"
    return f"{value:.1f}" if abs(value) < 9.95 else f"{value:,.0f}"


def line(results, title, at, figure):
    others = [shown(middle(results.rounds(at, peer, figure)))
              for peer, *_ in SHOWN]
    return f"  {title:{TITLE - 2}}" + "".join(
        f"{value:>{width}}" for value, (_, width, *_) in zip(others, SHOWN))


def short(results):
    """README's table, and which run it is of."""
    about = results.machine
    rows = [line(results, *row) for row in ROWS
            if results.rounds(row[1], "timerthread", row[2])]
    text = (f"Library: {about.get('library', 'not known')}.  Machine: "
            f"{about.get('CPU')}, {about.get('CPUs')} CPUs, "
            f"{about.get('kernel', 'kernel not known')}.")
    return [*head(), *rows, "", *table.wrap(text, width=80)]


def replaced(text, first, last, lines):
    """The lines between two that stay, which hold these words."""
    old = text.split("\n")
    begin = next(i for i, s in enumerate(old) if first in s)
    end = next(i for i, s in enumerate(old) if last in s and i > begin)
    return "\n".join([*old[:begin + 1], "", *lines, "", *old[end:]])


def published(text, first, last):
    """What replaced has put there."""
    lines = text.split("\n")
    begin = next(i for i, s in enumerate(lines) if first in s)
    end = next(i for i, s in enumerate(lines) if last in s and i > begin)
    return [s for s in lines[begin + 1:end] if s and s != "```"]


def change(path, *changes):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for first, last, lines in changes:
        text = replaced(text, first, last, lines)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def publish_readme(results):
    """Of a run with README's lines alone."""
    change(README, (BEFORE, AFTER, short(results)))


def publish(results, instructions, drawn):
    """drawn: the directory where the plots are."""
    for name in plots.ALL:
        path = os.path.join(drawn, name + ".svg")
        if os.path.exists(path):
            shutil.copy(path, PLOTS)
    fence = ["```"]
    publish_readme(results)
    parts = [("short", short(results)), ("all", page.lines(results))]
    if instructions:
        parts.append(("instructions", list(instructions)))
    change(RESULTS, *((MARK.format(name), END, fence + lines + fence)
                      for name, lines in parts))
