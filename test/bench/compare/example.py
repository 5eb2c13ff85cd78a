# SPDX-License-Identifier: MIT
"""
A results file made by hand, for the tests: small round figures.
"""
import json

MACHINE = {"machine": {"CPU": "Example", "CPUs": 2}}


def record(peer, work, n, keys=None, **printed):
    return {"peer": peer, "version": "1.2", "clock": "monotonic",
            "resolution": 1, "notes": "", "work": work, "case": keys or {},
            "round": n, "status": 0, "took": 1, **printed}


def pairs(threads=1):
    """The loop and timerthread are slower in round 2, the others are not."""
    keys = {"threads": threads, "window": 0}
    costs = {"loop": (10, 20, 10), "timerthread": (30, 60, 40),
             "libev": (110, 100, 160), "go": (530, 510, 520),
             "go-loop": (30, 30, 30)}
    return [record(peer, "pair", n, keys, cpu_ns=cost)
            for peer, values in costs.items()
            for n, cost in enumerate(values, 1)]


def mixes():
    """In two modes, the second on two threads too; and with many timeouts."""
    cases = [("spread", {"threads": 1, "window": 2000}, 100)]
    cases += [("mixed", {"threads": t, "window": 2000, "mode": mode}, cost)
              for mode, t, cost in (("self", 1, 200), ("other", 1, 300),
                                    ("other", 2, 400))]
    return [record(peer, work, n, keys, near_s=near, cpu_ns=(
        cost * times + n * 10 if times else 10))
            for work, keys, cost in cases for n in (1, 2, 3)
            for peer, times, near in (("loop", 0, 0), ("timerthread", 1, 950),
                                      ("libev", 2, 700))]


def fires():
    keys = {"threads": 1, "count": 1000}
    late = {"late_p50": 5000, "late_p99": 9000, "late_p999": 20000}
    return [record("timerthread", "fire", n, keys, **late, late_max=30000 * n,
                   cpu_ns=100, early=0, lost=0, twice=0, earliest=0)
            for n in (1, 2)] + [
        record("libev", "fire", n, keys, **late, late_max=40000, cpu_ns=300,
               early=7 * n, lost=1, twice=0, earliest=-900000)
        for n in (1, 2)]


def capacities():
    late = {"late_p50": 1000, "late_p99": 2000, "late_p999": 3000,
            "late_max": 4000}
    return [record("timerthread", "capacity", 1, {"rate": 1000000}, **late,
                   cpu_ns=500, ran_s=1420000)]


def openings():
    late = {f"{part}_{key}": 1000 * n
            for part, n in (("first", 2), ("rest", 1))
            for key in ("p50", "p99", "max")}
    return [record("timerthread", "opening", 1,
                   {"count": 1000, "span": 10, "after": 3}, **late,
                   cpu_ns=700, lost=0)]


def sparse():
    late = {"late_p50": 1000, "late_p99": 2000, "late_p999": 3000,
            "late_max": 4000, "cpu_ns": 5000, "early": 0}
    return [record("loop", "sleeps", 1, {"how": 1, "count": 50}, **late),
            record("timerthread", "sparse", 1, {"count": 50}, **late)]


def simulated():
    cases = [("pair", "threads", 1, 16), ("pair", "threads", 64, 1000),
             ("cap", "threads", 64, 800), ("executor", "pool", 0, 5)]
    return [record("simulated", "many", 1, {"what": what, key: n}, mops=mops)
            for what, key, n, mops in cases]


def troubles():
    """What a worker that failed left, one that cannot, one that did badly."""
    keys = {"threads": 1, "window": 0}
    failed = {"peer": "posix", "work": "pair", "case": keys, "round": 1,
              "status": -9, "took": 1, "error": "killed by SIGKILL: none"}
    return [failed,
            record("dpdk", "pair", 1, keys, skipped="more than it can have"),
            record("glib", "pair", 1, keys, cpu_ns=1010, failed=3)]


def results():
    return pairs() + mixes() + fires() + capacities() + openings() + \
        sparse() + troubles() + simulated()


def lines(records):
    return [json.dumps(line) for line in [MACHINE, *records]]
