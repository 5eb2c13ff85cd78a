#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the previous release offered is still there, unchanged, for programs that
# were built with it: each function with its symbol version and types, and each
# constant of the header.  What was added is fine; it says what else to do.
# Until there is a release, the previous one is what the first is to be.
set -eu
# shellcheck source=test/abi/compare.sh
. "$(dirname "$0")/compare.sh"
# shellcheck source=test/abi/built.sh
. "$(dirname "$0")/built.sh"

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

describe "$so" "$srcdir/include" >"$dir/now"
compare "$previous/libtimerthread.abi" "$dir/now"
case $change in
broken)
	echo "FAIL: programs that were built before may miss something"
	failed=1
	;;
added)
	echo "Functions were added since the release before.  They belong in"
	echo "a new node of lib/libtimerthread.map, which inherits the last;"
	echo "-version-info in Makefile.am gets 1 more of CURRENT and AGE, and"
	echo "REVISION 0, once in a release.  HACKING says what else they need."
	;;
esac

constants "$previous" >"$dir/constants"
constants "$srcdir/include" >"$dir/constants.now"
[ -s "$dir/constants" ] || failed=1
if comm -23 "$dir/constants" "$dir/constants.now" | grep .; then
	echo "FAIL: these constants were changed or taken away"
	failed=1
fi
exit "$failed"
