#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The program under EXAMPLES in timerthread(7) is a program: it compiles
# without a warning as a user would compile it, and runs.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

page=$srcdir/man/man7/timerthread.7
work=$builddir/test/man/examples.tmp
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# Each literal block of the section into a file of its own, with the escapes
# of roff taken back; the backslash itself last.
sed -n '/^\.SH "*EXAMPLES/,/^\.SH "*[^E]/p' "$page" |
	sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\(dq/"/g' \
		-e 's/\\(ti/~/g' -e 's/\\(ha/^/g' -e 's/\\&//g' \
		-e 's/\\(rs/\\e/g' -e 's/\\e/\\/g' |
	awk -v dir="$work" '
		/^\.EE/ { out = "" }
		out != "" { print >out }
		/^\.EX/ { out = dir "/" ++n ".c" }
	'

failed=0
programs=0
for source in "$work"/*.c; do
	# A block without main is a fragment, for reading.
	grep -q 'main(' "$source" || continue
	programs=$((programs + 1))
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
if [ "$programs" -eq 0 ]; then
	echo "FAIL: EXAMPLES of timerthread(7) has no program"
	failed=1
fi
exit "$failed"
