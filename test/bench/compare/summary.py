# SPDX-License-Identifier: MIT
"""
What the records say: figures by round, less the loop's own of the same round,
and their ratios within a round.
"""
import json
from dataclasses import dataclass
from statistics import median

from peers import LOOPS, loop_of

# The sleeps of no facility, which stand next to those of each.
SLEEPS = {0: "(nanosleep)", 1: "(futex)", 2: "(timerfd)"}

WRONGS = ("early", "lost", "twice")


@dataclass(frozen=True, order=True)
class Where:
    """A work and its parameters."""
    work: str
    keys: tuple = ()

    def get(self, key):
        return dict(self.keys).get(key)


def where(work, **keys):
    return Where(work, tuple(sorted(keys.items())))


@dataclass(frozen=True)
class Figure:
    """A member of a record, and what of the loop's record is taken off it."""
    key: str
    off: str = ""
    scale: float = 1.0  # that it is divided by


def place(record):
    """(where, peer) of a record."""
    work, peer, keys = record["work"], record["peer"], dict(record["case"])
    if work == "sleeps":
        peer, work = SLEEPS[keys.pop("how")], "sparse"
    return where(work, **keys), peer


class Results:
    def __init__(self, machine, records):
        self.machine = machine
        self.at = {}
        for record in records:
            key, peer = place(record)
            self.at.setdefault(key, {}).setdefault(peer, []).append(record)

    def wheres(self, work, **fixed):
        return sorted(key for key in self.at if key.work == work and all(
            key.get(name) == value for name, value in fixed.items()))

    def values(self, key, work, **fixed):
        """Those that a parameter has."""
        return sorted({w.get(key) for w in self.wheres(work, **fixed)})

    def peers(self, wheres=None):
        """Those that did any of it, or tried to; not the loops."""
        names = {peer for key in (self.at if wheres is None else wheres)
                 for peer in self.at.get(key, ())}
        return sorted(names - set(LOOPS),
                      key=lambda name: (name != "timerthread", name))

    def records(self, key, peer):
        return self.at.get(key, {}).get(peer, [])

    def all(self):
        return [r for at in self.at.values() for rs in at.values() for r in rs]

    def of_peer(self, peer):
        return [r for at in self.at.values() for r in at.get(peer, [])]

    def rounds(self, key, peer, figure):
        """{round: value}, where there is one and a loop's to take off."""
        values = {r["round"]: r[figure.key] / figure.scale
                  for r in self.records(key, peer)
                  if "error" not in r and figure.key in r}
        if not figure.off:
            return values
        loops = self.rounds(key, loop_of(peer),
                            Figure(figure.off, scale=figure.scale))
        return {n: v - loops[n] for n, v in values.items() if n in loops}

    def ratios(self, key, peer, figure, to="timerthread"):
        """By round; none where noise has left less than nothing."""
        base = self.rounds(key, to, figure)
        return {n: v / base[n]
                for n, v in self.rounds(key, peer, figure).items()
                if base.get(n, 0) > 0 and v > 0}

    def in_units(self, key, peer, figure, unit_at, unit):
        """By round, in units of another work that the loop did."""
        units = self.rounds(unit_at, "loop", unit)
        return {n: v / units[n]
                for n, v in self.rounds(key, peer, figure).items()
                if units.get(n, 0) > 0}

    def trouble(self, key, peer):
        """(what, why) if it has no figures here; or None."""
        records = self.records(key, peer)
        if any("error" not in r and "skipped" not in r for r in records):
            return None
        for word, what in (("error", "FAIL"), ("skipped", "skip")):
            for r in records:
                if word in r:
                    return what, r[word]
        return "-", ""

    def wrongs(self, peer):
        """{what: how many} of timers that did not run as they should."""
        total = {}
        for work in ("fire", "sparse"):
            for key in self.wheres(work):
                for r in self.records(key, peer):
                    for what in WRONGS:
                        if r.get(what, 0) > 0:
                            total[what] = total.get(what, 0) + int(r[what])
        return total

    def failed_calls(self, key, peer):
        """Cancels and moves of timers that should have been pending."""
        return int(sum(r.get("failed", 0) for r in self.records(key, peer)))


def middle(rounds):
    return median(rounds.values()) if rounds else None


def extent(rounds):
    """(least, most) of several."""
    values = list(rounds.values())
    return (min(values), max(values)) if len(values) > 1 else None


# What the parts of one run may not differ in.
SAME = ("library", "CPU", "CPUs", "kernel", "compilers")


def join(machines):
    """What is said of the machine: once, if the parts say the same."""
    for key in SAME:
        if len({m.get(key) for m in machines}) > 1:
            raise ValueError(f"the parts were measured with another {key}")
    said = {key: dict.fromkeys(str(m[key]) for m in machines if key in m)
            for m in machines for key in m}
    return {**machines[0], **{key: "; ".join(values) for key, values
                              in said.items() if len(values) > 1}}


def load(*parts):
    """
    Each part: the lines of a results file.  What was measured again in a later
    part counts there alone.
    """
    machines, records = [], {}
    for lines in parts:
        machine, *rest = [json.loads(line) for line in lines if line.strip()]
        machines.append(machine["machine"])
        for r in rest:
            keys = tuple(sorted(r["case"].items()))
            records[r["work"], keys, r["peer"], r["round"]] = r
    return Results(join(machines), records.values())
