#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the shared library promises to the loader: its soname, no dependency
# but the C library, never unmapped, bound at load, no executable stack, an
# overwritten one is noticed, and that it calls its own functions.
set -eu
builddir=${builddir:?run this by make check}

so=$builddir/.libs/libtimerthread.so
if ! [ -e "$so" ]; then
	echo "no shared library was built"
	exit 77
fi
if [ -n "$TT_SANITIZER" ]; then
	echo "a sanitizer changes how the library is linked"
	exit 77
fi

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

dynamic=$(LC_ALL=C "$READELF" -dW "$so")
relocations=$(LC_ALL=C "$READELF" -rW "$so")
segments=$(LC_ALL=C "$READELF" -lW "$so")
echo "$dynamic"
echo "$segments"

# has TEXT PATTERN: whether a line of it matches.
has() {
	printf '%s\n' "$1" | grep -Eq "$2"
}

has "$dynamic" '\(SONAME\).*\[libtimerthread\.so\.1\]' ||
	fail "the soname is not libtimerthread.so.1"
[ -f "$builddir/.libs/libtimerthread.so.1.0.0" ] ||
	fail "the file is not libtimerthread.so.1.0.0"
for needed in $(printf '%s\n' "$dynamic" |
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case $needed in
	libc.so | libc.so.* | libc.musl-* | libpthread.so.* | ld-linux*) ;;
	*) fail "it needs $needed" ;;
	esac
done
has "$dynamic" '\(FLAGS_1\).*NODELETE' || fail "dlclose would unmap it"
has "$dynamic" '\(FLAGS_1\).*NOW' || fail "it is not bound at load"
has "$dynamic" '\(RPATH\)|\(RUNPATH\)' && fail "it has a run path"
has "$dynamic" '\(TEXTREL\)' && fail "it relocates its code"
has "$relocations" ' timerthread_' &&
	fail "it may call the functions of another copy"
has "$segments" '^ *GNU_RELRO' || fail "its relocations stay writable"
has "$segments" '^ *GNU_STACK .* RW +0x' || fail "its stack is executable"
case $HARDEN_CFLAGS in
*-fstack-protector*)
	has "$relocations" ' __stack_chk_fail' ||
		fail "an overwritten stack is not noticed"
	;;
esac
exit "$failed"
