#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the previous release offered is still there, unchanged, for programs that
# were built with it: each function with its symbol version and types, and each
# constant of the header.  What was added is fine, in a new node of the map; it
# says what else to do.  Until there is a release, the previous one is what the
# first is to be.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
# shellcheck source=test/abi/prototypes.sh
. "$(dirname "$0")/prototypes.sh"

previous=$srcdir/test/abi/previous
dir=$builddir/test/abi/guard.tmp
rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
failed=0

# constants HEADERS: each with what it stands for, but those of the version.
constants() {
	# shellcheck disable=SC2086 # a compiler may come with options
	echo '#include <timerthread.h>' | $CC -E -dM -I"$1" - |
		sed -n 's/^#define \(TIMERTHREAD_\)/\1/p' |
		grep -v -e '^TIMERTHREAD_VERSION' -e '^TIMERTHREAD_H ' | sort
}

constants "$previous" >"$dir/constants"
constants "$srcdir/include" >"$dir/constants.now"
[ -s "$dir/constants" ] || failed=1
if comm -23 "$dir/constants" "$dir/constants.now" | grep .; then
	echo "FAIL: these constants were changed or taken away"
	failed=1
fi
if misplaced "$previous" "$srcdir" | grep .; then
	echo "FAIL: the release before is out, and has their node without them"
	failed=1
fi
[ "$failed" -eq 0 ] || exit 1

# So far nothing depended on the tools.
# shellcheck source=test/abi/compare.sh
. "$(dirname "$0")/compare.sh"
# shellcheck source=test/abi/built.sh
. "$(dirname "$0")/built.sh"

# Another libabigail or compiler may describe even the same functions in another
# way.  So first it has to find no difference where there is none: between what
# was said of the previous release, and a library made of its header now.
stand_in "$previous" "$dir"
if ! describe "$dir/libtimerthread.so" "$previous" \
	>"$dir/control" 2>"$dir/log" ||
	! describe "$so" "$srcdir/include" >"$dir/now" 2>"$dir/log"; then
	echo "abidw fails here"
	cat "$dir/log"
	exit 77
fi
compare "$previous/libtimerthread.abi" "$dir/control" >"$dir/log" 2>&1
if [ "$change" != none ]; then
	echo "the tools here describe the release before in another way"
	cat "$dir/log"
	exit 77
fi

compare "$previous/libtimerthread.abi" "$dir/now"
case $change in
broken)
	echo "FAIL: programs that were built before may miss something"
	exit 1
	;;
added)
	echo "Functions were added since the release before.  They belong in"
	echo "a new node of lib/libtimerthread.map, which inherits the last;"
	echo "-version-info in Makefile.am gets 1 more of CURRENT and AGE, and"
	echo "REVISION 0, once in a release.  HACKING says what else they need."
	;;
esac
