#!/bin/sh
# SPDX-License-Identifier: MIT
#
# rpm.sh SOURCES TARBALL DIRECTORY: the packages for systems with rpm, built
# from a release's tarball, in DIRECTORY; then what rpmlint says of them, if it
# is here.  RPMBUILDFLAGS: for rpmbuild, such as "--without check".
set -eu
sources=$(cd "$1/packaging" && pwd)
tarball=$(cd "$(dirname "$2")" && pwd)/${2##*/}

if ! command -v rpmbuild >/dev/null; then
	echo "make rpm: rpmbuild is missing (Debian: rpm)" >&2
	exit 1
fi
# The make that runs this has options that are not for the package.
unset MAKEFLAGS MFLAGS MAKELEVEL

rm -rf "$3"
mkdir -p "$3/SOURCES"
cd "$3"
name=${tarball##*/}
name=${name%.tar.xz}
cp "$tarball" SOURCES/
sed "s/@VERSION@/${name##*-}/" "$sources/timerthread.spec.in" \
	>libtimerthread.spec

# Elsewhere than where packages are rpm's, it cannot see what is installed.
if ! rpm -q rpm >/dev/null 2>&1; then
	RPMBUILDFLAGS="--nodeps ${RPMBUILDFLAGS-}"
fi
# shellcheck disable=SC2086 # a list of options
rpmbuild -ba --define "_topdir $PWD" ${RPMBUILDFLAGS-} libtimerthread.spec
find RPMS SRPMS -name '*.rpm' -exec mv {} . \;
rm -rf BUILD BUILDROOT RPMS SOURCES SPECS SRPMS
if command -v rpmlint >/dev/null; then
	rpmlint --config "$sources/rpmlintrc.toml" libtimerthread.spec ./*.rpm
fi
ls -l ./*.rpm
