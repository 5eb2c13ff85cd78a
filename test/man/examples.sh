#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each program under EXAMPLES in the manual, and in the tutorial, is one: it
# compiles without a warning as a user would compile it, and runs.  The first
# one in timerthread(7) is examples/first.c to the letter, and the calls with
# which the README begins are in that.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

work=$builddir/test/man/examples.tmp
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# Each literal block of the section into a file of its own, with the escapes
# of roff taken back; the backslash itself last.
extract() {
	awk '/^\.SH / { here = /EXAMPLES|A FIRST PROGRAM/ }
		here || FILENAME ~ /tutorial/' "$1" |
		sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' \
			-e 's/\\(ti/~/g' -e 's/\\(ha/^/g' -e 's/\\&//g' \
			-e 's/\\(rs/\\e/g' -e 's/\\e/\\/g' |
		awk -v out_of="$work/$(basename "$1")" '
			/^\.EE/ { out = "" }
			out != "" { print >out }
			/^\.EX/ { out = out_of "." ++n ".c" }
		'
}

for page in "$srcdir"/man/man3/*.3 "$srcdir"/man/man7/*.7; do
	extract "$page"
done

failed=0
programs=0
steps=0
for source in "$work"/*.c; do
	# A block without main is a fragment, for reading.
	grep -q 'main(' "$source" || continue
	programs=$((programs + 1))
	case $source in *tutorial*) steps=$((steps + 1)) ;; esac
	cat "$source"
	program=${source%.c}
	# shellcheck disable=SC2086 # a compiler may come with options
	if ! $CC -Wall -Wextra -Werror \
		${TT_SANITIZER:+-fsanitize=$TT_SANITIZER} \
		-I"$srcdir/include" "$source" -o "$program" \
		-L"$builddir/.libs" -ltimerthread -pthread; then
		failed=1
		continue
	fi
	LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		timeout 60 "$program" </dev/null || {
		echo "FAIL: the program's exit status was $?"
		failed=1
	}
done
if ! diff "$srcdir/examples/first.c" "$work/timerthread.7.1.c"; then
	echo "FAIL: the first program of timerthread(7) is not examples/first.c"
	failed=1
fi
# The README has the calls of that program, without the checks for errors.
tr -s ' \t\n' ' ' <"$srcdir/examples/first.c" >"$work/first"
sed -n '/^That is/q; s/;$//; s/^    \([a-z].*(&*tt.*\)/\1/p' \
	"$srcdir/README" >"$work/calls"
while read -r call; do
	grep -qF "$call" "$work/first" || {
		echo "FAIL: examples/first.c lacks what the README has: $call"
		failed=1
	}
done <"$work/calls"
[ "$(wc -l <"$work/calls")" -eq 4 ] || {
	echo "FAIL: the README begins with other calls"
	failed=1
}
if [ "$steps" -ne 6 ]; then
	echo "FAIL: the tutorial has $steps programs"
	failed=1
fi
echo "$programs programs"
exit "$failed"
