#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of the wake-up with Spin: as the code does it there is no
# lost wake-up; with any one thing left out there is.
set -eu

if ! command -v spin >/dev/null; then
	echo "spin is not installed (Debian: spin)"
	exit 77
fi
model=$(cd "$(dirname "$0")" && pwd)/wakeup.pml
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Prints Spin's verdict; $1 are the switches.
verify() {
	# shellcheck disable=SC2086
	spin $1 -a "$model"
	${CC:-cc} -O2 -w -DSAFETY -DVECTORSZ=2048 -DCOLLAPSE -o pan pan.c
	./pan -m100000
}

verify "" >out
if ! grep -q 'errors: 0' out || grep -q 'search depth too small' out; then
	cat out
	echo "the model has an error"
	exit 1
fi
grep -E 'states, stored|errors:' out

for bug in NO_CHECK NO_CHANGE NO_KICK RESET_LATE READ_SEQ_LATE; do
	verify "-D$bug" >out
	if grep -q 'errors: 0' out; then
		echo "$bug is not caught"
		exit 1
	fi
	echo "$bug: caught"
done
