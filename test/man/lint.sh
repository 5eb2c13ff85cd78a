#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mandoc and groff find nothing to say about the man pages, and set no line that
# is wider than a terminal of 80 columns.
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
	said=$(groff -ww -t -man -T ascii -rLL=80n -P -cbou "$page" 2>&1 \
		>/dev/null)
	[ -z "$said" ] || fail "groff: $page: $said"
	groff -t -man -T ascii -rLL=80n -P -cbou "$page" |
		too_wide "groff: $page" && failed=1
done
exit "$failed"
