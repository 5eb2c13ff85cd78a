# SPDX-License-Identifier: MIT
"""
What the figures were taken on.
"""
import datetime
import os
import platform
import re
import resource
import shutil
import subprocess

CPU = "/sys/devices/system/cpu/cpu0/cpufreq/"
CLOCKS = "/sys/devices/system/clocksource/clocksource0/"
MARKS = rb"GCC: \([^)]*\) [0-9.]+|clang version [0-9.]+"


def first_line(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.readline().strip()
    except OSError:
        return ""


def cpu_info():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return "", ""
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    virtual = re.search(r"^flags\s*:.*\bhypervisor\b", text, re.M)
    return (model.group(1) if model else platform.machine(),
            "virtual machine" if virtual else "")


def frequency():
    governor = first_line(CPU + "scaling_governor")
    most = first_line(CPU + "cpuinfo_max_freq")
    words = [f"governor {governor}"] if governor else []
    words += [f"up to {int(most) // 1000} MHz"] if most.isdigit() else []
    return ", ".join(words) or "not visible"


def compilers(directory):
    """As they left their names in the workers."""
    found = set()
    for file in os.listdir(directory):
        path = os.path.join(directory, file)
        if file.startswith("bench-") and os.path.isfile(path) \
                and file != "bench-go":
            with open(path, "rb") as f:
                found |= set(re.findall(MARKS, f.read()))
    names = sorted(name.decode("ascii", "replace") for name in found)
    return ", ".join(names) or "not known"


def java():
    if not shutil.which("java"):
        return "none"
    try:
        text = subprocess.run(["java", "-version"], capture_output=True,
                              text=True, timeout=20, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return "not known"
    return next(iter(text.splitlines()), "not known")


def memory():
    words = first_line("/proc/meminfo").split()
    return f"{int(words[1]) >> 10} MiB" if len(words) > 1 else "not known"


def git(*words):
    """What it says of the sources; nothing if these are not from there."""
    sources = os.path.dirname(os.path.abspath(__file__))
    top = os.path.join(sources, "..", "..", "..")
    try:
        return subprocess.run(["git", "-C", top, *words, "--", "lib"],
                              capture_output=True, text=True, timeout=20,
                              check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def library():
    """The last commit that changed what is measured."""
    commit = git("log", "-1", "--format=%h of %cs")
    if commit and git("status", "--porcelain"):
        return commit + ", changed since"
    return commit or "not known"


def describe(directory):
    model, virtual = cpu_info()
    slack = first_line("/proc/self/timerslack_ns")
    return {
        "library": library(),
        "date": datetime.datetime.now().astimezone().isoformat(" ", "minutes"),
        "CPU": ", ".join(word for word in (model, virtual) if word),
        "CPUs": len(os.sched_getaffinity(0)),
        "frequency": frequency(),
        "memory": memory(),
        "kernel": f"{platform.system()} {platform.release()}, "
                  f"{platform.machine()}",
        "clock source": first_line(CLOCKS + "current_clocksource")
        or "not visible",
        "timer slack": f"{slack} ns" if slack else "not visible",
        "open files": f"{resource.getrlimit(resource.RLIMIT_NOFILE)[1]} "
                      "at most",
        "C library": " ".join(platform.libc_ver()),
        "compilers": compilers(directory),
        "java": java(),
        "load": "%.2f %.2f %.2f at the start" % os.getloadavg(),
    }
