#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tests of what reports the benchmarks' results.
set -eu
srcdir=${srcdir:?run this by make check}

if ! command -v python3 >/dev/null; then
	echo "python3 is missing (Debian: python3)"
	exit 77
fi
exec python3 -B -m unittest discover -s "$srcdir/test/bench/compare"
