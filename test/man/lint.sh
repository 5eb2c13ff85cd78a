#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mandoc finds nothing to say about the man pages.
set -eu
srcdir=${srcdir:?run this by make check}

if ! command -v mandoc >/dev/null; then
	echo "mandoc is missing (Debian: mandoc)"
	exit 77
fi

# A page that only names another one (".so") is checked by pages.sh.
cd "$srcdir"
grep -L '^\.so ' man/man[0-9]/* | xargs mandoc -T lint -W warning
