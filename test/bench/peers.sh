#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What is compared must be correct: the baselines, and the library beside them,
# pass the same check.  (Other peers: test/bench/bench-PEER check.)  What
# measures the library alone runs to its end.
set -eu
failed=0

passes() {
	if "$@"; then
		echo "$*: passed"
	else
		echo "$*: FAILED"
		failed=1
	fi
}

for name in 64-heaps brpc-design hashed-wheel one-heap timerthread wheels; do
	passes "test/bench/bench-$name" check
done
passes test/bench/self/bench-self --quick idle
passes test/bench/self/bench-structure --quick
exit "$failed"
