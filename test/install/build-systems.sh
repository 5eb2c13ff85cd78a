#!/bin/sh
# SPDX-License-Identifier: MIT
#
# CMake and Meson find the installed library, as examples/cmake and
# examples/meson show.
set -eu
# shellcheck source=test/install/scratch.sh
. "$(dirname "$0")/scratch.sh"

if ! [ -e "$root$TT_LIBDIR/libtimerthread.so" ]; then
	echo "there is no shared library"
	exit 77
fi
PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_LIBDIR=$root$TT_LIBDIR/pkgconfig
PKG_CONFIG_PATH=
LD_LIBRARY_PATH=$root$TT_LIBDIR
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR PKG_CONFIG_PATH \
	LD_LIBRARY_PATH
# The compiler's options are not for programs, but for one that the machine
# needs.
export CC

tried=0

# built NAME COMMAND...: with its output in a log, which is shown if it fails.
built() {
	name=$1
	shift
	"$@" >"$work/$name.log" 2>&1 && return
	cat "$work/$name.log"
	fail "$name"
	return 1
}

if command -v cmake >/dev/null; then
	tried=$((tried + 1))
	built cmake-configure cmake -S "$srcdir/examples/cmake" \
		-B "$work/cmake" &&
		built cmake-build cmake --build "$work/cmake" &&
		try CMake "request 1: done in time" "$work/cmake/first"
else
	echo "not tried: CMake, which is missing (Debian: cmake)"
fi

if command -v meson >/dev/null; then
	tried=$((tried + 1))
	built meson-setup meson setup "$work/meson" "$srcdir/examples/meson" &&
		built meson-compile meson compile -C "$work/meson" &&
		try Meson "request 1: done in time" "$work/meson/first"
else
	echo "not tried: Meson, which is missing (Debian: meson)"
fi

[ "$tried" -gt 0 ] || [ "$failed" -ne 0 ] || exit 77
exit "$failed"
