#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What is compared must be correct: the baselines, and the library beside them,
# pass the same check.  (Other peers: test/bench/bench-PEER check.)
set -eu
failed=0
for name in 64-heaps brpc-design hashed-wheel one-heap timerthread wheels; do
	if "test/bench/bench-$name" check; then
		echo "$name: passed"
	else
		echo "$name: FAILED"
		failed=1
	fi
done
exit "$failed"
