#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of the function that wakes a loop with Spin: as the code does
# it nothing is wrong; with any one of the things broken that it has a switch
# for, something is.
set -eu
set -- wake.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

two_producers="-DPRODUCERS=2 -DTIMERS=1"

holds assertions "$two_producers"
caught assertions "$two_producers" NO_KICK SENT_FIRST NEVER_SENT NOT_NEWER \
	STAYS_SENT NO_REARM EACH_SEQ STOP_FIRST NO_CHANGE

large_models
holds assertions "-DPRODUCERS=1 -DTIMERS=3"
