#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What is compared must be correct: each peer that is built with the tests
# passes the same check, the library and the baselines among them.
set -eu
failed=0
for program in test/bench/bench-*; do
	name=${program#test/bench/bench-}
	case $name in
	*.* | loop) continue ;;
	esac
	if "$program" check; then
		echo "$name: passed"
	else
		echo "$name: FAILED"
		failed=1
	fi
done
exit "$failed"
