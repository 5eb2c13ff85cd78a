#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the man pages declare in their SYNOPSIS is what the header declares, to
# the letter, and each function of the header is declared in one page.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

. "$srcdir/test/abi/prototypes.sh"
work=$builddir/test/man/prototypes.tmp
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# synopsis PAGE: without roff.  A macro of alternating fonts sets its arguments
# without a space between them, but for those in quotes.
synopsis() {
	sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$1" |
		sed -e '/^\.BI* /!d' -e 's/^\.BI* //' -e 's/\\fR//; s/\\fP//' |
		awk -F '"' '
			NF == 1 { print; next }
			{
				line = ""
				for (i = 1; i <= NF; i++) {
					if (i % 2)
						gsub(/ /, "", $i)
					line = line $i
				}
				print line
			}'
}

statements "$srcdir/include/timerthread.h" | sort >"$work/header"
prototypes "$srcdir/include/timerthread.h" | sort >"$work/functions"
[ -s "$work/functions" ]
tr -s ' ' <"$srcdir/include/timerthread.h" >"$work/header.h"

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

: >"$work/pages"
for page in "$srcdir"/man/man3/*.3; do
	grep -q '^\.so ' "$page" && continue
	synopsis "$page" | grep -v '^#' >"$work/synopsis.h"
	statements "$work/synopsis.h" | sed 's/( /(/' >"$work/statements"
	[ -s "$work/statements" ] || fail "$page declares nothing"
	sort "$work/statements" | comm -23 - "$work/header" >"$work/others"
	[ ! -s "$work/others" ] ||
		fail "$page declares what the header does not:" \
			"$(cat "$work/others")"
	grep -v '^typedef\|^struct' "$work/statements" >>"$work/pages"

	# Instead of a value there may be a comment.
	synopsis "$page" | sed -n 's/ *\/\*.*//; s/  */ /g; /^#define/p' \
		>"$work/defines"
	while read -r line; do
		grep -qF -- "$line" "$work/header.h" ||
			fail "$page defines what the header does not: $line"
	done <"$work/defines"
done
sort "$work/pages" | diff "$work/functions" - ||
	fail "above: < a function that no page declares, > one too often"
exit "$failed"
