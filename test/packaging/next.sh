#!/bin/sh
# SPDX-License-Identifier: MIT
#
# next.sh SOURCES TARBALL DIRECTORY: the Debian packages of the release after
# that of the tarball, in DIRECTORY, as if only code had changed.  The last
# number of its version, and of the name of its library's file, is greater by 1.
# Prints its version.
set -eu
debian=$(cd "$1/packaging/debian" && pwd)
tarball=$(cd "$(dirname "$2")" && pwd)/${2##*/}

version=${tarball##*_}
version=${version%.orig.tar.xz}
patch=$((${version##*.} + 1))
next=${version%.*}.$patch

rm -rf "$3"
mkdir -p "$3"
cd "$3"
# The make that runs this has options that are not for the package.
unset MAKEFLAGS MFLAGS MAKELEVEL
tar xf "$tarball"
cd libtimerthread-*
cp -r "$debian" .

# change FILE OLD NEW: a text that must be there, for sed.
change() {
	grep -q "$2" "$1" || {
		echo "$1 has no $2" >&2
		exit 1
	}
	sed -i "s/$2/$3/" "$1"
}
revision=$(sed -n 's/^revision = //p' Makefile.am)
change configure.ac "\[$version\]" "[$next]"
change include/timerthread.h '\(_VERSION_PATCH\) .*' "\1 $patch"
change Makefile.am "^revision = $revision" "revision = $((revision + 1))"
change debian/changelog "($version-1)" "($next-1)"

DEB_BUILD_OPTIONS="nocheck ${DEB_BUILD_OPTIONS-}" \
	dpkg-buildpackage -us -uc -b >../build.log 2>&1 || {
	tail -n 40 ../build.log >&2
	exit 1
}
echo "$next"
