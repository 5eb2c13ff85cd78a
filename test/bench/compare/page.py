# SPDX-License-Identifier: MIT
"""
The whole report as text: the machine, who took part, the tables.
"""
import report
import sections
import table
from summary import Figure, extent, middle, where


def machine_lines(machine):
    size = max(len(key) for key in machine) + 2
    lines = []
    for key, value in machine.items():
        lines += table.wrap(f"{key + ':':<{size}}{value}", " " * size)
    return lines


def few_cpus(machine):
    n = machine.get("CPUs")
    if not isinstance(n, int) or n > 4:
        return []
    what = "One CPU" if n == 1 else f"{n} CPUs"
    return table.wrap(
        f"NOTE: {what} only.  More threads than that take turns, and say "
        "little about contention; a facility's own thread has no CPU to "
        "itself while as many threads are busy.")


def languages(results):
    if not set(results.peers()) & {"netty", "java-stpe"}:
        return []
    return table.wrap(
        "NOTE: each thread that calls is kept on one CPU in C and in Go, but "
        "not in Java, which has no call for that; and Java warms up for a "
        "second, the others for a quarter of what is measured.")


def busy(results):
    """How much of the machine was others' meanwhile."""
    cpus = sorted(r["others_cpus"] for r in results.all()
                  if r.get("others_cpus") is not None)
    if not cpus or cpus[-1] < 0.1:
        return []
    share = sum(1 for x in cpus if x >= 0.1) / len(cpus)
    return table.wrap(
        f"NOTE: other processes took {cpus[len(cpus) // 2]:.2f} CPUs in the "
        f"median run, {cpus[-1]:.2f} in the worst, and at least a tenth of "
        f"one in {share * 100:.0f} % of the runs.")


def wrong_text(results, peer):
    counts = results.wrongs(peer)
    if not counts:
        return ""
    total = sum(key.get("count") * len(results.records(key, peer))
                for work in ("fire", "sparse") for key in results.wheres(work))
    least = min([r["earliest"] for r in results.of_peer(peer)
                 if "earliest" in r], default=0)
    text = ", ".join(f"{n} {what}" for what, n in counts.items())
    by = f", by up to {-least / 1000:.0f} us" if least < 0 else ""
    return f"! of {total} timers: {text}{by}"


def resolution(ns):
    if ns <= 1:
        return "in ns"
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if ns >= size:
            return f"in steps of {ns / size:g} {unit}"
    return f"in steps of {ns} ns"


def legend(results):
    lines = ["Peers: version, clock and resolution of the deadlines, notes"]
    names = [p for p in results.peers() if not p.startswith("(")]
    size = max(map(len, names), default=0) + 2
    for peer in names:
        said = next((r for r in results.of_peer(peer) if "version" in r), None)
        parts = ["gave no result"] if said is None else [
            said["version"],
            f"{said['clock']} {resolution(said['resolution'])}",
            said["notes"], wrong_text(results, peer)]
        lines += table.wrap(f"{peer:<{size}}" +
                            "; ".join(p for p in parts if p), " " * size)
    if any(results.wrongs(p) for p in names):
        lines += ["", *table.wrap(
            "! runs timers early, loses them, or runs them twice: what it "
            "costs is not the cost of the same thing.")]
    return lines


def read_modify_writes(results):
    """timerthread's pair in units of what nothing can do without."""
    at, cost = where("rmw"), Figure("cpu_ns")
    one = middle(results.rounds(at, "loop", cost))
    if one is None:
        return []
    words = []
    for pair in results.wheres("pair", window=0):
        units = results.in_units(pair, "timerthread", report.NET, at, cost)
        spread = table.extent(extent(units))
        if units:
            words.append(f"{sections.threads_title(pair)} "
                         f"{table.number(middle(units))}"
                         f"{f' ({spread})' if spread else ''}")
    text = ("timerthread's pair in atomic read-modify-writes that no other "
            f"thread wants, of {table.number(one)} ns each: ")
    return table.wrap(text + ", ".join(words) + ".") + [""] if words else []


def lines(results):
    body = []
    tables = sections.tables(results)
    for i, t in enumerate(tables):
        body += report.lines(results, t)
        last_pair = t.title.split(",")[0] == "Pair" and (
            i + 1 == len(tables) or tables[i + 1].title != "Pair, continued")
        if last_pair and "in flight" not in t.title:
            body += read_modify_writes(results)
    return [*machine_lines(results.machine), "", *few_cpus(results.machine),
            *languages(results), *busy(results), "", *legend(results), "", *body]
