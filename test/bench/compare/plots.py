# SPDX-License-Identifier: MIT
"""
The same as pictures: gnuplot scripts, OUT/*.gp, and the SVG drawn by them.
"""
import os
import shutil
import subprocess
import sys

from report import NET, marked
from summary import Figure, middle

MIB, US = float(1 << 20), 1000.0

# Told apart also by the shape of the points, which has another period.
COLOURS = ("1f77b4", "d62728", "2ca02c", "9467bd", "ff7f0e", "8c564b",
           "e377c2", "17becf", "7f7f7f", "bcbd22", "000080")
POINTS = (5, 7, 9, 11, 13, 4, 6, 8, 10, 12)

HEAD = """set terminal svg size {width},{height} background '#ffffff' \
font 'sans-serif,13' noenhanced
set output '{name}.svg'
set title {title}
set xlabel {x}
set ylabel {y}
set grid y linecolor '#dddddd' linetype 1
set border 3
set tics nomirror
set tics out
set logscale y
set format y '{format}'
"""


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def head(name, title, x, y, numbers="%.0s%c"):
    """With 10k for 10000, unless told otherwise."""
    return HEAD.format(name=name, title=quote(title), x=quote(x), y=quote(y),
                       width=960, height=600, format=numbers)


def line_style(i, name):
    if name.split()[0] == "timerthread":
        return "linecolor '#000000' linewidth 4 pointtype 7 pointsize 0.9"
    return (f"linecolor '#{COLOURS[i % len(COLOURS)]}' linewidth 1.5 "
            f"pointtype {POINTS[i % len(POINTS)]} pointsize 0.8")


def curves(start, series, ticks):
    """
    series: (name, [(x, y)]).  The highest at the right end is named first, as
    the eye looks for it.
    """
    series = sorted(series, key=lambda s: -s[1][-1][1])
    names = sorted(name for name, _ in series)
    text = [start, "set logscale x",
            f"set xrange [{ticks[0][1] * 0.8}:{ticks[-1][1] * 1.25}]",
            "set key outside right top Left reverse samplen 2",
            f"set xtics ({', '.join(f'{quote(t)} {x}' for t, x in ticks)})"]
    for i, (_, points) in enumerate(series):
        rows = "\n".join(f"{x:g} {y:g}" for x, y in points)
        text.append(f"$d{i} << EOD\n{rows}\nEOD")
    text.append("plot " + ", \\\n  ".join(
        f"$d{i} with linespoints title {quote(name)} "
        f"{line_style(names.index(name), name)}"
        for i, (name, _) in enumerate(series)))
    return "\n".join(text) + "\n"


def bars(start, titles, rows, least):
    """
    rows: (name, [y or None]), a cluster each.  What is below the least (zero,
    in a logarithmic scale) is drawn as that.
    """
    text = [start, "set style data histogram",
            "set style histogram clustered gap 1", "set boxwidth 0.9",
            "set style fill solid noborder",
            "set key top left horizontal outside",
            "set xtics rotate by -40 scale 0", f"set yrange [{least}:*]",
            "$d << EOD"]
    for name, values in rows:
        cells = ["?" if y is None else f"{max(y, least * 1.02):g}"
                 for y in values]
        text.append(" ".join(['"%s"' % name, *cells]))
    text += ["EOD", "set datafile missing '?'", "plot " + ", \\\n  ".join(
        f"$d using {i + 2}:xtic(1) title {quote(title)} "
        f"linecolor '#{colour}'" for i, (title, colour) in enumerate(
            zip(titles, ("9ecae1", "4292c6", "08519c", "08205c"))))]
    return "\n".join(text) + "\n"


def value(results, at, peer, figure):
    """As in the tables."""
    rounds = results.rounds(at, peer, figure)
    if figure.key.endswith("_max"):
        return max(rounds.values(), default=None)
    return middle(rounds)


def series_of(results, wheres, key, figure):
    """(name, [(x, y)]) of all that have more than a point above zero."""
    series = []
    for peer in results.peers(wheres):
        points = [(at.get(key), value(results, at, peer, figure))
                  for at in wheres]
        points = [(x, y) for x, y in points if y is not None and y > 0]
        if len(points) > 1:
            series.append((marked(results, peer), points))
    return series


def rows_of(results, columns, sort_by):
    """As a table's rows: of all peers with any, by one column."""
    rows = []
    for peer in results.peers([at for at, _ in columns]):
        values = [value(results, at, peer, figure) for at, figure in columns]
        if any(v is not None for v in values):
            rows.append((marked(results, peer), values))
    return sorted(rows, key=lambda row: (
        row[0].split()[0] != "timerthread", row[1][sort_by] or 0))


def by_threads(results):
    wheres = results.wheres("pair", window=0)
    series = series_of(results, wheres, "threads", NET)
    if not series:
        return None
    ticks = [(str(n), n) for n in results.values("threads", "pair", window=0)]
    return curves(head("pair", "Schedule and cancel at once: CPU time a pair",
                       "threads", "ns, without the loop's own"), series, ticks)


def by_pending(results):
    wheres = results.wheres("pending")
    series = series_of(results, wheres, "count", NET)
    if not series:
        return None
    ticks = [(f"{n:,}", n) for n in results.values("count", "pending")]
    return curves(head("pending", "A pair on top of pending timers",
                       "pending timers", "CPU ns, without the loop's own"),
                  series, ticks)


def memory(results):
    rates = results.values("rate", "paced")
    if not rates:
        return None
    wheres = results.wheres("paced", rate=rates[-1])
    rows = rows_of(results, [(at, Figure("memory", scale=MIB))
                             for at in wheres], -1)
    return rows and bars(
        head("memory", f"Memory under {rates[-1]:,} requests a second, each "
             "timer cancelled after 10 ms", "", "MiB", "%g"),
        [f"timeout {at.get('timeout'):g} s" for at in wheres], rows, 0.1)


def lateness(results):
    wheres = results.wheres("fire")
    if not wheres:
        return None
    at = wheres[0]
    rows = rows_of(results, [(at, Figure(f"late_{p}", scale=US))
                             for p in ("p50", "p99", "p999")], 1)
    return rows and bars(
        head("late", f"Lateness of {at.get('count'):,} timers within 2 s "
             "(! : early, lost or twice)", "", "us"),
        ["median", "99 %", "99.9 %"], rows, 1)


def tail(results):
    wheres = results.wheres("tail")
    if not wheres:
        return None
    at = wheres[-1]
    rows = rows_of(results, [(at, Figure(f"schedule_{p}", "schedule_p50"))
                             for p in ("p50", "p99", "p999", "max")], 2)
    return rows and bars(
        head("tail", f"A single schedule call, {at.get('threads')} threads, "
             f"{at.get('window'):,} in flight each", "",
             "ns, without the loop's own"),
        ["median", "99 %", "99.9 %", "most"], rows, 10)


ALL = {"pair": by_threads, "pending": by_pending, "memory": memory,
       "late": lateness, "tail": tail}


def draw_all(results, out):
    if not shutil.which("gnuplot"):
        print("compare: no gnuplot, no plots", file=sys.stderr)
        return
    for name, script in ALL.items():
        text = script(results)
        if not text:
            continue
        with open(os.path.join(out, name + ".gp"), "w",
                  encoding="utf-8") as f:
            f.write(text)
        done = subprocess.run(["gnuplot", name + ".gp"], cwd=out, check=False)
        if done.returncode != 0:
            print(f"compare: gnuplot failed: {name}.gp", file=sys.stderr)
