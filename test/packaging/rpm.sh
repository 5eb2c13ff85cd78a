#!/bin/sh
# SPDX-License-Identifier: MIT
#
# rpm.sh DIRECTORY: the packages that "make rpm" has left in DIRECTORY.  Their
# file lists and what they provide and require are as they should be.  In a root
# of their own they are installed, a client is built against them and runs, and
# all is removed without a trace.
set -eu
srcdir=${srcdir:?the sources}
rpms=$(cd "$1" && pwd)
arch=$(rpm --eval '%{_target_cpu}')
libdir=$(rpm --eval '%{_libdir}')

say() {
	echo "== $*"
}
fail() {
	echo "FAIL: $*"
	exit 1
}

say "the file lists"
for part in '' -devel -static; do
	ls "$rpms"/libtimerthread$part-[0-9]*."$arch".rpm >/dev/null ||
		fail "there is no package libtimerthread$part"
done
package() {
	ls "$rpms"/libtimerthread"$1"-[0-9]*."$arch".rpm
}
listed() {
	rpm -qpl "$(package "$1")"
}
[ -z "$(for part in '' -devel -static; do
	listed "$part"
done | sort | uniq -d)" ] || fail "two packages have one file"
# expect PART NAME...: the package has these files.
expect() {
	part=$1
	shift
	for file; do
		listed "$part" | grep -qx "$file" ||
			fail "libtimerthread$part lacks $file"
	done
}
so='libtimerthread\.so'
expect '' "$libdir/$so\.1" "$libdir/$so\.1\.[0-9.]*" '.*/COPYING'
expect -devel "$libdir/$so" "$libdir/pkgconfig/timerthread\.pc" \
	/usr/include/timerthread.h '.*/man3/timerthread_schedule\.3.*' \
	'.*/man7/timerthread\.7.*' '.*/man7/timerthread-porting\.7.*' \
	'.*/man7/timerthread-system\.7.*' '.*/man7/timerthread-watching\.7.*' \
	'.*/doc/libtimerthread/README' \
	'.*/examples/first\.c' "/usr/share/gdb/auto-load$libdir/$so.*-gdb\.py"
expect -static "$libdir/libtimerthread\.a"
if listed '' | grep -E "^$libdir|^/usr/(include|share/(man|doc|gdb))" |
	grep -v "^$libdir/$so\.1"; then
	fail "these are for libtimerthread-devel"
fi

say "what they provide and require"
provided() {
	rpm -qp --provides "$(package "$1")" | grep -q "^$2" ||
		fail "libtimerthread$1 does not provide $2"
}
version=$(rpm -qp --qf '%{version}-%{release}' "$(package '')")
# On 64-bit machines with a mark behind it.
provided '' "$so\.1\(()(64bit)\)\{0,1\}$"
provided '' "$so\.1(TIMERTHREAD_1\.0)"
provided -devel 'pkgconfig(timerthread) = '
rpm -qp --requires "$(package -devel)" |
	grep -q "^libtimerthread(.*) = $version\$" ||
	fail "libtimerthread-devel fits another build of the library, too"

if [ "$(id -u)" -ne 0 ]; then
	echo "the rest takes root"
	exit 77
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
in_root() {
	rpm --root "$root" --dbpath /var/lib/rpm "$@"
}
# What rpm keeps of its own is no trace, nor are directories of the system.  But
# those of gdb's scripts are the package's own: gdb may not be installed.
files() {
	(cd "$root" && find . -path ./var/lib/rpm -prune -o \
		\( ! -type d -o -name '*timerthread*' -o \
		-path './usr/share/gdb*' \) -print | sort)
}
in_root --initdb
files >"$rpms/before"

say "they are installed"
# What they depend on are packages of another kind here.
in_root -i --nodeps "$(package '')" "$(package -devel)" "$(package -static)"
in_root -V --nodeps libtimerthread libtimerthread-devel libtimerthread-static

say "a client is built with pkg-config, and runs"
# The compiler and the C library are those of this machine.
flags() {
	PKG_CONFIG_SYSROOT_DIR="$root" \
		PKG_CONFIG_LIBDIR="$root$libdir/pkgconfig" \
		pkg-config "$@" timerthread
}
# shellcheck disable=SC2046 # lists of options
cc -Wall -Werror "$srcdir/examples/first.c" -o "$root/first" \
	$(flags --cflags --libs)
LD_LIBRARY_PATH="$root$libdir" "$root/first"
# shellcheck disable=SC2046
cc -Wall -Werror -static "$srcdir/examples/first.c" -o "$root/first" \
	$(flags --static --cflags --libs)
"$root/first"
rm "$root/first"

say "they are removed"
in_root -e libtimerthread-static libtimerthread-devel libtimerthread
files >"$rpms/after"
diff "$rpms/before" "$rpms/after" || fail "something is left"
say "without a trace"
