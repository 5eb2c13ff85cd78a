# SPDX-License-Identifier: MIT
#
# "info timers" for gdb: the instances of libtimerthread in a process or a core
# dump, what they run now and which timers are pending.  It reads memory and
# calls nothing.  gdb loads this file with the library, if it lies where
# timerthread-watching(7) says; else "source" it.  It needs the debug information
# of the library, which may be in a file of its own.

import gdb
import sys
import time

# As in lib/store/slot.h.  What is built in cannot be looked up everywhere.
STATE_BITS = 4
(FREE, ARMED, MOVED, RUNNING, REPEATING, ENDING, DEAD, UNARMED, DISARMED,
 AWAITED) = range(10)
STATES = {
    ARMED: "pending",
    MOVED: "pending, rescheduled",
    RUNNING: "running",
    REPEATING: "running, to run again",
    ENDING: "running, cancelled",
    UNARMED: "not armed",
    DISARMED: "not armed",
    AWAITED: "running, disarmed",
}
SLOTS_LOG2 = 6  # of the first chunk
SLOT_CHUNK_THERE = 1

NEVER = 2**63 - 1
TIMERS_SHOWN = 100

LIVES = ["not started", "running", "stopping", "stopped"]
DRIVERS = ["none", "thread", "polled", "virtual"]
CLOCKS = {0: "realtime", 1: "monotonic", 7: "boottime"}
DRIVER_THREAD, DRIVER_VIRTUAL = 1, 3


def in_words(ns):
    """A time span that is not negative."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return "%.6g %s" % (ns / size, unit)
    return "%d ns" % ns


def name_of(value):
    return value["options"]["name"].string("utf-8", "backslashreplace")


def printable(text):
    """A name may have what a terminal would obey."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def deadline_in_words(deadline, now):
    if deadline == NEVER:
        return "never"
    if now is None:
        return "at %d ns" % deadline
    if deadline > now:
        return "in " + in_words(deadline - now)
    return in_words(now - deadline) + " ago"


def words(value):
    """The 64 bits of a struct word64, in as many words as it has."""
    parts = value["part"]
    n = parts.type.range()[1] + 1
    return sum(int(parts[i]) << (64 // n * i) for i in range(n))


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def function(pc):
    """Its name and where it is, as far as that is known."""
    pc = int(pc)
    text = gdb.execute("info symbol %d" % pc, False, True).strip()
    name = "0x%x" % pc
    if not text.startswith("No symbol"):
        name = text.split(" in section")[0]
    line = gdb.find_pc_line(pc)
    if line.symtab:
        name += " (%s:%d)" % (line.symtab.filename, line.line)
    return name


def is_live():
    """Is it a process on this machine, with this machine's clocks?"""
    inferior = gdb.selected_inferior()
    try:
        return inferior.connection is not None and \
            inferior.connection.type == "native"
    except AttributeError:  # before gdb 11
        target = gdb.execute("info target", False, True)
        return "Local core dump" not in target and inferior.pid != 0


class Instance:
    def __init__(self, value):
        self.value = value
        self.engine = value["engine"]
        self.driver = int(value["driver"])
        self.clock = int(value["options"]["clock"])
        self.now, self.now_from = self.find_now()

    def find_now(self):
        """The time on its clock, and where that is from."""
        watch = self.engine["watch"]
        if self.driver == DRIVER_VIRTUAL:
            return int(watch["shown"]), "the virtual clock"
        if is_live() and self.clock in CLOCKS:
            return time.clock_gettime_ns(self.clock), "now"
        if int(self.engine["started_by"]) == 0:
            return None, "unknown"
        seen = [int(self.engine["moment"]["shown"]), int(self.engine["until"])]
        # It has not taken a turn, as a polled one before the first dispatch.
        if max(seen) == 0:
            return None, "unknown"
        return max(seen), "when the library last looked at the clock"

    def steady_now(self):
        """The time on the clock that says since when a callback runs."""
        if is_live():
            return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        seen = [int(self.engine["moment"]["steady"])]
        for inside in self.insides():
            seen.append(signed(words(inside["since"])))
        if self.driver != DRIVER_VIRTUAL and \
                CLOCKS.get(self.clock) == "monotonic":
            seen.append(int(self.engine["until"]))
        return max(seen)

    def insides(self):
        """What calls callbacks: the driver, and an executor's threads."""
        yield self.engine["inside"]
        runs = self.value["runs"]
        if not int(runs["part"]):
            return
        for i in range(int(runs["cpus"]["n"])):
            run = runs["part"][i]["first_running"]
            while int(run):
                yield run["inside"]
                run = run["next"]

    def head(self):
        life = LIVES[int(self.value["life"])]
        driver = DRIVERS[self.driver]
        clock = "virtual"
        if self.driver != DRIVER_VIRTUAL:
            clock = CLOCKS.get(self.clock, "%d" % self.clock)
        shows = "unknown" if self.now is None else "%d ns" % self.now
        return 'timerthread "%s" at 0x%x: %s; driver: %s; clock: %s\n' \
            "  the time: %s (%s)" % (
                printable(name_of(self.value)),
                int(self.value.address), life, driver, clock,
                shows, self.now_from)

    def running(self):
        for inside in self.insides():
            if int(inside["version"]) % 2 == 0:
                continue
            since = signed(words(inside["since"]))
            spent = in_words(max(0, self.steady_now() - since))
            yield "  running now for %s: 0x%016x %s, argument 0x%x%s" % (
                spent, words(inside["id"]), function(inside["fn"]),
                int(inside["arg"]), thread_of(int(inside["who"])))

    def buckets(self):
        intake = self.engine["intake"]
        if not int(intake):
            return
        for i in range(int(intake["n"])):
            yield intake["bucket"][i]

    def slots(self):
        """Each slot that has been used, as values."""
        for bucket in self.buckets():
            table = bucket["slots"]
            slot_type = table["slot"].type
            size = slot_type.target().sizeof
            end = int(table["fresh"]) << SLOTS_LOG2
            for number in range(1 << SLOTS_LOG2, end):
                # Chunks begin at powers of two.
                chunk = number.bit_length() - 1 - SLOTS_LOG2
                base = int(table["chunk"][chunk]) - SLOT_CHUNK_THERE
                at = (base + number * size) % 2**(8 * slot_type.sizeof)
                yield gdb.Value(at).cast(slot_type).dereference()

    def timers(self):
        """All that are not dead, and how many are dead."""
        found, dead = [], 0
        for slot in self.slots():
            word = int(slot["state"])
            state = word & ((1 << STATE_BITS) - 1)
            if state == DEAD:
                dead += 1
            elif state != FREE:
                found.append(Timer(slot, word, state))
        found.sort(key=lambda t: (t.deadline, t.id))
        return found, dead


class Timer:
    def __init__(self, slot, word, state):
        armed = word & ~((1 << STATE_BITS) - 1) | ARMED
        self.id = armed << 32 | int(slot["index"])
        self.state = state
        self.deadline = int(slot["deadline"])
        if state in (UNARMED, DISARMED):
            self.deadline = NEVER
        self.period = int(slot["period"])
        self.fn = int(slot["fn"])
        self.arg = int(slot["arg"])

    def line(self, now):
        when = deadline_in_words(self.deadline, now)
        if self.state not in (ARMED, MOVED, REPEATING):
            when = "-"
        every = ""
        if self.period > 0:
            every = ", every " + in_words(self.period)
        return "    0x%016x %s%s: %s, argument 0x%x (%s)" % (
            self.id, when, every, function(self.fn), self.arg,
            STATES[self.state])


def thread_of(who):
    """The thread that this is the pthread_t of, if one is."""
    for thread in gdb.selected_inferior().threads():
        try:
            handle = thread.handle()
        except (gdb.error, AttributeError, RuntimeError):
            continue  # gdb knows no handles of this C library
        if int.from_bytes(handle, sys.byteorder) == who:
            return ", thread %d" % thread.num
    return ""


def list_head():
    """Where the list begins; an error says what is missing."""
    symbol = gdb.lookup_global_symbol("timerthread_instances") or \
        gdb.lookup_static_symbol("timerthread_instances")
    if symbol is None:
        raise gdb.GdbError("There is no debug information of libtimerthread.")
    return symbol.value()


def instances():
    head = list_head()
    link_type = head.type.unqualified().pointer()
    bits = 8 * link_type.sizeof
    link = head
    while int(link["next"]):
        # Addresses on the list are negated.
        at = -int(link["next"]) % 2**bits
        link = gdb.Value(at).cast(link_type).dereference()
        yield link["instance"].dereference()


class InfoTimers(gdb.Command):
    """Show the instances of libtimerthread and their timers.
Usage: info timers [-all] [INSTANCE]
INSTANCE is the name of one, or an expression for its address.  At most 100
timers of each are shown, those that expire first, unless -all is given."""

    def __init__(self):
        super().__init__("info timers", gdb.COMMAND_STATUS)

    def chosen(self, name):
        every = list(instances())
        if not name:
            return every
        some = [v for v in every if name_of(v) == name]
        if not some:
            try:
                at = int(gdb.parse_and_eval(name))
            except gdb.error:
                at = None  # nor is it an expression
            some = [v for v in every if int(v.address) == at]
        if not some:
            raise gdb.GdbError("There is no such instance: " + name)
        return some

    def show(self, value, most):
        instance = Instance(value)
        print(instance.head())
        for line in instance.running():
            print(line)
        timers, dead = instance.timers()
        print("  timers: %d, and %d that were cancelled" % (len(timers), dead))
        for timer in timers[:most]:
            print(timer.line(instance.now))
        if most is not None and len(timers) > most:
            print("    and %d more (info timers -all)" % (len(timers) - most))

    def invoke(self, argument, from_tty):
        self.dont_repeat()
        names = gdb.string_to_argv(argument)
        most = TIMERS_SHOWN
        if "-all" in names:
            names.remove("-all")
            most = None
        some = self.chosen(" ".join(names))
        if not some:
            print("There are no instances of libtimerthread.")
        for value in some:
            try:
                self.show(value, most)
            except gdb.MemoryError as e:
                print("  the rest cannot be read: %s" % e)


InfoTimers()
