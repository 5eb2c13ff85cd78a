#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of a slot with Spin: as the code does it nothing is wrong;
# with any one of the things broken that it has a switch for, something is.
set -eu
set -- slot.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

one_user="-DUSERS=1 -DSTEPS=3"
two_users="-DUSERS=2 -DSTEPS=2"

# Ids are shared: so two users may do all that one does in twice the steps.
holds assertions "$one_user -DNO_ROOM -DLIVES"
holds assertions "$two_users"
caught assertions "$one_user" NO_MOVED NO_CLAIM KEEP_TICKET NO_PUT_BACK \
	SWEEP_KEEPS LOOK_FREES LOOK_LATE LOOK_STORED NOT_MARKED \
	NO_HANDED_OVER TICKET_STORED BEGIN_MOVED NOT_FILED FILED_EARLY \
	SWEEP_ALL SWEEP_STORED FREED_FIRST DISARM_UNLOCKED NO_DROP \
	DROP_UNLOCKED ARMED_AGAIN UNARM_KEEPS SWEEP_LEAVES RECYCLE_LEAVES
caught assertions "$one_user -DLIVES" LEFT_OUT NO_NEW_ENTRY NOT_AGAIN
caught assertions "$one_user -DNO_ROOM" UNQUEUED_FREE LEAVE_STALE
caught assertions "-DUSERS=1 -DSTEPS=4" HAND_OVER_STORED
caught assertions "$two_users" NO_GENERATION

large_models
holds assertions "-DUSERS=2 -DSTEPS=3 -DFEW_CALLS"
holds assertions "-DUSERS=1 -DSTEPS=5"
holds assertions "-DUSERS=1 -DSTEPS=4 -DNO_ROOM -DLIVES"
holds assertions "$two_users -DLIVES"
holds assertions "$two_users -DNO_ROOM"
