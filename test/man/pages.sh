#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every exported function, and every type, has a man page that names it and is
# installed, and every page that stands for another one finds it.  The overview
# lists every function, and timerthread-reference(7) in its HISTORY with the
# symbol version.
set -eu
srcdir=${srcdir:?run this by make check}
# shellcheck source=test/abi/prototypes.sh
. "$srcdir/test/abi/prototypes.sh"

man=$srcdir/man
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

exported=$(exports "$srcdir/lib/libtimerthread.map")
functions=$(echo "$exported" | sed 's/@.*//')
[ -n "$functions" ] || fail "no names found in the map"

types=$(statements "$srcdir/include/timerthread.h" | sed -n \
	-e 's/^typedef [^(]*[ *]\(timerthread_[a-z_]*\)(.*/\1/p' \
	-e 's/^typedef [^(]* \(timerthread_[a-z_]*\)$/\1/p' \
	-e 's/^\(enum\|struct\) \(timerthread_[a-z_]*\)$/\2/p')
[ -n "$types" ] || fail "no types found in the header"

for function in $functions $types; do
	page=$man/man3/$function.3
	if ! [ -f "$page" ]; then
		fail "$function has no page"
		continue
	fi
	grep -qw "man/man3/$function\.3" "$srcdir/Makefile.am" ||
		fail "$page is not in Makefile.am"
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
	printf '%s\n' "$functions" "$types" | grep -qx "$function" ||
		fail "$page documents nothing that the library has"
done

overview=$man/man7/timerthread.7
listed=$(sed -n '/^\.SH FUNCTIONS/,/^\.SH [^F]/p' "$overview" |
	grep -o 'timerthread_[a-z0-9_]*' || :)
for function in $functions; do
	echo "$listed" | grep -qx "$function" ||
		fail "$overview: FUNCTIONS lacks $function"
done
# "name@version", as of the map.
reference=$man/man7/timerthread-reference.7
history=$(sed -n '/^\.SH HISTORY/,/^\.TE/p' "$reference" |
	sed -n '/^\.TS/,$p' |
	grep -oE 'TIMERTHREAD_[0-9.]+|timerthread_[a-z0-9_]+' |
	awk '/^T/ { version = $0; next } { print $0 "@" version }')
for symbol in $exported; do
	echo "$history" | grep -qxF "$symbol" ||
		fail "$reference: HISTORY lacks $symbol"
done
for symbol in $history; do
	echo "$exported" | grep -qxF "$symbol" ||
		fail "$reference: HISTORY has $symbol, the map does not"
done
exit "$failed"
