# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: MIT
# The library that was built, if it is like the one that test/abi/previous
# describes; for the scripts that source this.
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

so=$builddir/.libs/libtimerthread.so
previous=$srcdir/test/abi/previous
if ! [ -e "$so" ]; then
	echo "no shared library was built"
	exit 77
fi
if [ -n "$TT_SANITIZER" ]; then
	echo "a sanitizer may change the library"
	exit 77
fi
# Some types are the C library's.
# shellcheck disable=SC2086 # a compiler may come with options
if ! echo '#include <limits.h>' | $CC -E -dM - |
	awk '$2 == "__x86_64__" || $2 == "__LP64__" || $2 == "__GLIBC__" { n++ }
		END { exit n != 3 }'; then
	echo "only the library for x86-64 and glibc is described"
	exit 77
fi
if ! LC_ALL=C "$READELF" -SW "$so" | grep -q '\.debug_info'; then
	echo "the library was built without debug information (-g)"
	exit 77
fi
# With -g1 functions would seem to have lost theirs.
if ! LC_ALL=C "$READELF" --debug-dump=info "$so" |
	grep -q DW_TAG_formal_parameter; then
	echo "the debug information of the library has no parameters (-g1)"
	exit 77
fi
