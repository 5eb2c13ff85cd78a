#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each man page of a function has the sections that a reader looks for, in the
# usual order.  timerthread-reference(7) says of each function how safe it is.
set -eu
srcdir=${srcdir:?run this by make check}
# shellcheck source=test/abi/prototypes.sh
. "$srcdir/test/abi/prototypes.sh"

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# An extended regular expression for all sections, one after the other.  Some
# functions never fail, and some programs would only repeat another page.
sections='NAME SYNOPSIS DESCRIPTION RETURN VALUE( ERRORS)?( NOTES)?( EXAMPLES)?'
sections="$sections SEE ALSO"

for page in "$srcdir"/man/man3/*.3; do
	grep -q '^\.so ' "$page" && continue
	found=$(sed -n 's/^\.SH //p' "$page" | tr '\n' ' ')
	echo "$found" | grep -qxE "$sections " ||
		fail "$page has other sections: $found"
done

reference=$srcdir/man/man7/timerthread-reference.7
attributes=$(sed -n '/^\.SH ATTRIBUTES/,/^\.SH [^A]/p' "$reference")
for safety in MT AS AC; do
	echo "$attributes" | grep -q "$safety-\(Safe\|Unsafe\)" ||
		fail "$reference: ATTRIBUTES says nothing of $safety"
done
calls=$(sed -n '/^\.SH CALLS/,/^\.SH [^C]/p' "$reference")
for symbol in $(exports "$srcdir/lib/libtimerthread.map"); do
	function=${symbol%@*}
	echo "$calls" | grep -qw "${function#timerthread_}" ||
		fail "$reference: CALLS lacks $function"
done
exit "$failed"
