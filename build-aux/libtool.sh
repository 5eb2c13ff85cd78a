#!/bin/sh
# SPDX-License-Identifier: MIT
#
# libtool.sh SHELL LIBTOOL ARGUMENT...: runs libtool; but a program into which
# nothing of libtool's goes is linked without it, in a tenth of the time.
case " $* " in
*.la\ * | *.lo\ * | *' -all-static '* | *' -R'*) ;;
*' --mode=link '*)
	while [ "$1" != --mode=link ]; do
		shift
	done
	shift
	;;
esac
exec "$@"
