#!/bin/sh
# SPDX-License-Identifier: MIT
#
# build.sh simulated PROGRAM   the library and many.c, in the simulator
# build.sh selftest PROGRAM    the simulator's own test
# build.sh compiler            prints the gcc for it: SIM_CC, or else CC or gcc;
#                              it must be for x86-64
#
# builddir is where config.h is; the sources are found from here.  What is
# compiled on the way is in PROGRAM.d, and is removed.
set -eu
: "${builddir:=.}"

# simulates COMPILER: whether it is one for the simulator.
simulates() {
	macros=$($1 -dM -E -x c /dev/null 2>/dev/null) || return
	case $macros in
	*__clang__* | *__ILP32__*) return 1 ;;
	*__x86_64__*) ;;
	*) return 1 ;;
	esac
	case $macros in
	*__linux__*) ;;
	*) return 1 ;;
	esac
	# shellcheck disable=SC2086 # it may be of several words
	$1 -fsanitize=thread -mcx16 -mno-red-zone -fsyntax-only -x c \
		/dev/null 2>/dev/null
}

for compiler in "${SIM_CC:-${CC:-gcc}}" gcc; do
	SIM_CC=
	simulates "$compiler" || continue
	SIM_CC=$compiler
	break
done
if [ -z "$SIM_CC" ]; then
	echo "there is no gcc for x86-64 (Debian: gcc)" >&2
	exit 1
fi
if [ "$1" = compiler ]; then
	echo "$SIM_CC"
	exit
fi
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
	echo "usage: build.sh compiler|simulated|selftest [PROGRAM]" >&2
	exit 2
	;;
esac
# -rdynamic: the libraries' calls come to the simulator too.
# shellcheck disable=SC2086 # it may be of several words
$SIM_CC -rdynamic -pthread "$objects"/*.o -o "$program" ${libs-} -lm
