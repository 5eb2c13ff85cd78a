#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.sh DIRECTORY: the packages that "make deb" has left in DIRECTORY, in a
# root of their own: they are installed, a client is built against them and
# runs, the package's own tests run, the library is upgraded under the running
# client, and all is removed without a trace.
set -eu
srcdir=${srcdir:?the sources}
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
debootstrap --variant=minbase --include=gcc,libc6-dev,pkg-config "$suite" \
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
inside /tmp/client >"$debs/client.out" &
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

say "the library is upgraded under the client"
rm -rf "$debs/next"
mkdir "$debs/next"
for package in libtimerthread1 libtimerthread-dev; do
	dpkg-deb -R "$debs/${package}"_*.deb "$debs/next/$package"
	sed -i 's/^Version: .*/&+next1/; s/\(libtimerthread1 (= [^)]*\))/\1+next1)/' \
		"$debs/next/$package/DEBIAN/control"
	dpkg-deb -b "$debs/next/$package" "$root/tmp/next-$package.deb" \
		>/dev/null
done
inside sh -c 'dpkg -i /tmp/next-*.deb' >/dev/null
# shellcheck disable=SC2016 # dpkg's variable, not ours
[ "$(inside dpkg-query -W -f '${Version}' libtimerthread1)" != \
	"$(inside dpkg-deb -f "/tmp/$(cd "$debs" && echo libtimerthread1_*.deb)" \
		Version)" ] || {
	echo "FAIL: it was not upgraded"
	exit 1
}
more $(($(ticks) + 2))

say "they are removed"
inside dpkg -P libtimerthread-dev libtimerthread1 >/dev/null
# The client has the library still.
more $(($(ticks) + 2))
kill "$(pgrep -P "$client" 2>/dev/null || echo "$client")"
wait "$client" || {
	echo "FAIL: the client's exit status was $?"
	exit 1
}
client=
tail -n 1 "$debs/client.out"
files >"$debs/after"
diff "$debs/before" "$debs/after" || {
	echo "FAIL: something is left"
	exit 1
}
say "without a trace"
