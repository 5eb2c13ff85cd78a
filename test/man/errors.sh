#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The man pages name under ERRORS what the header names in the comment of each
# function, and nothing else.  What every call on an instance may return stands
# once, in timerthread(7).
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

work=$builddir/test/man/errors.tmp
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# comments HEADER: "FUNCTION WORD..." for each function, with the words of the
# comment before its prototype.
comments() {
	awk '
		/^\/\*/ { comment = ""; inside = 1 }
		inside { comment = comment " " $0 }
		/\*\/$/ { inside = 0; next }
		!inside && match($0, /timerthread_[a-z_]*\(/) && !/^typedef/ {
			print substr($0, RSTART, RLENGTH - 1), comment
		}' "$1"
}

# "fails with -EAGAIN" tells of another function.
errors_in() {
	sed 's/ with -E//g' | grep -o -- '-E[A-Z]*' | sort -u
}

comment_of() {
	sed -n "s/^$1 //p" "$work/comments" | tr -s ' *' ' '
}

# Errors that a page may name because the comment refers to others:
# "Errors as timerthread_schedule", "Or what write(2) has failed with".
referred() {
	words=$(comment_of "$1")
	for other in $(echo "$words" |
		grep -o ' [aA]s timerthread_[a-z_]*\( and timerthread_[a-z_]*\)*' |
		grep -o 'timerthread_[a-z_]*'); do
		comment_of "$other" | errors_in
	done
	case $words in
	*'Or what write(2)'*) printf '%s\n' -EAGAIN -EBADF ;;
	esac
}

page_errors() {
	sed -n '/^\.SH ERRORS/,/^\.SH [^E]/p' "$1" |
		sed 's/\\-/-/g' | errors_in
}

header=$srcdir/include/timerthread.h
comments "$header" >"$work/comments"

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

errors=0
for page in "$srcdir"/man/man3/*.3; do
	grep -q '^\.so ' "$page" && continue
	functions=$(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$page" |
		grep -v typedef | grep -o 'timerthread_[a-z_]*(' | tr -d '(')
	for function in $functions; do
		comment_of "$function" | errors_in || :
	done | sort -u >"$work/must"
	for function in $functions; do
		referred "$function"
	done | sort -u - "$work/must" >"$work/may"
	page_errors "$page" >"$work/named"
	for error in $(comm -23 "$work/must" "$work/named"); do
		fail "$page: ERRORS lacks $error, which the header names"
	done
	for error in $(comm -13 "$work/may" "$work/named"); do
		fail "$page: ERRORS has $error, which the header does not"
	done
	errors=$((errors + $(wc -l <"$work/must")))
done
echo "$errors errors"
[ "$errors" -gt 0 ] || fail "the header names no errors"
general=$(page_errors "$srcdir/man/man7/timerthread.7")
for error in -ECHILD -EINVAL; do
	echo "$general" | grep -qx -- "$error" ||
		fail "timerthread(7): ERRORS lacks $error"
done
exit "$failed"
