# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: MIT
# Installs into a scratch root, for the script that sources this.
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

work=$builddir/test/install/$(basename "$0" .sh).tmp
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
