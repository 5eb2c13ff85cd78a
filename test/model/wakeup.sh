#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of the wake-up with Spin: as the code does it nothing is
# wrong; with any one of the things left out that it has a switch for, something
# is.  (Two buckets with many deadlines take TT_MODELS=full.)
set -eu
set -- wakeup.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

small="-DPRODUCERS=1 -DTIMERS=2"
two_buckets="-DPRODUCERS=2 -DTIMERS=1"
one_bucket="-DPRODUCERS=1 -DTIMERS=3"
spins="$one_bucket -DEARLY=0 -DSPIN"
few="-DLATEST=2 -DEARLY=0"
held="$two_buckets $few -DHELD=1"

holds assertions "$small"
holds assertions "$two_buckets $few"
holds assertions "$held"
holds assertions "$held -DBUCKETS=1"
holds cycles "$small -DLATEST=2"
caught assertions "$small" NO_ARRIVALS NO_CHANGE NO_KICK NO_AWAKE NO_VISIT \
	NO_ANNOUNCE RESET_LATE READ_SEQ_LATE
caught assertions "$two_buckets $few" FORGET_OTHERS
caught assertions "$held" OWN_KICK SENT_EARLY
caught assertions "$held -DBUCKETS=1" NO_MARK
caught assertions "-DPRODUCERS=2 -DTIMERS=2 $few -DHELD=1" SENT_LATE
holds assertions "$spins"
caught assertions "$spins" NO_CHANGE SPIN_BLIND SPIN_ON SPIN_LATE
caught cycles "$small" NO_RESET KEEP_ARRIVALS

large_models
holds assertions "$two_buckets"
holds assertions "$one_bucket"
holds assertions "$one_bucket -DSPIN"
holds assertions "$two_buckets -DEARLY=0 -DHELD=1"
holds assertions "$held -DSPIN"
holds cycles "$small"
holds cycles "$two_buckets"
