# SPDX-License-Identifier: MIT
"""
Which works are done with which parameters, how often, and about how long one
worker takes for each.
"""
from dataclasses import dataclass

from peers import LOOPS, ONLY, OTHERS, start_takes

# Who does a work.  The loops alone cannot do what waits for a callback.
ALL, TIMERS, LOOP, SIMULATED = "all", "timers", "loop", "simulated"
# Those in C: the others' programs have no such work.
IN_C, TIMERS_IN_C = "in C", "timers in C"


@dataclass(frozen=True)
class Case:
    work: str
    keys: tuple        # (key, value) that tell it from others
    takes: float       # seconds that a worker takes, without its start
    rounds: int = 3
    who: str = ALL
    seconds: float = 0  # that it measures for; 0: not for it to say
    needs: int = 0      # MiB of memory that should be free

    def arguments(self):
        words = [f"{key}={value:g}" if isinstance(value, float)
                 else f"{key}={value}" for key, value in self.keys]
        return words + [f"seconds={self.seconds:g}"] * bool(self.seconds)

    def is_for(self, peer):
        if self.who in (LOOP, SIMULATED):
            return peer == self.who
        if ONLY.get(peer, self.work) != self.work:
            return False
        if self.who in (IN_C, TIMERS_IN_C) and (
                peer in OTHERS or peer == SIMULATED):
            return False
        return self.who in (ALL, IN_C) or peer not in LOOPS

    def takes_for(self, peer):
        return start_takes(peer) + self.takes

    def limit(self, peer):
        """
        Seconds after which something must be wrong.  (The simulator depends on
        how long the kernel takes for a page: a minute in place of six seconds
        was seen.)
        """
        return 20 + (30 if self.who == SIMULATED else 6) * \
            self.takes_for(peer)

    def __str__(self):
        return " ".join([self.work, *(f"{k}={v}" for k, v in self.keys)])


def case(work, keys, seconds=0.0, extra=0.0, **more):
    """A quarter of the seconds is for warming up."""
    return Case(work, tuple(keys.items()), seconds=seconds,
                takes=1.25 * seconds + extra, **more)


def pairs(seconds, threads, windows):
    return [case("pair", {"threads": t, "window": w}, seconds, 0.1)
            for w in windows for t in threads]


def windows(work, **keys):
    """Before it is measured, all of them are scheduled."""
    return [case(work, {"threads": t, "window": w, **keys}, 0.5,
                 0.1 + t * w / 2e6, needs=t * w * 400 >> 20)
            for w, threads in ((2000, (1,)), (20000, (1, 2, 8, 64)),
                               (100000, (1, 2)))
            for t in threads]


def paced():
    return [Case("paced", (("rate", rate), ("timeout", timeout)),
                 seconds=seconds, takes=seconds + 0.2, rounds=1)
            for rate in (20000, 500000)
            for timeout, seconds in ((0.1, 3), (1, 5), (60, 5))]


def capacity():
    return [Case("capacity", (("rate", rate),), 5.3, who=TIMERS_IN_C,
                 needs=2 * rate * 400 >> 20)
            for rate in (500000, 1000000, 2000000)]


def opening():
    return [Case("opening", (("count", count), ("span", span),
                             ("after", after)), after + span + 2,
                 who=TIMERS_IN_C, needs=count * 400 >> 20)
            for count, span, after in ((2000000, 1, 2), (5000000, 10, 3))]


def armed():
    return [case("armed", {"threads": t, "window": 1000}, 0.5, 0.1, who=IN_C)
            for t in (1, 2, 8)]


def peak():
    return [Case("peak", (("count", 1000000),), 12.5, rounds=1,
                 who=TIMERS_IN_C, needs=400)]


def pending():
    return [case("pending", {"count": 10**n}, 0.4, extra, rounds=rounds,
                 needs=10**n * 400 >> 20)
            for n, extra, rounds in ((4, 0, 3), (5, 0.1, 3), (6, 1, 3),
                                     (7, 9, 1))]


def sleeps(count, takes):
    return [Case("sleeps", (("how", how), ("count", count)), takes, who=LOOP)
            for how in range(3)]


def many(what, takes, key, values):
    """It is deterministic: one round.  takes: seconds a thread, about."""
    return [Case("many", (("what", what), (key, n)), takes * n + 0.1, rounds=1,
                 who=SIMULATED) for n in values]


def simulated():
    return [
        *many("pair", 0.09, "threads", (1, 4, 16, 64)),
        *many("cap", 0.08, "threads", (1, 4, 16, 64)),
        *many("cap-short", 0.03, "threads", (1, 4, 16, 64)),
        *many("earlier", 0.1, "threads", (1, 4, 16, 64)),
        *many("handover", 0.08, "threads", (1, 4, 16, 32)),
        *many("fire", 0.08, "threads", (1, 4, 16, 64)),
        *many("executor", 0.2, "pool", (0, 1, 4, 16, 32)),
        *many("paced", 0.01, "threads", (64,)),
        *many("probe", 0.4, "threads", (1, 64)),
    ]


def full():
    threads = [{"threads": t} for t in (1, 2)]
    return [
        case("rmw", {}, 0.3, who=LOOP),
        *pairs(0.5, (1, 2, 4, 8, 64, 400), (0,)),
        *pairs(0.5, (1, 2), (1000, 100000)),
        *windows("spread"),
        *windows("mixed", mode="self"),
        *windows("mixed", mode="other"),
        *armed(),
        case("handover", {}, 0.5, 0.1),
        *[case("earlier", keys, 0.5, 0.1) for keys in threads],
        *[case("keepalive", keys, 0.5, 0.2) for keys in threads],
        *[case("tail", {"threads": 2, "window": w}, 0.5, 0.4)
          for w in (1000, 100000)],
        Case("sparse", (("count", 300),), 0.9, who=TIMERS),
        *sleeps(300, 0.9),
        *pending(),
        *peak(),
        *[Case("fire", (("count", 1000000), *keys.items()), 3, rounds=2,
               who=TIMERS) for keys in threads],
        *capacity(),
        *opening(),
        Case("burst", (("count", 5000000),), 4, rounds=2, who=TIMERS,
             needs=5000000 * 400 >> 20),
        *paced(),
        *simulated(),
    ]


def quick():
    """One look at each of the cheap ones, in less than a minute."""
    return [
        case("rmw", {}, 0.1, who=LOOP),
        *pairs(0.1, (1, 2), (0,)),
        *pairs(0.1, (1,), (1000,)),
        case("spread", {"threads": 1, "window": 20000}, 0.1),
        case("mixed", {"threads": 1, "window": 20000, "mode": "self"}, 0.1),
        case("handover", {}, 0.1),
        Case("sparse", (("count", 50),), 0.2, who=TIMERS),
        *sleeps(50, 0.2),
        *many("pair", 0.09, "threads", (1, 16)),
        *many("cap", 0.08, "threads", (1, 16)),
    ]


def jobs(cases, names, rounds, shuffle):
    """
    (round, case, peer), in the order that they are run in: round by round, in
    each case by case, and for each all peers in an order of its own, so that
    what a machine does on the side hits now this one and now that one.
    """
    result = []
    most = rounds or max((c.rounds for c in cases), default=0)
    for n in range(1, most + 1):
        for c in cases:
            if n > (rounds or c.rounds):
                continue
            turn = [name for name in names if c.is_for(name)]
            shuffle(turn)
            result += [(n, c, name) for name in turn]
    return result


def takes(jobs_left):
    return sum(c.takes_for(peer) for _, c, peer in jobs_left)
