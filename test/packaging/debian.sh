#!/bin/sh
# SPDX-License-Identifier: MIT
#
# debian.sh SUITE: the sources pass ./bootstrap check on another Debian, in a
# root of its own.
set -eu
srcdir=$(cd "${srcdir:?the sources}" && pwd)
suite=$1

# shellcheck source=test/packaging/root.sh
. "$srcdir/test/packaging/root.sh"

say "a root of $suite"
make_root "$suite"

say "./bootstrap check there"
mkdir "$root/sources"
(cd "$srcdir" && git ls-files -co --exclude-standard -z |
	tar -c --null --files-from=-) | tar -x -C "$root/sources"
# Behind this script, which so can end it; a shell lets such commands ignore
# some signals.
inside env --default-signal=INT,QUIT HOME=/root /sources/bootstrap check &
wait $!
