#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the shared library promises to the loader: its soname, no dependency
# but the C library, never unmapped, bound at load, no memory for variables of
# threads, no executable stack (if its flags say so, an overwritten one is
# noticed), that it calls its
# own functions, and that it has none of those of test/unit/checks.
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
names=$(LC_ALL=C "$READELF" --dyn-syms -W "$so")
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
# cleans_up: if an exception may pass, that library runs what functions do at
# their end.
cleans_up() {
	has " $TT_CFLAGS " ' -fexceptions ' &&
		has "$names" ' UND __gcc_personality_v0'
}
# number NAME: of those that libtool has made of -version-info.
number() {
	sed -n "s/^$1=//p" "$builddir/libtimerthread.la"
}
file=libtimerthread.so.1.$(number age).$(number revision)
[ "$(readlink "$so")" = "$file" ] || fail "the file is not $file"
for needed in $(printf '%s\n' "$dynamic" |
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case $needed in
	libc.so | libc.so.* | libc.musl-* | libpthread.so.*) ;;
	# The loader has what variables of threads need, or a canary.
	ld-linux* | ld64.so.*) ;;
	# On 32-bit Arm, tables for unwinding name their routines, there.
	libgcc_s.so.*)
		has "$names" ' UND __aeabi_unwind_cpp_pr' || cleans_up ||
			fail "it needs $needed"
		;;
	*) fail "it needs $needed" ;;
	esac
done
has "$dynamic" '\(FLAGS_1\).*NODELETE' || fail "dlclose would unmap it"
has "$dynamic" '\(FLAGS_1\).*NOW' || fail "it is not bound at load"
case $TT_LDFLAGS in
*-rpath*) ;;
*) has "$dynamic" '\(RPATH\)|\(RUNPATH\)' && fail "it has a run path" ;;
esac
has "$dynamic" '\(TEXTREL\)' && fail "it relocates its code"
# Else glibc allocates them when a thread first uses them, under the loader's
# lock.  musl loads no library with the flag STATIC_TLS, which the linker sets on
# some machines.
fixed=no wanted=no
has "$relocations" 'TPOFF|TP_?REL' && fixed=yes
has "$dynamic" '\(NEEDED\).*\[libc\.so\.6' && wanted=yes
[ "$fixed" = "$wanted" ] || fail "variables of threads at a fixed place: $fixed"
[ "$wanted" = yes ] && has "$relocations" 'DTPMOD|TLS_?DESC' &&
	fail "a variable of threads may need memory later"
has "$relocations" ' timerthread_' &&
	fail "it may call the functions of another copy"
has "$segments" '^ *GNU_RELRO' || fail "its relocations stay writable"
has "$segments" '^ *GNU_STACK .* RW +0x' || fail "its stack is executable"
case $TT_CFLAGS in
*-fstack-protector*)
	has "$relocations" ' __stack_chk_fail' ||
		fail "an overwritten stack is not noticed"
	;;
esac
# Not if it was stripped, which leaves no names.
local=$(LC_ALL=C "$READELF" -sW "$so")
has "$local" ' (bucket|heap|pending|queue|slots|slot_heap|wheel)_check$| must$' &&
	fail "it has a test's checkers"
exit "$failed"
