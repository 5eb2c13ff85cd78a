# SPDX-License-Identifier: MIT
"""
What other processes took of the CPUs while a worker ran: figures from a busy
machine should say that they are.
"""
import os
import resource

FIELDS = 8  # user, nice, system, idle, iowait, irq, softirq, steal
IDLE = (3, 4)


def busy_seconds(path="/proc/stat"):
    """Of all CPUs since the machine started; steal is another's work too."""
    try:
        with open(path, encoding="ascii") as f:
            ticks = [int(x) for x in f.readline().split()[1:1 + FIELDS]]
    except (OSError, ValueError):
        return None
    busy = sum(n for i, n in enumerate(ticks) if i not in IDLE)
    return busy / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Others:
    def __init__(self):
        self.busy, self.children = busy_seconds(), children_seconds()

    def cpus(self, seconds):
        """As many CPUs were busy with them, on average; None: not known."""
        busy = busy_seconds()
        if busy is None or self.busy is None or seconds <= 0:
            return None
        own = children_seconds() - self.children
        return round(max(0.0, busy - self.busy - own) / seconds, 2)
