#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh SOURCES BUILD TARGET: which lines and branches of lib/ the tests
# run.  Builds in BUILD, makes TARGET there, prints a table, and names each line
# that nothing has run.  Fails where one has no reason in the file "reasons", or
# where less than 95 % of the lines have run.
set -eu

sources=$(cd "$1" && pwd) build=$2 target=$3
least=95

if ! command -v gcovr >/dev/null; then
	echo "make coverage: gcovr is missing (Debian: gcovr)" >&2
	exit 1
fi
mkdir -p "$build"
cd "$build"
# Without optimization a line of C is a line that can be counted.
[ -f Makefile ] ||
	"$sources/configure" --disable-shared CC=gcc \
		CFLAGS='-O0 -g --coverage -fprofile-update=atomic'
find . -name '*.gcda' -exec rm -f {} +
# Counting is slow.
: "${CK_TIMEOUT_MULTIPLIER=5}"
export CK_TIMEOUT_MULTIPLIER
gcc -O2 -c "$sources/test/coverage/flush.c" -o flush.o
make AM_LDFLAGS="-Wl,$PWD/flush.o" "$target"

gcovr --root "$sources" --object-directory . --filter "$sources/lib/" \
	--exclude-unreachable-branches --print-summary --fail-under-line $least \
	--json lines.json --txt table.txt .
cat table.txt
python3 "$sources/test/coverage/uncovered.py" "$sources" lines.json
