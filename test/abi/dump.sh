#!/bin/sh
# SPDX-License-Identifier: MIT
#
# For "make abi-dump", as a part of a release: from now on this library and its
# header are the previous ones.
set -eu
# shellcheck source=test/abi/compare.sh
. "$(dirname "$0")/compare.sh"
# shellcheck source=test/abi/built.sh
. "$(dirname "$0")/built.sh"

describe "$so" "$srcdir/include" >"$previous/libtimerthread.abi"
cp "$srcdir/include/timerthread.h" "$previous/timerthread.h"
ls -l "$previous"
