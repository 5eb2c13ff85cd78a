#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.sh DIRECTORY: the packages that "make deb" has left in DIRECTORY, in a
# root of their own: they are installed, a client is built against them and
# runs, the package's own tests run, a later release of the library is built and
# installed while the client is running, and all is removed without a trace.
set -eu
srcdir=$(cd "${srcdir:?the sources}" && pwd)
debs=$(cd "$1" && pwd)

if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
	echo "this takes root, and debootstrap"
	exit 77
fi
# shellcheck disable=SC2016 # apt's variable, not ours
mirror=$(apt-get indextargets --format '$(REPO_URI)' \
	'Created-By: Packages' 'Component: main' | head -n 1)
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=$(mktemp -d)
client=
finish() {
	[ -z "$client" ] || kill "$client" 2>/dev/null || :
	umount "$root/proc" 2>/dev/null || :
	rm -rf "$root"
}
trap finish EXIT

say() {
	echo "== $*"
}
inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive "$@"
}

say "a root with a compiler, of $suite"
needed=$(sed -n '/^Depends: libtimerthread-dev,/,/^Restrictions/p' \
	"$srcdir/packaging/debian/tests/control" |
	sed '/^Restrictions/d; s/^Depends: libtimerthread-dev,//' | tr -d ' \n')
debootstrap --variant=minbase --include="$needed" "$suite" \
	"$root" "$mirror" >"$debs/debootstrap.log" 2>&1 || {
	tail -n 20 "$debs/debootstrap.log"
	echo "debootstrap failed; is $mirror in reach?"
	exit 77
}
mount -t proc proc "$root/proc"

# What dpkg keeps of its own, and caches, are no trace.
files() {
	(cd "$root" && find . -xdev -path ./var/lib/dpkg -prune -o \
		-path ./var/cache -prune -o -path ./var/log -prune -o \
		-path ./tmp -prune -o -path ./etc/ld.so.cache -prune -o \
		-print | sort)
}
files >"$debs/before"

say "they are installed"
cp "$debs"/libtimerthread1_*.deb "$debs"/libtimerthread-dev_*.deb "$root/tmp/"
inside sh -c 'dpkg -i /tmp/*.deb' >/dev/null
inside dpkg -V libtimerthread1 libtimerthread-dev

say "a client is built with pkg-config, and runs"
cp "$srcdir/test/packaging/client.c" "$root/tmp/"
# shellcheck disable=SC2016 # for the shell inside
inside sh -c 'cc -Wall -Werror /tmp/client.c -o /tmp/client \
	$(pkg-config --cflags --libs timerthread)'
# Not by a function: so this is the client's own id.
chroot "$root" /tmp/client >"$debs/client.out" &
client=$!
ticks() {
	wc -c <"$debs/client.out"
}
# more NUMBER: that many dots, after a while.
more() {
	for _ in $(seq 300); do
		[ "$(ticks)" -lt "$1" ] || return 0
		sleep 0.1
	done
	echo "FAIL: the client has no more than $(ticks) dots"
	exit 1
}
more 2

say "the package's own tests"
cp "$srcdir/packaging/debian/tests/examples" "$root/tmp/examples-test"
inside sh /tmp/examples-test

say "the next release is built, and installed while the client is running"
rm -rf "$debs/next"
mkdir "$debs/next"
(
	cd "$debs/next"
	# The make that runs this has options that are not for the package.
	unset MAKEFLAGS MFLAGS MAKELEVEL
	tar xf ../libtimerthread_*.orig.tar.xz
	cd libtimerthread-*
	cp -r "$srcdir/packaging/debian" .
	sed -i 's/^AC_INIT(\(.*\)\[1\.0\.0\]/AC_INIT(\1[1.0.1]/' configure.ac
	sed -i 's/\(_VERSION_PATCH\) 0/\1 1/' include/timerthread.h
	sed -i 's/-version-info 1:0:0/-version-info 1:1:0/' Makefile.am
	sed -i '1s/(.*)/(1.0.1-1)/' debian/changelog
	DEB_BUILD_OPTIONS="nocheck ${DEB_BUILD_OPTIONS-}" \
		dpkg-buildpackage -us -uc -b
) >"$debs/next.log" 2>&1 || {
	tail -n 40 "$debs/next.log"
	exit 1
}
rm -f "$root"/tmp/*.deb
cp "$debs"/next/libtimerthread1_1.0.1-1_*.deb \
	"$debs"/next/libtimerthread-dev_1.0.1-1_*.deb "$root/tmp/"
inside sh -c 'dpkg -i /tmp/*.deb' >/dev/null
# shellcheck disable=SC2016 # for the shell inside
[ "$(inside sh -c 'ls /usr/lib/*/libtimerthread.so.1.* | wc -l')" -eq 1 ] || {
	echo "FAIL: there is not exactly one library"
	exit 1
}
more $(($(ticks) + 2))

say "the client, as it was built, gets the new library"
[ "$(inside timeout -s TERM 1 /tmp/client | tail -n 1 | tr -d .)" = 101 ] || {
	echo "FAIL: it has another version"
	exit 1
}

say "they are removed"
inside dpkg -P libtimerthread-dev libtimerthread1 >/dev/null
# The client has the library still.
more $(($(ticks) + 2))
kill "$client"
wait "$client" || {
	echo "FAIL: the client's exit status was $?"
	exit 1
}
client=
# It has kept the library that it began with.
tail -n 1 "$debs/client.out" | grep '[.]1[.]0[.]0$'
files >"$debs/after"
diff "$debs/before" "$debs/after" || {
	echo "FAIL: something is left"
	exit 1
}
say "without a trace"
