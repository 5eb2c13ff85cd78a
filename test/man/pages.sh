#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every exported function has a man page that names it, and every page that
# stands for another one finds it.
set -eu
srcdir=${srcdir:?run this by make check}

man=$srcdir/man
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

functions=$(grep -o 'timerthread_[a-z0-9_]*' "$srcdir/lib/libtimerthread.map")
[ -n "$functions" ] || fail "no names found in the map"

for function in $functions; do
	page=$man/man3/$function.3
	if ! [ -f "$page" ]; then
		fail "$function has no page"
		continue
	fi
	target=$(sed -n '1s/^\.so //p' "$page")
	if [ -n "$target" ]; then
		page=$man/$target
		if ! [ -f "$page" ]; then
			fail "$function: $target does not exist"
			continue
		fi
	fi
	# In NAME, for whatis(1), and in the SYNOPSIS as a prototype.
	sed -n '/^\.S[Hh] "*NAME/,/^\.S[Hh] "*SYNOPSIS/p' "$page" |
		grep -qw "$function" || fail "NAME of $page lacks $function"
	sed -n '/^\.S[Hh] "*SYNOPSIS/,/^\.S[Hh] "*DESCRIPTION/p' "$page" |
		grep -qw "$function" || fail "SYNOPSIS of $page lacks $function"
done

for page in "$man"/man3/*.3; do
	function=${page##*/}
	function=${function%.3}
	echo "$functions" | grep -qx "$function" ||
		fail "$page documents no exported function"
done
exit "$failed"
