#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of the cap with Spin: as the code does it nothing is wrong;
# with any one of the things left out that it has a switch for, something is.
set -eu
set -- cap.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

three_threads="-DTHREADS=3 -DSTEPS=3"

holds assertions "-DTHREADS=2 -DSTEPS=4 -DPLACES=3"
caught assertions "$three_threads" NO_CLOSE NO_CALL_IN NO_SHARE_LOCK \
	NO_RECHECK LATE_COUNT

large_models
holds assertions "$three_threads"
