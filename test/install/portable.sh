#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Where the linker knows no version script, a make that is not GNU's builds a
# shared library that exports the names of the map and no others, and a program
# runs with it.  A copy of the sources is told that it is in such a place.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
# shellcheck source=test/abi/prototypes.sh
. "$srcdir/test/abi/prototypes.sh"

if ! [ -e "$builddir/.libs/libtimerthread.so" ]; then
	echo "no shared library was built"
	exit 77
fi
if [ -n "$TT_SANITIZER" ]; then
	echo "a sanitizer changes how the library is linked"
	exit 77
fi

another=$MAKE
if command -v bmake >/dev/null; then
	another=bmake
else
	echo "not tried: a make that is not GNU's (Debian: bmake)"
fi
# The job server of the make that runs the tests is not for this one.
unset MAKEFLAGS MFLAGS MAKELEVEL

work=$builddir/test/install/portable.tmp
rm -rf "$work"
mkdir -p "$work/test/bench"
trap 'rm -rf "$work"' EXIT
(cd "$srcdir" && cp -Rp Makefile.am Makefile.in aclocal.m4 build-aux \
	config.h.in configure configure.ac include lib m4 timerthread.pc.in \
	"$work" && cp -p test/bench/bench.am "$work/test/bench")
chmod -R u+w "$work"
# If the sources were configured where they are, no object is up to date.
find "$work" \( -name '*.lo' -o -name '*.o' -o -name '*.la' \) \
	-exec rm -f {} +

# logged NAME COMMAND...: there, with its output in a log, which is shown if it
# fails.
logged() {
	log=$work/$1.log
	shift
	(cd "$work" && "$@") >"$log" 2>&1 && return
	cat "$log"
	echo "FAIL: $*"
	exit 1
}

# What configure has found before, except for this library's own questions.
sed -n '/^## Cache variables/,/^## Output variables/p' "$builddir/config.log" |
	sed -n '/^ac_cv_env_/d; /^tt_cv_/d; /^[a-z]*_cv_[A-Za-z0-9_]*=/p' \
		>"$work/config.cache"
logged configure env MAKE="$another" ./configure --cache-file=config.cache \
	--disable-static --disable-dependency-tracking --without-valgrind \
	tt_cv_version_script=no CC="$CC" CFLAGS=-O0 \
	LDFLAGS="$TT_LDFLAGS" ATOMIC_OPS_CFLAGS="$ATOMIC_OPS_CFLAGS"
logged make "$another" -j 2 libtimerthread.la

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# GNU's nm may add versions.
# shellcheck disable=SC2086 # nm may come with options
$NM -D "$work/.libs/libtimerthread.so" |
	awk 'NF == 3 && $2 != "A" { print $3 }' | sort >"$work/library"
! grep @ "$work/library" || fail "names have versions"
exports "$srcdir/lib/libtimerthread.map" | sed 's/@.*//' | sort >"$work/map"
[ -s "$work/map" ] || fail "no names found in the map"
echo "map (-) and shared library (+):"
diff -u "$work/map" "$work/library" || fail "other names are exported"

version=$(sed -n 's/^Version: //p' "$work/timerthread.pc")
# shellcheck disable=SC2086 # lists of options
if $CC -Wall -Werror -I"$srcdir/include" "$srcdir/test/install/consumer.c" \
	-L"$work/.libs" -ltimerthread $TT_LDFLAGS -o "$work/consumer"; then
	out=$(LD_LIBRARY_PATH=$work/.libs "$work/consumer") ||
		fail "a program does not run"
	[ "$out" = "$version" ] || fail "a program printed '$out'"
else
	fail "a program does not link"
fi
echo "$another: $(wc -l <"$work/library") names, version $version"
exit "$failed"
