# SPDX-License-Identifier: MIT
"""
Who is compared: names, and the commands that run them.

A worker in C is DIR/bench-NAME, and its file's name is its name.  Workers in
other languages do for several names: the table below says how.
"""
import os

C_PEERS = (
    "timerthread", "timerthread-slack", "libevent", "libevent-common",
    "libuv", "libev", "glib", "asio", "timerfd", "timerfd-reused", "posix",
    "dpdk", "one-heap", "64-heaps", "brpc-design", "hashed-wheel", "wheels",
    "simulated")

# Netty's classes: where Debian has them, unless the environment says so.
NETTY = os.environ.get("NETTY_JAR") or "/usr/share/java/netty-common.jar"
JAVA = ("java", "-cp", "{dir}/java:" + NETTY, "Main")
JAVA_PROGRAM = "java/Main.class"

# name: the program that has to be there, what goes before the work, what goes
# behind it, and the seconds that a start takes.
OTHERS = {
    "go": ("bench-go", ("{dir}/bench-go",), ("peer=go",), 0.1),
    "go-loop": ("bench-go", ("{dir}/bench-go",), ("peer=none",), 0.1),
    "netty": (JAVA_PROGRAM, JAVA, ("peer=netty",), 0.6),
    "java-stpe": (JAVA_PROGRAM, JAVA, ("peer=stpe",), 0.6),
    "java-loop": (JAVA_PROGRAM, JAVA, ("peer=none",), 0.6),
}

# Who does one work alone: it differs from another in that only, or it is
# timerthread on simulated cores.
ONLY = {"timerthread-slack": "fire", "simulated": "many"}

# The same loops without timers: what is taken off.
LOOPS = ("loop", "go-loop", "java-loop")
LOOP_OF = {"go": "go-loop", "netty": "java-loop", "java-stpe": "java-loop"}


def loop_of(name):
    return LOOP_OF.get(name, "loop")


def is_program(path, mode=os.R_OK):
    return os.path.isfile(path) and os.access(path, mode)


def found_in(directory):
    """Names of all that can be run, timerthread first, the loops last."""
    names = []
    for file in os.listdir(directory):
        path = os.path.join(directory, file)
        if file.startswith("bench-") and "." not in file \
                and file != "bench-go" and is_program(path, os.X_OK):
            names.append(file[len("bench-"):])
    names += [name for name, row in OTHERS.items()
              if is_program(os.path.join(directory, row[0]))]
    return sorted(names, key=lambda name: (
        name in LOOPS, name != "timerthread", name))


def missing(names):
    known = C_PEERS + tuple(OTHERS) + LOOPS[:1]
    return [name for name in known if name not in names]


def with_loops(names):
    """These and their loops, without which nothing could be taken off."""
    loops = {loop_of(name) for name in names}
    return [n for n in names if n not in LOOPS] + \
        [n for n in LOOPS if n in loops or n in names]


def command(directory, name, work, arguments):
    if name not in OTHERS:
        return [os.path.join(directory, "bench-" + name), work, *arguments]
    _, before, behind, _ = OTHERS[name]
    before = [word.format(dir=directory) for word in before]
    return [*before, work, *behind, *arguments]


def start_takes(name):
    return OTHERS[name][3] if name in OTHERS else 0.05
