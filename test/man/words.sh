#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The manual stays short: as many words as it may have, on all pages, on the
# pages that are read first, and on the page of a function that is in the middle
# of all by its length.  Programs count too.
set -eu
srcdir=${srcdir:?run this by make check}

if ! command -v mandoc >/dev/null; then
	echo "mandoc is missing (Debian: mandoc)"
	exit 77
fi

lengths=$(mktemp)
trap 'rm -f "$lengths"' EXIT
failed=0
# at_most LIMIT WORDS WHAT
at_most() {
	echo "$3: $2 words of at most $1"
	[ "$2" -le "$1" ] || {
		echo "FAIL: $3 is too long"
		failed=1
	}
}

words() {
	mandoc -T ascii "$1" | sed 's/.\x08//g' | wc -w
}

man=$srcdir/man
all=0
: >"$lengths"
for page in "$man"/man3/*.3 "$man"/man7/*.7; do
	grep -q '^\.so ' "$page" && continue
	n=$(words "$page")
	all=$((all + n))
	echo "${page##*.} $n" >>"$lengths"
done
middle=$(sed -n 's/^3 //p' "$lengths" | sort -n |
	awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)] }')
at_most 45000 "$all" 'all pages'
at_most 6000 "$(words "$man/man7/timerthread.7")" 'timerthread(7)'
at_most 2200 "$(words "$man/man7/timerthread-tutorial.7")" \
	'timerthread-tutorial(7)'
at_most 400 "$middle" 'the page of a function in the middle'
exit "$failed"
