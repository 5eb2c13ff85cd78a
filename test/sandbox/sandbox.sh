#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The system calls that timerthread-system(7) lists are all that the library
# makes: each driver is used under a filter that kills the process for any other.
# Then that this test can fail: without a call that is needed it does.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
page=$srcdir/man/man7/timerthread-system.7
confined=$builddir/test/sandbox/confined

if [ "$TT_OS" != linux ]; then
	echo "the manual lists the system calls of the set for Linux"
	exit 77
fi
if [ -n "$TT_SANITIZER" ]; then
	echo "a sanitizer makes calls of its own"
	exit 77
fi
if ! [ -x "$confined" ]; then
	echo "libseccomp is missing (Debian: libseccomp-dev)"
	exit 77
fi

# listed PHASE DRIVER CLOCK: the names in that table, of rows for all, for the
# driver or for the clock.
listed() {
	awk -F '\t' -v phase="$1" -v driver="$2" -v clock="$3" '
	/^\.SH / { inside = /SYSTEM CALLS/ }
	/^\.SS / { inside = inside && 1; now = tolower(substr($0, 5)) }
	inside && now == phase && $1 ~ /^[a-z][a-z0-9_]*$/ && NF >= 2 {
		n = split($2, who, ", ")
		for (i = 1; i <= n; i++) {
			if (who[i] == "all" || who[i] == driver ||
			    who[i] == driver " on " clock ||
			    who[i] == "thread" && driver == "default")
				name[$1]
		}
	}
	END { for (n in name) print n }' "$page"
}

# What the test program itself does: its threads end, it says what is wrong, and
# ends; it waits as a loop does; and before that it loads the second filter.
own='sched_yield write exit_group exit rt_sigprocmask madvise'

# run DRIVER CLOCK [NAME]: with the calls that are listed, but for that one; and
# without standard input, whose number the first descriptor then gets.
run() {
	start=$(listed "to create and start" "$1" "$2" | grep -vx "${3-none}")
	later=$(listed "from then on" "$1" "$2" | grep -vx "${3-none}")
	[ "$1" != polled ] || later="$later poll"
	"$confined" "$1" "$2" "$start seccomp sched_yield write exit_group" "$later $own" <&-
}

failed=0
for how in 'thread monotonic' 'thread realtime' 'thread boottime' \
	'polled monotonic' 'polled realtime' 'polled boottime' \
	'virtual monotonic' 'default monotonic'; do
	status=0
	# shellcheck disable=SC2086 # two words
	run $how || status=$?
	if [ "$status" -eq 159 ]; then
		echo "FAIL: $how: it made a system call that is not listed"
		failed=1
	elif [ "$status" -ne 0 ]; then
		echo "FAIL: $how: its exit status was $status"
		failed=1
	else
		echo "$how: no other system calls"
	fi
done

for missing in 'thread monotonic futex' 'thread boottime timerfd_settime' \
	'thread boottime poll' 'polled monotonic fcntl' \
	'polled monotonic timerfd_create' 'thread monotonic prctl' \
	'thread monotonic sched_getattr' 'virtual monotonic mmap' \
	'default monotonic sched_setaffinity' \
	'default monotonic setpriority'; do
	status=0
	# shellcheck disable=SC2086 # three words
	run $missing 2>/dev/null || status=$?
	if [ "$status" -ne 159 ]; then
		echo "FAIL: without ${missing##* }: its exit status was $status"
		failed=1
	fi
done
exit "$failed"
