#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of a slot with Spin: as the code does it nothing is wrong;
# with any one of the things broken that it has a switch for, something is.
set -eu
set -- slot.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

holds assertions "-DUSERS=2 -DSTEPS=2"
holds assertions "-DUSERS=1 -DSTEPS=5"
holds assertions "-DUSERS=1 -DSTEPS=4 -DEXECUTOR"
holds assertions "-DUSERS=2 -DSTEPS=2 -DEXECUTOR"

# all_caught SWITCHES BUG...
all_caught() {
	switches=$1
	shift
	for bug; do
		if ! caught assertions "-DUSERS=2 -DSTEPS=2 $switches -D$bug" &&
			! caught assertions \
				"-DUSERS=2 -DSTEPS=3 $switches -D$bug"; then
			echo "$bug is not caught"
			exit 1
		fi
	done
}

all_caught '' NO_MOVED NO_CLAIM TICKET_FIRST NO_RECHECK KEEP_TICKET NO_PUT_BACK
all_caught -DEXECUTOR NO_AWAY HOME_EARLY
