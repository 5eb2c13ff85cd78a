#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each man page of a function has the sections that a reader looks for, in the
# usual order, and says of each function how safe it is.
set -eu
srcdir=${srcdir:?run this by make check}

failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# An extended regular expression for all sections, one after the other.  Some
# functions fail never, and some programs would only repeat another page.
sections='NAME LIBRARY SYNOPSIS DESCRIPTION RETURN VALUE( ERRORS)? ATTRIBUTES'
sections="$sections HISTORY( NOTES)?( EXAMPLES)? SEE ALSO"

section() {
	sed -n "/^\\.SH $2/,/^\\.SH /p" "$1"
}

for page in "$srcdir"/man/man3/*.3; do
	grep -q '^\.so ' "$page" && continue
	found=$(sed -n 's/^\.SH //p' "$page" | tr '\n' ' ')
	echo "$found" | grep -qxE "$sections " ||
		fail "$page has other sections: $found"

	functions=$(section "$page" SYNOPSIS | grep -v typedef |
		grep -o 'timerthread_[a-z_]*(')
	for function in $functions; do
		section "$page" ATTRIBUTES | grep -q "${function%(}\\\\fP" ||
			fail "$page: ATTRIBUTES lacks ${function%(}"
	done
	# Each row of the table has three lines.
	for safety in 'Thread safety	MT-\(Safe\|Unsafe\)' \
		'Async-signal safety	AS-\(Safe\|Unsafe\)' \
		'Async-cancel safety	AC-\(Safe\|Unsafe\)'; do
		rows=$(section "$page" ATTRIBUTES | grep -c '^T}' || :)
		said=$(section "$page" ATTRIBUTES | grep -c "	$safety" || :)
		if [ "$rows" -eq 0 ] || [ "$rows" -ne "$said" ]; then
			fail "$page: $rows rows, $said of them say: $safety"
		fi
	done
done
exit "$failed"
