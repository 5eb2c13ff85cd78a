#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The functions of the header, the names in the symbol map and the symbols
# of the shared library are the same, each under the map's version, and all
# of them begin with timerthread_.  The static library has just the same, so
# that no other name of it can meet one of the user's program: but for one that
# is hidden and begins so, and one that no program can have.  Debian's list of
# symbols has each version, where it is here: it is not in the tarball.  A linker
# that knows no versions has the names alone.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
# shellcheck source=test/abi/prototypes.sh
. "$(dirname "$0")/prototypes.sh"

dir=$builddir/test/abi/names.tmp
rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT

functions "$srcdir/include/timerthread.h" >"$dir/header"
exports "$srcdir/lib/libtimerthread.map" >"$dir/map"
sed 's/@.*//' "$dir/map" | sort >"$dir/map.names"

failed=0
[ -s "$dir/map" ] || { echo "no names found in the map"; failed=1; }
echo "header (-) and map (+):"
diff -u "$dir/header" "$dir/map.names" || failed=1
echo "names that do not begin with timerthread_:"
! grep -v '^timerthread_' "$dir/header" "$dir/map" || failed=1

so=$builddir/.libs/libtimerthread.so
if [ -e "$so" ]; then
	echo "map (-) and shared library (+):"
	[ "${TT_VERSIONS-}" != no ] || cp "$dir/map.names" "$dir/map"
	# "@@" marks a default version; the nodes are absolute symbols.
	# shellcheck disable=SC2086
	$NM -D --defined-only --with-symbol-versions "$so" |
		awk '$2 != "A" { sub(/@@/, "@", $3); print $3 }' |
		sort >"$dir/library"
	diff -u "$dir/map" "$dir/library" || failed=1
fi
archive=$builddir/.libs/libtimerthread.a
# Of lib/os/call.c, and of the header for probes.
hidden='timerthread_call_personality _.stapsdt.base'
hidden="$hidden DW.ref.__gcc_personality_v0" # with -fexceptions
if [ -e "$archive" ]; then
	echo "map (-) and static library (+):"
	# shellcheck disable=SC2086
	$NM -g --defined-only "$archive" |
		awk -v hidden=" $hidden " 'NF == 3 &&
			!index(hidden, " " $3 " ") { print $3 }' |
		sort >"$dir/archive"
	diff -u "$dir/map.names" "$dir/archive" || failed=1
fi
debian=$srcdir/packaging/debian/libtimerthread1.symbols
if [ -e "$debian" ]; then
	nodes=$(exports "$srcdir/lib/libtimerthread.map" | sed 's/.*@//' |
		sort -u)
	for node in $nodes; do
		grep -qF "(symver)$node " "$debian" && continue
		echo "$debian lacks $node"
		failed=1
	done
fi
exit "$failed"
