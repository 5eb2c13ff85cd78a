# SPDX-License-Identifier: MIT
"""
What is shown, in which order.  Parameters are those that were measured.
"""
from report import NET, Column, Table
from summary import Figure
from table import power

US, MIB = 1000.0, float(1 << 20)

NET_TEXT = ("CPU time a turn in ns, of all threads, without the loop's own:"
            " median and range of the rounds; ratio: to timerthread's of the"
            " same round, the median.")


def gross(key, scale=1.0):
    return Figure(key, scale=scale)


def net(at):
    return [Column("net ns", at, NET), Column("range", at, NET, "extent"),
            Column("ratio", at, NET, "ratio")]


def threads_title(at):
    n = at.get("threads")
    return "1 thread" if n == 1 else f"{n} threads"


def in_twos(groups):
    """More would be too wide."""
    return [groups[i:i + 2] for i in range(0, len(groups), 2)]


def net_tables(title, text, wheres, columns=net):
    groups = [(threads_title(at), columns(at)) for at in wheres]
    return [Table(title + (", continued" if i else ""), text if not i else "",
                  some) for i, some in enumerate(in_twos(groups))]


def in_flight(results, work, title, text, columns=net, **fixed):
    """The same for each number of them."""
    return [t for window in results.values("window", work, **fixed) if window
            for t in net_tables(
                f"{title}, {window} in flight a thread", text,
                results.wheres(work, window=window, **fixed), columns)]


def pair(results):
    text = "A timer is scheduled and at once cancelled again.  " + NET_TEXT
    return [*net_tables("Pair", text, results.wheres("pair", window=0)),
            *in_flight(results, "pair", "Pair", "The oldest is cancelled, "
                       "and a new one scheduled.")]


def with_runs(at):
    return [*net(at), Column("runs/s", at, gross("near_s"))]


def mixed(results):
    title, text = "Mixed timeouts", "As Pair with so many in flight, but "
    spread = ("each timeout is evenly at random between 0.1 and 10 s.  Where "
              "it takes long until a timer is cancelled, as with hundreds of "
              "thousands or in a slow facility, those with the shortest "
              "timeouts run before.")
    near = ("with timeouts of 10 s and, beside, a timer 1 ms ahead, {}; "
            "runs/s: how many of these ran a second.  What they cost is in "
            "the figures.")
    tables = in_flight(results, "spread", title, text + spread)
    for mode, name, how in (
            ("self", "one near", "whose callback schedules the next"),
            ("other", "one near from a thread",
             "that another thread schedules each millisecond")):
        tables += in_flight(results, "mixed", f"{title}, {name}",
                            text + near.format(how), with_runs, mode=mode)
    return tables


def armed(results):
    return net_tables("Armed and disarmed", "Connections with a timer each, "
                      "of which 1000 a thread are armed: one is disarmed, and "
                      "armed again.  A facility without such timers schedules "
                      "and cancels.", results.wheres("armed"))


def peak(results):
    text = ("So many timers, an hour ahead and more, are scheduled, and all "
            "cancelled; then nothing happens for 12 s.  The "
            "process's memory less what there was before, in MiB; the user's "
            "part is not in it.")
    return [Table(f"Peak, {at.get('count')} timers",
                  text,
                  [("MiB", [Column(head, at, gross(key, MIB))
                            for head, key in (("at the peak", "peak"),
                                              ("just after", "after"),
                                              ("later", "left"))])])
            for at in results.wheres("peak")]


def handover(results):
    return [Table("Handover", "One thread schedules, another cancels; CPU "
                  "time is of both, waiting for each other included.",
                  [("", net(at))]) for at in results.wheres("handover")]


def timeouts(wheres, figure):
    return [Column(f"{at.get('timeout'):g} s", at, figure) for at in wheres]


def paced_tables(rate, wheres):
    title = f"Paced, {rate} requests a second"
    text = ("Each has a timer, with a timeout of so many seconds, that is "
            "cancelled 10 ms later.  ")
    cost = text + ("CPU time a pair, without the loop's own; and how often "
                   "the facility's threads went to sleep.")
    memory = ("The most memory above what there was at the start, which had "
              "the user's part already; and how it grew after a tenth of the "
              "time.")
    return [
        Table(title, cost, [
            ("net ns a pair", timeouts(wheres, NET)),
            ("wake-ups a second", timeouts(wheres, gross("wakeups_s")))]),
        Table(title + ": memory", memory, [
            ("most, MiB", timeouts(wheres, gross("memory", MIB))),
            ("growth, MiB", timeouts(wheres, gross("growth", MIB)))])]


def paced(results):
    return [t for rate in results.values("rate", "paced") for t in
            paced_tables(rate, results.wheres("paced", rate=rate))]


def lateness(at, prefix="late_", keys=("p50", "p99", "p999", "max")):
    return [Column("p99.9" if key == "p999" else key, at,
                   gross(prefix + key, US),
                   "most" if key == "max" else "middle") for key in keys]


def counted(at, *keys):
    return [Column(key, at, gross(key), "sum") for key in keys]


def fire(results):
    text = ("Timers at random moments within 2 s; CPU time a timer is of all "
            "that the worker did.  early, lost, twice: timers of all rounds; "
            "lost: not run 12 s after the last was due.")
    return [Table(f"Fire, {at.get('count')} timers from "
                  f"{threads_title(at)}", text,
                  [("late by us", lateness(at)),
                   ("CPU", [Column("ns", at, gross("cpu_ns"))]),
                   ("timers", counted(at, "early", "lost", "twice"))])
            for at in results.wheres("fire")]


def capacity(results):
    text = ("So many a second are scheduled by one thread, each for a random "
            "moment within the second after, and all run.  ran: millions that "
            "did in a second.  CPU time a timer is of the facility's threads "
            "alone.  Late: one timer of 64; nothing is measured in the first "
            "two seconds.")
    return [Table(f"Capacity, {at.get('rate')} a second", text,
                  [("late by us", lateness(at)),
                   ("CPU", [Column("ns", at, gross("cpu_ns"))]),
                   ("timers", [Column("ran", at, gross("ran_s", 1e6))])])
            for at in results.wheres("capacity")]


def opening(results):
    text = ("All were scheduled long before, each for a random moment of these "
            "seconds.  Late: one timer of 16, of those that are due in the "
            "first tenth of the time, and of the others.  CPU time a timer is "
            "of all that the worker did from then on.  lost: not run half a "
            "second after the last was due.")
    keys = ("p50", "p99", "max")
    return [Table(f"Opening, {at.get('count')} timers in {at.get('span'):g} s",
                  text,
                  [("first: late by us", lateness(at, "first_", keys)),
                   ("others", lateness(at, "rest_", keys)),
                   ("CPU", [Column("ns", at, gross("cpu_ns"))]),
                   ("timers", counted(at, "lost"))])
            for at in results.wheres("opening")]


def sparse(results):
    text = ("One timer at a time, 0.5 to 5 ms ahead, in an idle process.  In "
            "brackets: a thread that just sleeps, with a timer slack of 1 ns "
            "(its \"early\" says only whether any was).  "
            "CPU time a timer is of the whole process, nothing taken off.")
    return [Table(f"Sparse, {at.get('count')} timers", text,
                  [("late by us", lateness(at)),
                   ("CPU", [Column("us", at, gross("cpu_ns", US))]),
                   ("timers", counted(at, "early"))])
            for at in results.wheres("sparse")]


def pending_table(results, title, text, *quantities):
    wheres = results.wheres("pending")
    return Table(title, text, [
        (name, [Column(power(at.get("count")), at, figure) for at in wheres])
        for name, figure in quantities] if wheres else [])


def pending(results):
    return [
        pending_table(
            results, "Pending: so many timers an hour ahead",
            "Net CPU time in ns of a pair on top of them; memory of each in "
            "bytes, with what the user keeps; of Go and Java, what is live on "
            "the heap.",
            ("pair, net ns", NET), ("bytes a timer", gross("bytes"))),
        pending_table(
            results, "Pending, continued",
            "Net CPU time in ns to schedule each, and to cancel each.  Where "
            "a cancel leaves work behind for later calls or for the thread, "
            "as timerthread's and brpc-design's do, that is not in it.",
            ("schedule, net ns", Figure("schedule_ns", "schedule_ns")),
            ("cancel, net ns", Figure("cancel_ns", "cancel_ns")))]


def earlier(results):
    return net_tables("Earlier", "Each deadline is earlier than all "
                      "before, but two hours ahead; 1000 in flight a "
                      "thread.  The wheels round to ticks, and nobody is "
                      "woken there; timerthread is woken a few times only.",
                      results.wheres("earlier"))


def burst(results):
    text = ("A probe each 10 ms, first alone, then while another thread "
            "schedules at full speed; what a schedule call takes then, in ns "
            "of wall time, nothing taken off.")
    keys = ("p50", "p99", "max")
    return [Table(f"Burst of {at.get('count')} timers", text,
                  [("quiet, late by us", lateness(at, "quiet_", keys)),
                   ("in the burst, late by us", lateness(at, "late_", keys)),
                   ("schedule", [Column("ns", at, gross("schedule_ns"))])])
            for at in results.wheres("burst")]


def keepalive(results):
    return net_tables("Keep-alive", "100000 timers of a minute, one "
                      "or other is moved to a minute from now.",
                      results.wheres("keepalive"))


def took(at, call):
    return [Column("p99.9" if key == "p999" else key, at,
                   Figure(f"{call}_{key}", f"{call}_p50"),
                   "most" if key == "max" else "middle")
            for key in ("p50", "p99", "p999", "max")]


def tail(results):
    text = ("What a single call takes, in ns of wall time, less the loop's "
            "median of the same, which is a reading of the clock.")
    return [Table(f"Tail, {threads_title(at)}, {at.get('window')} in flight "
                  "each", text, [("schedule", took(at, "schedule")),
                                 ("cancel", took(at, "cancel"))])
            for at in results.wheres("tail")]


SIMULATED_TEXT = (
    "Simulated: timerthread on 72 cores with 64 threads at most, each on a "
    "core of its own, with what it costs that they share memory, but neither "
    "memory's bandwidth nor what a core does out of order.  Trust ratios, not "
    "nanoseconds.  ")


def over(what, key, figure, wheres, unit):
    """A column for each number of threads."""
    return (f"{what}, by {unit}",
            [Column(str(at.get(key)), at, figure) for at in wheres])


def simulated_table(results, name, text, *groups):
    """groups: (title, what, key, figure, unit)"""
    shown = [over(title, key, figure, wheres, unit)
             for title, what, key, figure, unit in groups
             if (wheres := results.wheres("many", what=what))]
    return Table(name, text, shown)


def simulated(results):
    title, mops = "Simulated, 64 cores", gross("mops")

    def by_threads(name, what, figure=mops):
        return name, what, "threads", figure, "threads"

    return [
        simulated_table(
            results, title, SIMULATED_TEXT + "Million pairs a second, 100 in "
            "flight a thread.", by_threads("pair", "pair"),
            by_threads("earlier", "earlier")),
        simulated_table(
            results, title + ": under a cap", "As pair, under a cap that is "
            "far away, and one that lacks half a timer a thread.",
            by_threads("far", "cap"), by_threads("short", "cap-short")),
        simulated_table(
            results, title + ": handover", "One of two schedules, the other "
            "cancels; million pairs a second.",
            ("handover", "handover", "threads", mops, "pairs of threads")),
        simulated_table(
            results, title + ": fire", "Timers 100 to 200 us ahead all run; "
            "million callbacks a second.  The executor's timers are of 8 "
            "threads; 0: none, callbacks run on the timer thread.",
            by_threads("fire", "fire"),
            ("executor", "executor", "pool", mops, "threads of its pool")),
        simulated_table(
            results, title + ": paced", "A million timers a second of all "
            "together, 0.1 to 5 ms ahead, which all run; ns that a schedule "
            "call takes, with a reading of the clock.",
            by_threads("million/s", "paced"),
            by_threads("ns", "paced", gross("schedule_ns"))),
        simulated_table(
            results, title + ": probe", "How late one timer is, 20 us ahead, "
            "while all threads do pairs with timeouts of 100 to 200 us.",
            by_threads("p50, us", "probe", gross("late_p50", US)),
            by_threads("p99, us", "probe", gross("late_p99", US)))]


ALL = (pair, mixed, armed, handover, paced, fire, capacity, opening, sparse,
       pending, peak, earlier, burst, keepalive, tail, simulated)


def tables(results):
    return [t for section in ALL for t in section(results) if t.groups]
