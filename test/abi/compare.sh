# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: MIT
# What programs were built with, before and now; for the scripts that source
# this.  A description is what libabigail says of a library: its functions with
# their symbol versions, and the types of its header that they take or return.
for tool in abidw abidiff; do
	if ! command -v $tool >/dev/null; then
		echo "$tool is missing (Debian: abigail-tools)"
		exit 77
	fi
done
if ! abidw --help 2>&1 | grep -q -e --exported-interfaces-only; then
	echo "this is too old: $(abidw --version)"
	exit 77
fi

# describe LIBRARY HEADERS: its description.  Types that no header in that
# directory defines are private, and left out; so is where it was compiled.
describe() {
	description=$(abidw --exported-interfaces-only --headers-dir "$2" \
		--drop-private-types --no-corpus-path --no-comp-dir-path \
		--no-show-locs --no-parameter-names --no-elf-needed \
		--type-id-style hash "$1") && [ -n "$description" ] || return
	printf '%s\n' "$description" | sed "s| path='[^']*/| path='|"
}

# compare BEFORE NOW: prints what the second description changes in the first,
# and sets $change: none; added, if functions came; else broken.
compare() {
	if ! abidiff --no-added-syms "$1" "$2"; then
		change=broken
	elif ! abidiff "$1" "$2"; then
		change=added
	else
		change=none
	fi
}
