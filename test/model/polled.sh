#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of the polled descriptor with Spin: as the code does it
# nothing is wrong; with any one of the things left out that it has a switch
# for, something is.
set -eu
set -- polled.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

two_producers="-DPRODUCERS=2 -DTIMERS=1 -DLATEST=2"

holds assertions "$two_producers"
holds assertions "-DPRODUCERS=1 -DTIMERS=2"
caught assertions "$two_producers" NO_KICK NO_RECHECK NO_ARRIVALS \
	NO_STOPPING KICK_SETS OWN_KICK NO_CHANGE SENT_EARLY
caught assertions "$two_producers -DBUCKETS=1" NO_MARK

large_models
holds assertions "$two_producers -DBUCKETS=1"
holds assertions "-DPRODUCERS=1 -DTIMERS=3"
