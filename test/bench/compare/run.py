# SPDX-License-Identifier: MIT
"""
Runs the workers, one at a time, and writes down what each said.
"""
import json
import os
import resource
import signal
import subprocess
import sys
import time

from load import Others
from peers import command
from plan import takes


def available_mib():
    try:
        with open("/proc/meminfo", encoding="ascii") as f:
            for line in f:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) >> 10
    except OSError:
        pass
    return None


def prepare():
    """
    In the worker.  As many files as there may be, for facilities that need
    one a timer; and if memory runs out, it is the worker that goes.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as f:
            f.write("1000")
    except OSError:
        pass


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def execute(words, limit):
    """(exit status or None, standard output, standard error)"""
    with subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True, preexec_fn=prepare) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            end_group(process)
            return None, "", ""
        except BaseException:
            end_group(process)
            raise
    return process.returncode, out, err


def printed(out):
    """The object; what the facility itself may have printed is passed over."""
    for line in reversed(out.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError:
                return None
    return None


def message(err):
    """The last line that is not part of a listing or of a trace of calls."""
    lines = [line for line in err.splitlines()
             if line.strip() and not line[0].isspace()]
    return lines[-1][:200] if lines else "no message"


def error_of(status, out, err, limit):
    if status is None:
        return f"not over after {limit:.0f} s"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}: {message(err)}"
    if status > 0:
        return f"exit status {status}: {message(err)}"
    if printed(out) is None:
        return "printed no result"
    return None


def run_one(directory, case, peer):
    """A record, without the round."""
    free = available_mib()
    record = {"peer": peer, "work": case.work, "case": dict(case.keys)}
    if free is not None and free < case.needs:
        return {**record, "status": None, "took": 0,
                "skipped": f"{free} MiB free, {case.needs} wanted"}
    start, others = time.monotonic(), Others()
    limit = case.limit(peer)
    words = command(directory, peer, case.work, case.arguments())
    try:
        status, out, err = execute(words, limit)
    except OSError as e:
        status, out, err = 127, "", str(e)
    took = time.monotonic() - start
    record = {**(printed(out) or {}), **record, "status": status,
              "took": round(took, 3), "others_cpus": others.cpus(took)}
    error = error_of(status, out, err, limit)
    return {**record, "error": error} if error else record


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """
    A line for each case.  Time left is the plan's, corrected by how much that
    was out so far.
    """

    def __init__(self, jobs):
        self.planned, self.start, self.last = takes(jobs), time.time(), None

    def show(self, left, n, case):
        if (n, case) == self.last:
            return
        self.last = (n, case)
        done = self.planned - takes(left)
        pace = (time.time() - self.start) / done if done > 5 else 1
        print(f"{clock(takes(left) * pace):>6} left, round {n}: {case}",
              file=sys.stderr, flush=True)


def run_all(directory, jobs, write):
    """write(record) after each; those that came to no end are not repeated."""
    progress, endless = Progress(jobs), set()
    for i, (n, case, peer) in enumerate(jobs):
        progress.show(jobs[i:], n, case)
        if (case, peer) in endless:
            continue
        record = {**run_one(directory, case, peer), "round": n}
        if "error" in record:
            print(f"       {peer}: {record['error']}", file=sys.stderr)
        if record["status"] is None and "error" in record:
            endless.add((case, peer))
        write(record)
