#!/bin/sh
# SPDX-License-Identifier: MIT
#
# 64 threads do nearly 64 times what one does: pairs, pairs under a cap, and
# timers that are each the earliest.  Simulated, in virtual time: how busy this
# machine is does not matter.  First, that the simulator does what the C library
# does.
set -eu
srcdir=${srcdir:?run this by make check}
builddir=${builddir:?run this by make check}

if [ -n "${TT_SANITIZER-}" ]; then
	echo "not with a sanitizer: the simulator takes the place of one"
	exit 77
fi
SIM_CC=$(sh "$srcdir/test/bench/sim/build.sh" compiler 2>&1) || {
	echo "$SIM_CC"
	exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export SIM_CC builddir
unset COHSIM

# shellcheck disable=SC2086 # it may be of several words
if echo '#include <atomic>' |
	$SIM_CC -fsyntax-only -x c++ - 2>"$dir/errors"; then
	sh "$srcdir/test/bench/sim/build.sh" selftest "$dir/selftest"
	for cores in 1 2 5; do
		COHSIM=cores=$cores,report=0 "$dir/selftest"
	done
else
	echo "no C++ (Debian: g++): the simulator itself is not tested"
fi

sh "$srcdir/test/bench/sim/build.sh" simulated "$dir/bench-simulated"

# mops WORK THREADS: million operations a second.
mops() {
	"$dir/bench-simulated" many "what=$1" "threads=$2" us=20 >"$dir/out"
	sed -n 's/^{.*"mops": \([0-9.]*\).*/\1/p' "$dir/out"
}

failed=0
for work in pair cap earlier; do
	one=$(mops "$work" 1)
	many=$(mops "$work" 64)
	if awk "BEGIN { exit !($one > 0 && $many >= 40 * $one) }"; then
		verdict=passed
	else
		verdict="FAILED: less than 40 times as much"
		failed=1
	fi
	echo "$work: 1 thread $one, 64 threads $many million a second: $verdict"
done
exit "$failed"
