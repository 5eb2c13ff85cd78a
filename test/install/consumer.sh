#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Installs into a scratch root, builds a program there as a user would, by
# pkg-config alone, in C and C++, against the shared and the static library,
# runs each, and uninstalls without a trace.
set -eu
# shellcheck source=test/install/scratch.sh
. "$(dirname "$0")/scratch.sh"
(cd "$root" && find . ! -type d | sort)

version=$(pkgconf --modversion)

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
