#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of the wake-up with Spin: as the code does it nothing is
# wrong; with any one thing left out something is.
set -eu

if ! command -v spin >/dev/null; then
	echo "spin is not installed (Debian: spin)"
	exit 77
fi
model=$(cd "$(dirname "$0")" && pwd)/wakeup.pml
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

two_buckets="-DPRODUCERS=2 -DTIMERS=1"
one_bucket="-DPRODUCERS=1 -DTIMERS=3"

# check LOOKS_FOR SWITCHES: Spin's verdict in ./out; false: it found an error.
check() {
	case $1 in
	assertions) compile=-DSAFETY run= ;;
	cycles) compile=-DNP run=-l ;;
	esac
	# shellcheck disable=SC2086
	spin $2 -a "$model"
	# shellcheck disable=SC2086
	${CC:-cc} -O2 -w $compile -DVECTORSZ=2048 -DCOLLAPSE -o pan pan.c
	# shellcheck disable=SC2086
	./pan -m1000000 $run >out
	grep -q 'errors: 0' out
}

# holds LOOKS_FOR SWITCHES: it must find nothing.
holds() {
	if ! check "$1" "$2" || grep -q 'search depth too small' out; then
		cat out
		echo "the model has an error"
		exit 1
	fi
	echo "$1, $2: $(grep -E 'states, stored' out)"
}

holds assertions "$two_buckets"
holds assertions "$one_bucket"
holds cycles "$two_buckets"

for bug in NO_CHECK NO_CHANGE NO_KICK NO_LIST NO_SEE NO_AWAKE RESET_LATE \
	READ_SEQ_LATE; do
	if ! check assertions "$two_buckets -D$bug"; then
		echo "$bug: caught by an assertion"
	elif ! check assertions "$one_bucket -D$bug"; then
		echo "$bug: caught by an assertion, with one bucket"
	elif ! check cycles "$two_buckets -D$bug"; then
		echo "$bug: caught as a cycle"
	else
		echo "$bug is not caught"
		exit 1
	fi
done
