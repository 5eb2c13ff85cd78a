#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deb.sh SOURCES TARBALL DIRECTORY: the packages for Debian, built from a
# release's tarball, in DIRECTORY; then what lintian says of them, which fails
# for anything that has no override.
set -eu
debian=$(cd "$1/packaging/debian" && pwd)
tarball=$(cd "$(dirname "$2")" && pwd)/${2##*/}

for tool in dpkg-buildpackage dh lintian; do
	if ! command -v $tool >/dev/null; then
		echo "make deb: $tool is missing (Debian: build-essential" \
			"debhelper lintian)" >&2
		exit 1
	fi
done
# The make that runs this has options that are not for the package.
unset MAKEFLAGS MFLAGS MAKELEVEL

rm -rf "$3"
mkdir -p "$3"
cd "$3"
name=${tarball##*/}
name=${name%.tar.xz}
cp "$tarball" "$(echo "$name" | sed 's/-\([0-9]\)/_\1/').orig.tar.xz"
tar xf "$tarball"
cp -r "$debian" "$name/debian"
(cd "$name" && dpkg-buildpackage -us -uc)
lintian --version
# Another release of lintian may have other tags.
lintian --pedantic --display-info \
	--fail-on "${LINTIAN_FAIL_ON:-error,warning,info,pedantic}" ./*.changes
ls -l ./*.deb
