#!/bin/sh
# SPDX-License-Identifier: MIT
#
# html.sh SOURCES DIRECTORY: the manual as pages that link to each other, with
# index.html, in DIRECTORY.
set -eu
sources=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
# Pages that are there no more.
rm -f "$out"/*.html "$out/manual.css"

if ! command -v mandoc >/dev/null; then
	echo "make html: mandoc is missing (Debian: mandoc)" >&2
	exit 1
fi

toc=$(mktemp)
trap 'rm -f "$toc"' EXIT

# A page that stands for another one names it from here.
cd "$sources/man"

# describe PAGE: sets names, and purpose, as NAME has them.
describe() {
	line=$(sed -n '/^\.SH NAME/,/^\.SH [^N]/p' "$1" | grep -v '^\.' |
		sed 's/ *\\$//' | tr '\n' ' ' | sed 's/\\-/-/g; s/&/\&amp;/g; s/</\&lt;/g; s/ $//')
	names=${line% - *} purpose=${line##* - }
}

# The headings of a long page, as links.
contents() {
	case $1 in man7/*) ;; *) return ;; esac
	echo '<ul class="toc">'
	sed -n 's/^\.S\([HS]\) \(.*\)/\1 \2/p' "$1" | while read -r level name; do
		id=$(echo "$name" | tr ' ' _)
		echo "<li class=\"$level\"><a href=\"#$id\">$name</a></li>"
	done
	echo '</ul>'
}

# Empty lines of programs need a character, or mandoc leaves them out.  Headings
# and terms link to themselves; such links are taken out, for they may hold the
# names of pages.
page() {
	other=$(sed -n '1s/^\.so //p' "$1")
	describe "${other:-$1}"
	contents "$1" >"$toc"
	awk '/^\.E[XE]/ { program = /X/ }
		program && /^$/ { $0 = "\\~" }
		{ print }' "${other:-$1}" |
		mandoc -T html -O style=manual.css |
		sed -e 's|<a class="permalink" href="[^"]*">||g; s|</a>||g' \
			-e 's|<b>\(timerthread[a-z_-]*\)</b>(\([0-9]\))|<a href="\1.\2.html">\1(\2)</a>|g' \
			-e 's|<dt>\(&#x2022;\)</dt>|<dt class="mark">\1</dt>|' \
			-e 's|<dt>\([0-9]*\.\)</dt>|<dt class="mark">\1</dt>|' \
			-e 's|^&#x00A0;$||; s|<body>|<body><p><a href="index.html">Manual</a></p>|' \
			-e "s|<title>.*</title>|<title>$names - $purpose</title>|" \
			-e "/<div class=\"manual-text\">/r $toc"
}

# A row: names and what they are for.
row() {
	describe "$1"
	file=$(basename "$1").html
	echo "<tr><td><a href=\"$file\">$names</a></td>" "<td>$purpose</td></tr>"
}

# The overviews; then the functions by task, as timerthread(7) lists them.
rows() {
	echo man7/timerthread-tutorial.7
	echo man7/timerthread.7
	ls man7/timerthread-*.7
	sed -n '/^\.SH FUNCTIONS/,/^\.SH [^F]/p' man7/timerthread.7 |
		grep -o 'timerthread_[a-z_]*' | while read -r name; do
		other=$(sed -n '1s/^\.so //p' "man3/$name.3")
		echo "${other:-man3/$name.3}"
	done
}

for source in man7/*.7 man3/*.3; do
	page "$source" >"$out/$(basename "$source").html"
done
{
	cat <<-'E'
		<!DOCTYPE html>
		<html lang="en">
		<head>
		<meta charset="utf-8">
		<meta name="viewport" content="width=device-width">
		<link rel="stylesheet" href="manual.css">
		<title>libtimerthread: the manual</title>
		</head>
		<body>
		<h1>libtimerthread: the manual</h1>
		<table class="index">
	E
	rows | awk '!seen[$0]++' | while read -r source; do
		row "$source"
	done
	echo '</table></body></html>'
} >"$out/index.html"
cp "$sources/man/manual.css" "$out/"
