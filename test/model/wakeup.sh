#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the model of the wake-up with Spin: as the code does it nothing is
# wrong; with any one of the things left out that it has a switch for, something
# is.  (That NO_RESET is caught, and two buckets, take TT_MODELS=full.)
set -eu
set -- wakeup.pml
# shellcheck source=test/model/spin.sh
. "$(dirname "$0")/spin.sh"

small="-DPRODUCERS=1 -DTIMERS=2"
two_buckets="-DPRODUCERS=2 -DTIMERS=1"
one_bucket="-DPRODUCERS=1 -DTIMERS=3"
long_run="-DPRODUCERS=1 -DTIMERS=4"

holds assertions "$small"
holds assertions "$small -DLEAD"
holds cycles "$small"
caught assertions "$small" NO_CHECK NO_CHANGE NO_KICK NO_LIST RESET_LATE \
	READ_SEQ_LATE
caught cycles "$small" NO_SEE NO_AWAKE

[ "$models" = full ] || exit 0
holds assertions "$two_buckets"
holds assertions "$one_bucket"
holds cycles "$two_buckets"
holds assertions "$one_bucket -DLEAD"
caught assertions "$long_run" NO_RESET
