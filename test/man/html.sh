#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The manual as HTML: each page is there and on the index, each link leads to a
# page, and programs keep their empty lines.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

if ! command -v mandoc >/dev/null; then
	echo "mandoc is missing (Debian: mandoc)"
	exit 77
fi
html=$builddir/test/man/html.tmp
rm -rf "$html"
trap 'rm -rf "$html"' EXIT
sh "$srcdir/man/html.sh" "$srcdir" "$html"

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

for page in "$srcdir"/man/man[37]/*; do
	name=${page##*/}
	[ -s "$html/$name.html" ] || fail "there is no $name.html"
	function=${name%.[37]}
	grep -q "[>, ]${function}[<,]" "$html/index.html" ||
		fail "the index lacks $function"
done
# Of the contents at its head, and each is a heading.
for page in "$html"/*.7.html; do
	anchors=$(grep -o '<li class="[HS]"><a href="#[^"]*"' "$page" |
		sed 's/.*#//; s/"//')
	[ -n "$anchors" ] || fail "$page has no contents"
	for anchor in $anchors; do
		grep -qF "id=\"$anchor\"" "$page" ||
			fail "$page has no heading $anchor"
	done
	grep -q '<title>timerthread[a-z-]* - [a-z]' "$page" ||
		fail "the title of $page does not say what it is about"
done
! grep '<td>.*[\]' "$html/index.html" || fail "the index shows roff"
links=$(grep -ho 'href="[^"#]*"' "$html"/*.html | sed 's/href="//; s/"//' |
	sort -u)
for link in $links; do
	[ -e "$html/$link" ] || fail "a link leads to $link"
done
echo "$links" | grep -q 'timerthread_cancel.3.html' || fail "no links"
grep -q '^$' "$html/timerthread_cancel.3.html" ||
	fail "programs have lost their empty lines"
exit "$failed"
