#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs into a scratch root, builds a program there as a user would, by
# pkg-config alone, in C and C++, against the shared and the static library,
# runs each, and uninstalls without a trace.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

if [ -n "$TT_SANITIZER" ]; then
	echo "programs would have to be built with the same sanitizer"
	exit 77
fi

case $builddir in
*[[:space:]]*)
	echo "libtool does not install into a path with a space"
	exit 77
	;;
esac

work=$builddir/test/install/consumer.tmp
root=$work/root
rm -rf "$work"
mkdir -p "$root"
trap 'rm -rf "$work"' EXIT

# The job server of the make that runs the tests is not for this one.
unset MAKEFLAGS MFLAGS MAKELEVEL

inside() {
	"$MAKE" -C "$builddir" "$1" DESTDIR="$root" >"$work/$1.log" 2>&1 || {
		cat "$work/$1.log"
		exit 1
	}
}

inside install
(cd "$root" && find . ! -type d | sort)

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

pkgconf() {
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH='' \
		PKG_CONFIG_LIBDIR=$root$TT_LIBDIR/pkgconfig \
		"$PKG_CONFIG" "$@" timerthread
}

version=$(pkgconf --modversion)

# try NAME EXPECTED COMMAND...: runs it, and its output must be as expected.
try() {
	name=$1 expected=$2
	shift 2
	if ! out=$("$@"); then
		fail "$name does not run"
	elif [ "$out" != "$expected" ]; then
		fail "$name printed '$out', not '$expected'"
	else
		echo "$name: $out"
	fi
}

# links_statically COMPILER: is there a static C library?
links_statically() {
	echo 'int main(void) { return 0; }' >"$work/static.c"
	# shellcheck disable=SC2086 # a compiler may come with options
	$1 -static "$work/static.c" -o "$work/static" 2>/dev/null && return
	echo "$1 cannot link statically here: that was not checked"
	return 1
}

# consumer NAME COMPILER LANGUAGE: builds it both ways and runs it.
consumer() {
	src=$srcdir/test/install/consumer.c
	if [ -e "$root$TT_LIBDIR/libtimerthread.so" ]; then
		# shellcheck disable=SC2046,SC2086 # lists of options
		$2 -Wall -Wextra -Werror -x "$3" "$src" -x none \
			-o "$work/$1-shared" $(pkgconf --cflags --libs) || {
			fail "$1: does not link to the shared library"
			return
		}
		try "$1, shared" "$version" \
			env LD_LIBRARY_PATH="$root$TT_LIBDIR" "$work/$1-shared"
	fi
	if [ -e "$root$TT_LIBDIR/libtimerthread.a" ] && links_statically "$2"; then
		# shellcheck disable=SC2046,SC2086
		$2 -static -Wall -Wextra -Werror -x "$3" "$src" -x none \
			-o "$work/$1-static" \
			$(pkgconf --static --cflags --libs) || {
			fail "$1: does not link to the static library"
			return
		}
		try "$1, static" "$version" "$work/$1-static"
	fi
}

consumer C "$CC" c
if command -v "${CXX%% *}" >/dev/null; then
	consumer C++ "$CXX" c++
else
	echo "no C++ compiler here: C alone was checked"
fi

# What is not ours must not be asked of who links to us.
case "$(pkgconf --static --cflags --libs) $(pkgconf --print-requires) \
$(pkgconf --print-requires-private)" in
*atomic_ops*) fail "timerthread.pc names libatomic_ops" ;;
esac

for page in "$srcdir"/man/man[0-9]/*; do
	name=${page##*/}
	find "$root" -name "$name" | grep -q . ||
		fail "the man page $name is not installed"
done

inside uninstall
left=$(cd "$root" && find . ! -type d)
[ -z "$left" ] || fail "uninstall left: $left"
exit "$failed"
