# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# For the functions in port.sh, and for check.sh, which sources this.

# run COMMAND...: where TT_RUN says.
run() {
	# shellcheck disable=SC2086 # a command
	${TT_RUN-} "$@"
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
	tries=$((10 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$tries" -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.1
	done
}

# ended PID: whether there is no such process any more.
ended() {
	! kill -0 "$1"
}

# switches PID: how often its threads have gone to sleep.
switches() {
	cat "/proc/$1/task/"*/status |
		awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'
}

# print_idle PID: the wake-ups of 10 seconds, and the resident memory.
print_idle() {
	begin=$(switches "$1")
	sleep 10
	echo "wakeups $(($(switches "$1") - begin))"
	awk '/^VmRSS/ { print "rss_kb", $2 }' "/proc/$1/status"
}

# print_lines FILE...: without comments and empty lines.
print_lines() {
	echo "lines $(cat "$@" | cc -xc -fpreprocessed -dD -E -P - |
		grep -c .)"
}
