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

# shellcheck source=test/packaging/root.sh
. "$srcdir/test/packaging/root.sh"
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

say "a root with a compiler, of $suite"
control=$srcdir/packaging/debian/tests/control
needed=$(sed -n '/^Depends:/,/^Restrictions:/p' "$control" |
	sed '/^Restrictions:/d; s/^Depends: libtimerthread-dev,//' |
	tr -d ' \n')
make_root "$suite" --include="$needed"

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
changed=$(inside dpkg -V libtimerthread1 libtimerthread-dev)
[ -z "$changed" ] || {
	echo "FAIL: $changed"
	exit 1
}
# With other architectures beside this one, what they share must be the same.
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
inside dpkg -L libtimerthread1 libtimerthread-dev | grep ^/usr/share/ |
	while read -r file; do
		if [ -f "$root$file" ] && zgrep -q "$multiarch" "$root$file"; then
			echo "FAIL: $file is of $multiarch alone"
			exit 1
		fi
	done

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
mkdir -p "$root/tmp/source/test"
cp -r "$srcdir/examples" "$srcdir/packaging/debian" "$root/tmp/source/"
cp "$srcdir/test/command.sh" "$root/tmp/source/test/"
inside sh -c 'cd /tmp/source && sh debian/tests/examples'

say "the next release is built, and installed while the client is running"
orig=$(echo "$debs"/libtimerthread_*.orig.tar.xz)
version=${orig##*_}
version=${version%.orig.tar.xz}
next=$(sh "$srcdir/test/packaging/next.sh" "$srcdir" "$orig" "$debs/next")
library() {
	# shellcheck disable=SC2016 # for the shell inside
	inside sh -c 'echo /usr/lib/*/libtimerthread.so.1.*'
}
before=$(library)
rm -f "$root"/tmp/*.deb
cp "$debs/next/libtimerthread1_$next"-1_*.deb \
	"$debs/next/libtimerthread-dev_$next"-1_*.deb "$root/tmp/"
inside sh -c 'dpkg -i /tmp/*.deb' >/dev/null
# Another file, in the place of that which the client has.
after=$(library)
case $after in
"$before" | *' '*)
	echo "FAIL: before it was $before, now $after"
	exit 1
	;;
esac
more $(($(ticks) + 2))

say "the client, as it was built, gets the new library"
[ "$(inside timeout -s TERM 1 /tmp/client | sed 's/^\.*//')" = "$next" ] || {
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
# It has kept the library that it began with.
[ "$(sed 's/^\.*//' "$debs/client.out")" = "$version" ] || {
	echo "FAIL: the client has lost its library"
	exit 1
}
files >"$debs/after"
diff "$debs/before" "$debs/after" || {
	echo "FAIL: something is left"
	exit 1
}
say "without a trace"
