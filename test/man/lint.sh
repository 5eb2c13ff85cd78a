#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mandoc and groff find nothing to say about the man pages, and set no line that
# is wider than a terminal of 80 columns, of which man(1) uses 78, nor a table
# that a printed page or its own columns cannot hold.
set -eu
srcdir=${srcdir:?run this by make check}

for tool in mandoc groff; do
	command -v $tool >/dev/null && continue
	echo "$tool is missing (Debian: mandoc, groff-base)"
	exit 77
done

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# too_wide NAME: of what it reads.
too_wide() {
	awk -v name="$1" '
		length > 80 { print name ": " $0; wide = 1 }
		END { exit !wide }'
}

# A page that only names another one (".so") is checked by pages.sh.
cd "$srcdir"
pages=$(grep -L '^\.so ' man/man[0-9]/*)
[ -n "$pages" ]
for page in $pages; do
	mandoc -T lint -W warning "$page" || fail "mandoc: $page"
	mandoc -T ascii -O width=80 "$page" | sed 's/.\x08//g' |
		too_wide "mandoc: $page" && failed=1
	for device in 'ascii -rLL=78n -P -cbou' 'ascii -rLL=80n -P -cbou' \
		'ps -P -pa4' 'ps -P -pletter'; do
		# shellcheck disable=SC2086 # a list of options
		said=$(groff -ww -t -man -T $device "$page" 2>&1 >/dev/null)
		[ -z "$said" ] || fail "groff -T $device: $page: $said"
	done
	groff -t -man -T ascii -rLL=80n -P -cbou "$page" |
		too_wide "groff: $page" && failed=1
done
exit "$failed"
