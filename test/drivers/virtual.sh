#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests of the interface, on the driver that this is named after.
set -eu
# shellcheck source=test/drivers/run.sh
. "$(dirname "$0")/run.sh"
