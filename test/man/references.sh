#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each page of ours that a man page refers to exists.  SEE ALSO is sorted, by
# section and name, and leads to the overview.
set -eu
srcdir=${srcdir:?run this by make check}

man=$srcdir/man
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# pages FILE: "NAME SECTION" for ".BR name (3)" and "\fBname\fP(3)".
pages() {
	sed -n -e 's/^\.BR \(timerthread[a-z_0-9]*\) (\([0-9]\)).*/\1 \2/p' \
		-e 's/.*\\fB\(timerthread[a-z_0-9]*\)\\f[PR](\([0-9]\)).*/\1 \2/p' \
		"$1"
}

references=0
for page in "$man"/man3/*.3 "$man"/man7/*.7; do
	grep -q '^\.so ' "$page" && continue
	own=${page##*/}
	for reference in $(pages "$page" | sort -u | tr ' ' '.'); do
		references=$((references + 1))
		[ -f "$man/man${reference##*.}/$reference" ] ||
			fail "$page refers to $reference, which does not exist"
	done
	also=$(sed -n '/^\.SH SEE ALSO/,$p' "$page")
	case $also in
	*"$own"*) fail "$page: SEE ALSO has the page itself" ;;
	esac
	[ "$own" = timerthread.7 ] || case $also in
	*'.BR timerthread (7)'*) ;;
	*) fail "$page: SEE ALSO lacks timerthread(7)" ;;
	esac
	echo "$also" | sed -n 's/^\.BR \([a-z_0-9]*\) (\([0-9]\)).*/\2 \1/p' |
		LC_ALL=C sort -cf || fail "$page: SEE ALSO is not sorted"
done
echo "$references references"
[ "$references" -gt 0 ] || failed=1
exit "$failed"
