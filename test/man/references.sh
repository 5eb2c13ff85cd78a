#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each page of ours that a man page refers to exists.  SEE ALSO is sorted, by
# section and name, and leads to the overview.  Each section that a page refers
# to is there.  timerthread-porting(7) names each program of examples/porting,
# and only subsections that it has.
set -eu
srcdir=${srcdir:?run this by make check}

man=$srcdir/man
sections=$(mktemp)
trap 'rm -f "$sections"' EXIT
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# pages FILE: "NAME SECTION" for ".BR name (3)" and "\fBname\fP(3)".
pages() {
	sed 's/\\-/-/g' "$1" | sed -n \
		-e 's/^\.BR \(timerthread[a-z_0-9-]*\) (\([0-9]\)).*/\1 \2/p' \
		-e 's/.*\\fB\(timerthread[a-z_0-9-]*\)\\f[PR](\([0-9]\)).*/\1 \2/p'
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
	echo "$also" | sed 's/\\-/-/g' |
		sed -n 's/^\.BR \([a-z_0-9-]*\) (\([0-9]\)).*/\2 \1/p' |
		LC_ALL=C sort -cf || fail "$page: SEE ALSO is not sorted"
done

# sections FILE: "PAGE NAME" for ".B NAME, in, .BR page (7)"; and for ".B NAME,
# below" the page itself.
sections() {
	sed 's/\\-/-/g' "$1" | awk -v own="${1##*/}" '
		/^\.B "?[A-Z]/ { sub(/^\.B "?/, ""); sub(/"$/, ""); name = $0
			state = 1; next }
		state == 1 && /^in$/ { state = 2; next }
		state == 1 && /^(below|above)/ { print own, name }
		state == 2 && /^\.BR timerthread[a-z-]* \(7\)/ { print $2 ".7", name }
		{ state = 0 }'
}

cited=0
for page in "$man"/man3/*.3 "$man"/man7/*.7; do
	sections "$page" >"$sections"
	while read -r other name; do
		cited=$((cited + 1))
		case $other in
		*.3) file=$man/man3/$other ;;
		*) file=$man/man7/$other ;;
		esac
		sed 's/\\-/-/g' "$file" | grep -qxE "\.S[HS] \"?$name\"?" ||
			fail "$page refers to $name in $other, which has none"
	done <"$sections"
done
echo "$cited references to sections"
[ "$cited" -gt 0 ] || failed=1

porting=$man/man7/timerthread-porting.7
named=$(sed 's/\\-/-/g' "$porting" |
	sed -n 's/^\.IR* \([a-z-]*\.c\).*/\1/p' | sort -u)
for source in "$srcdir"/examples/porting/*.c; do
	echo "$named" | grep -qx "${source##*/}" ||
		fail "$porting does not name ${source##*/}"
done
for source in $named; do
	[ -f "$srcdir/examples/porting/$source" ] ||
		[ -f "$srcdir/examples/$source" ] ||
		fail "$porting names $source, which does not exist"
done
# The first table leads to subsections, which are in bold there.
missing=$(sed -n '/^Question/,/^\.TE/s/^\\fB\(.*\)\\fP.*/\1/p' "$porting" |
	while read -r title; do
		grep -qx "\.SS $title" "$porting" || echo "$title;"
	done)
[ -z "$missing" ] || fail "$porting has no subsection $missing"
echo "$references references"
[ "$references" -gt 0 ] || failed=1
exit "$failed"
