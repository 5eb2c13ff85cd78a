#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The static probes that timerthread-watching(7) names are in the library, with as many
# arguments, and no others; and the script for bpftrace sees them at work, where
# this kernel lets it.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

so=$builddir/.libs/libtimerthread.so
if ! [ -e "$so" ] || [ "$TT_PROBES" != yes ]; then
	echo "no shared library was built with probes (Debian: systemtap-sdt-dev)"
	exit 77
fi

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# Lines "name arguments".
there=$(LC_ALL=C "$READELF" -n "$so" | awk '
	$1 == "Provider:" { ours = $2 == "timerthread" }
	$1 == "Name:" { name = $2 }
	$1 == "Arguments:" && ours { print name, NF - 1 }' | sort -u)
# In the manual: .BI "name(" a ", " b )
named=$(sed -n 's/^\.BI "\([a-z_]*\)(" \(.*\) )$/\1 \2/p' \
	"$srcdir/man/man7/timerthread-watching.7" | sed 's/" *, *"//g' |
	awk '{ print $1, NF - 1 }' | sort -u)
echo "$there"
[ -n "$there" ] || fail "there is none"
[ "$there" = "$named" ] || fail "the manual names these: $named"

# Tracing takes root, a kernel that has it, and bpftrace.
if ! command -v bpftrace >/dev/null ||
	! bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then
	echo "not run: bpftrace examples/timers.bt (it is missing, or may not)"
	exit "$failed"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# It takes a program, not what libtool makes to run one in place.
LD_LIBRARY_PATH=$builddir/.libs "$builddir/examples/.libs/rpc-deadlines" \
	--seconds 5 >/dev/null 2>&1 </dev/null &
pid=$!
until grep -q libtimerthread "/proc/$pid/maps" || ! kill -0 "$pid"; do
	sleep 0.01
done
# It ends with the program.
status=0
timeout 60 bpftrace -p "$pid" "$srcdir/examples/timers.bt" \
	>"$scratch/out" 2>&1 </dev/null || status=$?
wait "$pid" || fail "rpc-deadlines: $?"
cat "$scratch/out"
if [ "$status" -ne 0 ]; then
	echo "bpftrace could not trace it here: $status"
	exit "$failed"
fi
for name in scheduled cancelled fired; do
	grep -Eq "^@$name: [1-9]" "$scratch/out" || fail "it saw none $name"
done
exit "$failed"
