#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each example program runs to its end and reports success.
set -eu
builddir=${builddir:?run this by make check}

failed=0
# run EXAMPLE ARGUMENT...
run() {
	echo "== $*"
	example=$1
	shift
	timeout 120 "$builddir/examples/$example" "$@" </dev/null || {
		echo "FAIL: its exit status was $?"
		failed=1
	}
}

run first
run request-guard
run idle-connections
run connection-timers
run plugin-leaves
run rpc-deadlines --seconds 1
run epoll-echo --seconds 0.1
run epoll-echo --self-test
run several-pollers
run thread-pool
run pre-fork-server
run porting/condition-variable
run porting/due-time
run porting/fixed-delay
run porting/object
run porting/own-thread
run porting/shutdown
run porting/slack
run porting/under-a-lock
run porting/workers
# Built only where there is another library.
for example in loop-glib loop-libuv test-your-timeouts watchdog; do
	if [ -x "$builddir/examples/$example" ]; then
		run "$example"
	else
		echo "not built: $example"
	fi
done
exit "$failed"
