#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs genmc on each harness, as explore.sh runs explore.c.
set -eu
# shellcheck source=test/weak/list.sh
. "$(dirname "$0")/list.sh"

if ! command -v genmc >/dev/null; then
	echo "genmc is not installed (its sources: github.com/MPI-SWS/genmc)"
	exit 77
fi

# check MODEL HARNESS [SWITCH]: its verdict goes to ./out.  Loops that wait are
# cut by genmc itself, the others have few rounds; a fault that leaves a thread
# waiting is one of liveness.
check() {
	model=$1 harness=$2
	shift 2
	# shellcheck disable=SC2086
	genmc "--$model" --check-liveness --unroll=4 -- $flags "$@" \
		-DWEAK_GENMC "$weak/$harness.c" >"$dir/out" 2>&1
}

# A harness that does not compile is no verdict.
is_verdict() {
	grep -q "$1" "$dir/out" && return
	cat "$dir/out"
	echo "$2"
	exit 1
}

for harness in $harnesses; do
	for order in rc11 imm; do
		check "$order" "$harness" || :
		is_verdict 'No errors were detected' "$harness has an error"
		echo "$harness: $(grep 'executions explored' "$dir/out")"
	done
	for bug in $(bugs "$harness"); do
		check rc11 "$harness" "-DBUG_$bug" || :
		is_verdict 'Error.*\(violation\|race\)' \
			"$harness: $bug is not caught"
		echo "$harness, caught: $bug"
	done
done
