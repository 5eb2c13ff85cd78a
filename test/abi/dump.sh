#!/bin/sh
# SPDX-License-Identifier: MIT
#
# For "make abi-dump", as a part of a release: from now on this library and its
# header are the previous ones.
set -eu
# shellcheck source=test/abi/prototypes.sh
. "$(dirname "$0")/prototypes.sh"
# shellcheck source=test/abi/compare.sh
. "$(dirname "$0")/compare.sh"
# shellcheck source=test/abi/built.sh
. "$(dirname "$0")/built.sh"

# Afterwards test/abi/guard.sh cannot see it any more.
if misplaced "$previous" "$srcdir" | grep .; then
	echo "they belong in a new node of lib/libtimerthread.map"
	exit 1
fi
# If abidw fails, the old one stays.
if ! description=$(describe "$so" "$srcdir/include"); then
	echo "abidw fails here"
	exit 1
fi
printf '%s\n' "$description" >"$previous/libtimerthread.abi"
cp "$srcdir/include/timerthread.h" "$previous/timerthread.h"
ls -l "$previous"
