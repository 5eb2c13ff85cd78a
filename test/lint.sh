#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The form of the sources: C is laid out as clang-format does it; C and READMEs
# have 80 columns; and scripts leave shellcheck nothing to say.  clang-format 14
# and 19 lay it out the same way; packaging/README says more.
set -eu
srcdir=${srcdir:?run this by make check}

for tool in clang-format shellcheck; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool is missing (Debian: $tool)"
		exit 77
	fi
done

cd "$srcdir"
failed=0
find include lib test examples -name '*.[ch]' -exec \
	clang-format --dry-run -Werror {} + || failed=1

# Comments too, which clang-format leaves as they are.
find HACKING NEWS README SECURITY include lib test examples \
	\( -name '*.[ch]' -o ! -name '*.*' -name '[A-Z]*' \) -type f -exec awk '
	{
		width = 0
		for (i = 1; i <= length($0); i++)
			width += substr($0, i, 1) == "\t" ? 8 - width % 8 : 1
	}
	width > 80 { print FILENAME ":" FNR ": " width " columns"; found = 1 }
	END { exit found }' {} + || failed=1

scripts=bootstrap
# These are not in the tarball.
for script in .ci/run packaging/*.sh packaging/debian/tests/examples; do
	[ ! -f "$script" ] || scripts="$scripts $script"
done
# shellcheck disable=SC2086 # a list of names without spaces
find lib man test -name '*.sh' -exec shellcheck $scripts {} + || failed=1

# What was built does not belong among the sources.
if [ -e .git ] && command -v git >/dev/null; then
	built=$(git ls-files -z | xargs -0 grep -lP '\x00' || true)
	[ -z "$built" ] || { echo "binary: $built"; failed=1; }
fi
exit "$failed"
