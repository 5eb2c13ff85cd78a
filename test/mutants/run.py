#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Plants faults into a copy of the sources, one at a time, and says which tests
notice.

    run.py [-j N] SOURCES BUILD [WORD...]

BUILD is a directory for copies and what is made of them; an earlier one is used
again.  N faults are tried at a time, each in a copy of its own.  With WORDs only
faults whose titles have one of them are planted.  The faults are in the files
*.mutants beside this; their form:

    == TITLE
    file: PATH
    killed by: TEST [TEST...]     each as test_stat, torture or stress; as
                                  test_stat:polled with TT_DRIVER=polled; or as
                                  explore:fire, of test/weak
    ---
    LINES as they are, which occur once
    +++
    LINES in their place

"survives: REASON" in the place of "killed by" is for a fault that no test can
notice, or that changes nothing; then none is run, but it must still apply.

Faults in lib/os/posix are planted in a build with POSIX alone.
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TIMEOUT_S = 300
SKIPPED = 77  # the exit status of a test that cannot run here

# Of the 1200 s that a test has: a fault may make it hang.
CHECK_TIMEOUT_PART = "0.03"


class Mutant:
    def __init__(self, text, where):
        title, *lines = text.split("\n")
        self.title = title.strip()
        self.where = where
        self.path = self.killers = self.survives = None
        while lines and lines[0] != "---":
            key, _, value = lines.pop(0).partition(":")
            if key == "file":
                self.path = value.strip()
            elif key == "killed by":
                self.killers = value.split()
            elif key == "survives":
                self.survives = value.strip()
            elif key.strip() and self.survives:
                self.survives += " " + key.strip()
        old, _, new = "\n".join(lines[1:]).partition("\n+++")
        self.system = ("posix" if self.path
                       and self.path.startswith("lib/os/posix/") else "auto")
        self.old = old
        self.new = new.strip("\n")
        if not self.path or not (self.killers or self.survives):
            sys.exit("%s: %s: not whole" % (where, self.title))


def read_all(directory):
    for path in sorted(directory.glob("*.mutants")):
        for text in ("\n" + path.read_text()).split("\n== ")[1:]:
            yield Mutant(text, path.name)


def run(command, cwd, seconds=None, **env):
    """Its status; None: it took too long.  No process of it is left."""
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith(("TT_", "CK_"))}
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL, env=dict(clean, **env),
        start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        kill_session(process.pid)
        process.wait()


def kill_session(sid):
    """Check gives each test a process group of its own, but no session."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == sid:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass


def copy_of(sources, build):
    copy = build / "copy"
    copy.mkdir(parents=True, exist_ok=True)
    tar = subprocess.Popen(
        ["tar", "cf", "-", "--exclude=./build", "--exclude=./.git", "."],
        cwd=sources, stdout=subprocess.PIPE)
    subprocess.run(["tar", "xmf", "-"], cwd=copy, stdin=tar.stdout, check=True)
    if tar.wait() != 0:
        sys.exit("tar failed")
    return copy


def prepare(copy, build, system):
    """The copy is configured there, and the library is built."""
    made = build / ("made" if system == "auto" else "made-" + system)
    if not (made / "Makefile").exists():
        made.mkdir(exist_ok=True)
        # After each fault all that it changed is compiled as it was before.
        cc = ["CC=ccache gcc"] if shutil.which("ccache") else []
        if run([copy / "configure", "CFLAGS=-O1 -g", "--with-os=" + system]
               + cc, made) != 0:
            sys.exit("configure failed; see %s/config.log" % made)
    if run(["make", "-j2", "libcore.a"], made) != 0:
        sys.exit("make failed in %s" % made)
    return made


def program(test):
    """What make has to build for it; None: nothing."""
    name = test.partition(":")[0]
    if name == "explore":
        return None
    folder = name
    if name.startswith("test_"):
        folder = next(("os/" + p.parent.name for p in
                       HERE.parent.glob("os/*/" + name + ".c")), "unit")
    return "test/%s/%s" % (folder, name)


def notices(test, copy, made):
    part = test.partition(":")[2]
    if program(test) is None:
        script = copy / "test" / "weak" / "explore.sh"
        return run(["sh", script, part], made, TIMEOUT_S) not in (0, SKIPPED)
    status = run(["./" + program(test)], made, TIMEOUT_S,
                 TT_DRIVER=part or "thread",
                 CK_TIMEOUT_MULTIPLIER=CHECK_TIMEOUT_PART)
    return status != 0


def fails(test, copy, made):
    """Without a fault it must pass, or what it notices means nothing."""
    programs = [program(test)] if program(test) else []
    return (run(["make", "-j2", "libcore.a"] + programs, made) != 0
            or notices(test, copy, made))


def plant(mutant, copy, made):
    """Returns who has noticed, or what was wrong with the fault itself."""
    path = copy / mutant.path
    text = path.read_text()
    if text.count(mutant.old) != 1:
        return None, "it occurs %d times" % text.count(mutant.old)
    programs = sorted({program(t) for t in mutant.killers or []} - {None})
    try:
        path.write_text(text.replace(mutant.old, mutant.new))
        if run(["make", "-j2", "libcore.a"] + programs, made) != 0:
            return None, "it does not compile"
        return [t for t in mutant.killers or []
                if notices(t, copy, made)], None
    finally:
        path.write_text(text)


class Place:
    """A copy of the sources, and what is made of it, for one fault at a time."""

    def __init__(self, sources, build, systems):
        self.copy = copy_of(sources, build)
        self.made = {s: prepare(self.copy, build, s) for s in systems}

    def verdict(self, mutant):
        by, wrong = plant(mutant, self.copy, self.made[mutant.system])
        if wrong:
            return "failed", "FAILED: " + wrong
        if mutant.survives:
            return "known", "survives: " + mutant.survives
        if by:
            return "killed", "killed by " + " ".join(by)
        return "failed", "FAILED: nobody has noticed"


def each(function, items, places):
    """function(place, item) of all items, one at a time in each place."""
    free = queue.SimpleQueue()
    for place in places:
        free.put(place)

    def one(item):
        place = free.get()
        try:
            return function(place, item)
        finally:
            free.put(place)

    with concurrent.futures.ThreadPoolExecutor(len(places)) as pool:
        return list(pool.map(one, items))


def check_sound(mutants, places):
    tests = sorted({(m.system, t) for m in mutants for t in m.killers or []})

    def check(place, item):
        system, test = item
        return fails(test, place.copy, place.made[system])

    wrong = [t for (_, t), bad in zip(tests, each(check, tests, places)) if bad]
    if wrong:
        sys.exit("without a fault these fail: " + " ".join(wrong))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", type=int, default=1, metavar="N")
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    sources, build = args.sources.absolute(), args.build.absolute()
    mutants = [m for m in read_all(sources / "test" / "mutants")
               if not args.words or any(w in m.title for w in args.words)]
    if not mutants:
        sys.exit("no fault has such words in its title")
    systems = {m.system for m in mutants}
    places = [Place(sources, build / str(i), systems)
              for i in range(max(1, args.j))]
    check_sound(mutants, places)

    def try_one(place, mutant):
        result, text = place.verdict(mutant)
        print("%s: %s: %s" % (mutant.where, mutant.title, text), flush=True)
        return result

    results = each(try_one, mutants, places)
    print("%d killed, %d known to survive, %d failed" % tuple(
        results.count(r) for r in ("killed", "known", "failed")))
    sys.exit("failed" in results)


main()
