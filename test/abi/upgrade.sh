#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A program that was built with the previous release, and makes each of its
# calls, runs with the library of now.  A library that stands in for that of the
# release has its functions and their versions.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
# shellcheck source=test/abi/prototypes.sh
. "$(dirname "$0")/prototypes.sh"

so=$builddir/.libs/libtimerthread.so
if ! [ -e "$so" ]; then
	echo "no shared library was built"
	exit 77
fi
if [ -n "$TT_SANITIZER" ]; then
	echo "the program would have to be built with the same sanitizer"
	exit 77
fi

previous=$srcdir/test/abi/previous
dir=$builddir/test/abi/upgrade.tmp
rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT

stand_in "$previous" "$dir"
# shellcheck disable=SC2086 # a compiler may come with options
$CC -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$previous" \
	"$srcdir/test/abi/client.c" "$dir/libtimerthread.so" -pthread \
	-o "$dir/client"

functions "$previous/timerthread.h" >"$dir/header"
$NM -D --undefined-only "$dir/client" | grep -o 'timerthread_[A-Za-z0-9_]*' |
	sort >"$dir/calls"
echo "previous header (-) and what client.c calls (+):"
diff -u "$dir/header" "$dir/calls"

LD_LIBRARY_PATH=$builddir/.libs "$dir/client"
