# SPDX-License-Identifier: MIT
"""
A table of whatever columns: its rows, their order, and what has to be said
beside it.
"""
from dataclasses import dataclass

import table
from peers import LOOPS
from summary import Figure, Results, Where, extent, middle

NET = Figure("cpu_ns", "cpu_ns")


@dataclass(frozen=True)
class Column:
    head: str
    at: Where
    figure: Figure
    show: str = "middle"  # of the rounds; or: extent, ratio, most, sum


@dataclass(frozen=True)
class Table:
    title: str
    text: str
    groups: list  # of (title, columns)

    def columns(self):
        return [c for _, columns in self.groups for c in columns]

    def wheres(self):
        return list(dict.fromkeys(c.at for c in self.columns()))


def cell(results: Results, peer, column):
    rounds = results.rounds(column.at, peer, column.figure)
    if column.show == "ratio":
        rounds = results.ratios(column.at, peer, column.figure)
    if column.show == "extent":
        return table.extent(extent(rounds))
    if column.show == "most":
        return table.number(max(rounds.values(), default=None))
    if column.show == "sum":
        return table.whole(sum(rounds.values()) if rounds else None)
    return table.number(middle(rounds))


def group_cells(results, peer, columns, said):
    """Where a peer has no figures, the first of a case's columns says so."""
    cells = []
    for column in columns:
        trouble = results.trouble(column.at, peer)
        if not trouble:
            cells.append(cell(results, peer, column))
        else:
            cells.append("" if column.at in said else trouble[0])
            said.add(column.at)
    return cells


def order(results, peers, column):
    """timerthread first, then by the first column."""
    def key(peer):
        value = middle(results.rounds(column.at, peer, column.figure))
        return (peer != "timerthread", value is None, value or 0, peer)
    return sorted(peers, key=key)


def marked(results, peer):
    return peer + " !" * bool(results.wrongs(peer))


def taken_off(results, t):
    """What the loops cost that is not in the figures any more."""
    words, seen = [], set()
    for title, columns in t.groups:
        for c in columns:
            if not c.figure.off or (c.at, c.figure.off) in seen:
                continue
            seen.add((c.at, c.figure.off))
            own = Figure(c.figure.off, scale=c.figure.scale)
            costs = [(name, middle(results.rounds(c.at, name, own)))
                     for name in LOOPS]
            text = ", ".join(f"{name} {table.number(v)}"
                             for name, v in costs if v is not None)
            if text:
                words.append(f"{label(title, c)}: {text}")
    if not words:
        return []
    return table.wrap("Taken off: " + "; ".join(words) + ".", "  ")


def label(title, column):
    """Columns of one group can be of several cases."""
    plain = title and column.head in ("net ns", "p50")
    return title if plain else f"{title} {column.head}".strip()


def without_empty(results, t, peers):
    """No ranges where there was one round."""
    def some(c):
        return c.show != "extent" or any(cell(results, p, c) for p in peers)
    return [(title, [c for c in columns if some(c)])
            for title, columns in t.groups]


def name_of(at):
    keys = " ".join(f"{k}={v}" for k, v in at.keys)
    return f"{at.work} {keys}".strip()


def remarks(results, t, peers):
    """By what was wrong, as the same is often so in several cases."""
    reasons = {}
    for peer in peers:
        for at in t.wheres():
            trouble = results.trouble(at, peer)
            if trouble and trouble[1]:
                text = f"{peer}: {trouble[0]}: {trouble[1]}"
                reasons.setdefault(text, []).append(name_of(at))
            for r in results.records(at, peer):
                if not trouble and "error" in r:
                    text = f"{peer}: in one round: {r['error']}"
                    reasons.setdefault(text, []).append(name_of(at))
            n = results.failed_calls(at, peer)
            if n:
                text = f"{peer}: {n} calls found their timer not pending"
                reasons.setdefault(text, []).append(name_of(at))
    return [line for text, ats in reasons.items()
            for line in table.wrap(f"{text} ({', '.join(ats)})", "  ")]


def row(results, peer, groups):
    said = set()
    return marked(results, peer), [group_cells(results, peer, columns, said)
                                   for _, columns in groups]


def lines(results, t):
    peers = results.peers(t.wheres())
    if not peers:
        return []
    peers = order(results, peers, t.columns()[0])
    groups = without_empty(results, t, peers)
    rows = [row(results, peer, groups) for peer in peers]
    groups = [(title, [c.head for c in columns]) for title, columns in groups]
    notes = taken_off(results, t) + remarks(results, t, peers)
    return [t.title, *table.wrap(t.text), "", *table.render(groups, rows),
            "", *notes, *[""] * bool(notes)]
