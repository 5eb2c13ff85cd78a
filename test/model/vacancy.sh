#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of memory that is given back with Spin: as the code does it
# nothing is wrong; with any one of the things broken that it has a switch for,
# something is.
set -eu
set -- vacancy.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

one_user="-DUSERS=1 -DSTEPS=3"
two_words="-DUSERS=1 -DSTEPS=2 -DWORDS=2"
two_users="-DUSERS=2 -DSTEPS=2"

holds assertions "$one_user"
holds assertions "$two_words"
caught assertions "$one_user" NO_FLOOR NO_TICKET_FLOOR FLOOR_OF_ONE FLOOR_LATE \
	IN_USE STAYS_FREE COUNT_EARLY KEPT_BARE
holds assertions "$one_user -DWORN=2"
holds assertions "$one_user -DWORN=3"
caught assertions "$one_user -DWORN=2" BEGIN_AGAIN USED_AGAIN
caught assertions "$one_user -DWORN=3" HIGH_FLOOR
holds assertions "$two_users"
caught assertions "$two_users" FILL_AFTER_ADD

large_models
holds assertions "-DUSERS=1 -DSTEPS=5"
holds assertions "-DUSERS=1 -DSTEPS=3 -DWORDS=2"
