#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build.sh simulated PROGRAM   the library and many.c, in the simulator
# build.sh selftest PROGRAM    the simulator's own test
#
# SIM_CC is a gcc, builddir is where config.h is; the sources are found from here.
# What is compiled on the way is in PROGRAM.d, and is removed.
set -eu
: "${SIM_CC:=gcc}" "${builddir:=.}"
what=$1 program=$2
sim=$(cd "$(dirname "$0")" && pwd)
top=$sim/../../..
objects=$program.d
rm -rf "$objects"
mkdir -p "$objects"
trap 'rm -rf "$objects"' EXIT

# simulated SOURCE FLAG...
simulated() {
	source=$1
	shift
	object=$(echo "${source#"$top"/}" | tr / -)
	sh "$sim/cohsim-cc" "$SIM_CC" -Wall -c "$source" \
		-o "$objects/$object.o" "$@"
}

for source in "$sim"/cohsim/*.c; do
	# shellcheck disable=SC2086 # it may be of several words
	$SIM_CC -O2 -g -Wall -Wextra -std=gnu11 -D_GNU_SOURCE -mcx16 \
		-c "$source" -o "$objects/cohsim-$(basename "$source" .c).o"
done
case $what in
simulated)
	for source in "$top"/lib/*/*.c "$top"/lib/os/linux/*.c \
		"$sim/many.c" "$top/test/bench/measure.c"; do
		# shellcheck disable=SC2086 # a list of words
		simulated "$source" -std=gnu11 -D_GNU_SOURCE -I"$builddir" \
			-include config.h -I"$top/include" -I"$top/lib" -I"$top/lib/os/linux" \
			-I"$top/test/bench" \
			${ATOMIC_OPS_CFLAGS-}
	done
	;;
selftest)
	simulated "$sim/selftest.cpp" -std=gnu++17
	libs=-lstdc++
	;;
*)
	echo "usage: build.sh simulated|selftest PROGRAM" >&2
	exit 2
	;;
esac
# -rdynamic: the libraries' calls come to the simulator too.
# shellcheck disable=SC2086 # it may be of several words
$SIM_CC -rdynamic -pthread "$objects"/*.o -o "$program" ${libs-} -lm
