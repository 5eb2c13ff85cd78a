#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples/watchdog tells systemd, whose part a script has here, that it is
# ready, that it is well, and that it ends.  When one of its workers hangs, it
# does not say that it is well, though its timer thread runs.
set -eu
builddir=${builddir:?run this by make check}
program=$builddir/examples/watchdog

if [ ! -x "$program" ]; then
	echo "it was not built: libsystemd is missing (Debian: libsystemd-dev)"
	exit 77
fi
if ! command -v python3 >/dev/null; then
	echo "python3 is missing (Debian: python3)"
	exit 77
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT PIPE TERM

cat >"$dir/systemd.py" <<'END'
import os
import signal
import socket
import subprocess
import sys

program, directory = sys.argv[1:]
PING = "WATCHDOG=1"
PERIOD_US = 200000
MANY = 400  # messages: more than 20 seconds of them


class Daemon:
    """The program with a mode; the watchdog is for it, or for another."""

    def __init__(self, mode, ours=True):
        path = os.path.join(directory, mode or "moment")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(60)
        pid = "$$" if ours else "1"
        self.process = subprocess.Popen(
            ["sh", "-c", f'ulimit -c 0; export WATCHDOG_PID={pid}; exec "$@"',
             "sh", program] + mode.split(),
            env=os.environ | {"NOTIFY_SOCKET": path,
                              "WATCHDOG_USEC": str(PERIOD_US)},
            stdin=subprocess.DEVNULL)

    def message(self):
        lines = self.socket.recv(4096).decode().split("\n")
        print(self.process.args[4:], lines)
        return lines

    def until(self, line):
        """All messages up to one with that line."""
        messages = [self.message()]
        while line not in messages[-1]:
            assert len(messages) < MANY, f"no {line}"
            messages.append(self.message())
        return messages

    def end(self, expected):
        status = self.process.wait(60)
        assert status == expected, f"its exit status was {status}"


def is_well(daemon):
    daemon.until("READY=1")
    for _ in range(5):
        daemon.until(PING)
    daemon.process.send_signal(signal.SIGTERM)
    daemon.until("STOPPING=1")
    daemon.end(0)


# On a slow machine a worker may be late, and be well later.
def hangs(daemon):
    daemon.until("READY=1")
    withheld, pings = 0, 0
    while withheld < 10:
        lines = daemon.message()
        if PING in lines:
            pings, withheld = pings + 1, 0
            assert pings < MANY, "it says that it is well"
        elif lines == ["STATUS=worker 1 is late"]:
            withheld += 1
    # As systemd ends it.
    daemon.process.send_signal(signal.SIGABRT)
    daemon.end(-signal.SIGABRT)


def is_not_watched(daemon):
    messages = daemon.until("STOPPING=1")
    assert ["READY=1"] in messages
    assert not any(PING in lines for lines in messages)
    daemon.end(0)


is_well(Daemon("serve"))
hangs(Daemon("hang"))
is_not_watched(Daemon("", ours=False))
END
python3 "$dir/systemd.py" "$program" "$dir"
