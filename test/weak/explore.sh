#!/bin/sh
# SPDX-License-Identifier: MIT
# explore.sh [HARNESS...]: runs each harness, or these, through its executions
# on a weakly ordered machine: as the code does it nothing is wrong; with any
# one of the faults that the harness has a switch for, something is.
set -eu
# shellcheck source=test/weak/list.sh
. "$(dirname "$0")/list.sh"

# Switches away from a thread that could go on, and values that are not the
# last, in one execution.
bounds() {
	case $1 in
	handover | held_up | later | rearm | sweep | wait | wakeup)
		echo 2 1
		;;
	giveback | refused) echo 3 2 ;;
	lock | reuse | stop) echo 3 1 ;;
	*) echo 4 3 ;;
	esac
}

build() {
	harness=$1
	shift
	# shellcheck disable=SC2086
	${CC:-cc} $flags "$@" -w -DWEAK_EXPLORE -fsanitize=thread \
		-ffunction-sections -c -o "$dir/harness.o" "$weak/$harness.c" &&
		${CC:-cc} -Wl,--gc-sections -o "$dir/explore" \
			"$dir/harness.o" "$dir/explorer.o"
}

# explore HARNESS [SWITCH]: 0 or, if it has an error, 3.
explore() {
	build "$@" || exit 1
	# shellcheck disable=SC2046 # two numbers
	"$dir/explore" $(bounds "$1") >"$dir/out"
}

# What it takes of the compiler and of the C library: calls for accesses to
# memory, and contexts.
cat >"$dir/probe.c" <<'END'
#include <atomic_ops.h>
#include <ucontext.h>

int main(void)
{
	ucontext_t c;

	return getcontext(&c);
}
END
# shellcheck disable=SC2086
if ! { ${CC:-cc} $flags -fsanitize=thread -c -o "$dir/probe.o" \
	"$dir/probe.c" && ${CC:-cc} $flags -o "$dir/probe" "$dir/probe.c" &&
	"$dir/probe"; } >"$dir/out" 2>&1; then
	cat "$dir/out"
	echo "${CC:-cc} has no -fsanitize=thread, or no contexts, or for another CPU"
	exit 77
fi
# shellcheck disable=SC2086
${CC:-cc} $flags -w -c -o "$dir/explorer.o" "$weak/explore.c"

[ $# -eq 0 ] || harnesses=$*
for harness in $harnesses; do
	if ! explore "$harness"; then
		cat "$dir/out"
		echo "$harness has an error"
		exit 1
	fi
	echo "$harness: $(cat "$dir/out")"
	for bug in $(bugs "$harness"); do
		status=0
		explore "$harness" "-DBUG_$bug" || status=$?
		if [ "$status" -ne 3 ]; then
			cat "$dir/out"
			echo "$harness: $bug is not caught (status $status)"
			exit 1
		fi
		echo "$harness, caught: $bug: $(head -n 1 "$dir/out")"
	done
done
