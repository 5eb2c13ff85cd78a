#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The form of the sources: C is laid out as clang-format does it, and scripts
# leave shellcheck nothing to say.
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

scripts=bootstrap
# Not in the tarball.
[ -f .ci/run ] && scripts="$scripts .ci/run"
# shellcheck disable=SC2086 # a list of names without spaces
find test -name '*.sh' -exec shellcheck $scripts {} + || failed=1
exit "$failed"
