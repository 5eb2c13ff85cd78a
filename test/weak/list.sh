# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What the scripts here share: the harnesses, with the switches that each has,
# and how they are compiled.

# shellcheck disable=SC2034
harnesses='arm cap disarm fire giveback handover held_up later lock periodic
	rearm refused reuse sighting stop sweep wait wakeup'

bugs() {
	case $1 in
	arm) echo RELAXED_ARM RELAXED_PUBLISH ;;
	cap) echo TWO_STEPS RELAXED_FULL NO_RELEASE ;;
	disarm | fire) echo TWO_STEPS NO_RELEASE ;;
	giveback) echo RELAXED_NOTE RELAXED_HAS RELAXED_FILL ;;
	handover) echo NOT_MOVED SAME_TICKET NOT_TAKEN ;;
	held_up) echo NO_CHANGE NO_KICK NO_LOCK OWN_KICK SENT_EARLY ;;
	later) echo SAME_TICKET NO_LOCK TICKET_FIRST NO_SIGNAL ;;
	lock) echo NO_NAP NO_WAKE RELAXED_RELEASE ;;
	periodic) echo NO_RELEASE NOT_REPEATING ;;
	rearm) echo TWO_STEPS ;;
	refused) echo RELAXED_FULL RELAXED_PLACES ;;
	reuse) echo SAME_GENERATION SAME_TICKET TAKEN_LATE ;;
	sighting) echo RELAXED_SHOW RELAXED_LOOK NO_SECOND_LOOK ;;
	stop | wakeup) echo NO_CHANGE NO_KICK READ_LATE NO_LOCK ;;
	sweep) echo FREED_FIRST SAME_TICKET NOT_TAKEN ;;
	wait) echo NO_RELEASE NO_SIGNAL WAKE_FIRST ONLY_LOOK ;;
	esac
}

weak=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$weak/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# No probes, and no more of what configure has found.
: >"$dir/config.h"
# shellcheck disable=SC2034 # for who sources this
flags="-std=gnu11 -D_GNU_SOURCE -O1 -I$dir -iquote $weak -I$top/lib -I$top/include
	-I$top/lib/os/linux -I$top/test/unit
	${ATOMIC_OPS_CFLAGS-}"
