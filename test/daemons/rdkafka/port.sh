# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# librdkafka: the timers of a client's main thread, and of the brokers that it
# has for tests.  check.sh says what each function does.

port_package() {
	echo librdkafka=2.0.2-1
}

port_put_in() {
	cp "$daemons/rdkafka/rdkafka_timer.c" "$1/src/"
	# What a timer and its thread's timers hold.
	sed -i -e 's/TAILQ_HEAD(, rd_kafka_timer_s) .*/struct timerthread *rkts_tt;/' \
		-e 's/TAILQ_ENTRY(rd_kafka_timer_s) .*/timerthread_id rtmr_id;/' \
		-e '/rd_ts_t rtmr_next;/d; /cnd_t rkts_cond;/d' \
		-e 's/#include "rd.h"/&\n#include <timerthread.h>/' \
		"$1/src/rdkafka_timer.h"
}

port_build() {
	CPPFLAGS=$TT_CFLAGS LIBS=$TT_LIBS run ./configure --disable-gssapi \
		--disable-curl >&2
	run make -j "$jobs" libs >&2
	run make -j "$jobs" -C tests build >&2
}

# results FILE: each test of its last table, and what came of it.
results() {
	sed 's/\x1b\[[0-9]*m//g' "$1" | awk '
		/^\| [0-9]+_/ && $4 ~ /PASSED|FAILED/ { print $2, $4 }'
}

# Those that need no broker, or have one of librdkafka's own.  Some expect that
# the machine is not busy, so what fails has a second try alone.  If any fails,
# the program aborts after its table: unless a line is written when it is there,
# the last ones are lost.
port_tests() {
	run stdbuf -oL make -C tests run_local_quick >tests.out || :
	results tests.out >results.out
	failed=$(sed -n 's/ FAILED//p' results.out)
	for name in $failed; do
		TESTS=${name%%_*} make -C tests run_local_quick >again.out || :
		if results again.out | grep -qx "$name PASSED"; then
			sed -i "s/^$name FAILED/$name PASSED/" results.out
		fi
	done
	awk '$2 == "PASSED" { passed++ }
		$2 == "FAILED" { failed++; print "failed test", $1 }
		END { print "tests passed", passed + 0, "failed", failed + 0 }' \
		results.out
}

# The brokers run in the same process, on threads of their own.
port_use() {
	# shellcheck disable=SC2086 # a list of words
	cc -g -O2 -Isrc "$daemons/rdkafka/use.c" -o use -Lsrc \
		-Wl,-rpath,"$PWD/src" -lrdkafka $TT_LIBS >&2
	./use >use.out &
	pid=$!
	trap 'kill -KILL $pid 2>/dev/null || :' EXIT
	wait_for 60 grep -q idle use.out
	print_idle $pid
	kill $pid
	wait $pid
	trap - EXIT
	echo 'use ok'
}

# These functions are not exported.
port_pair() {
	# shellcheck disable=SC2046,SC2086 # lists of words
	cc -g -O2 -w $TT_CFLAGS -Isrc "$daemons/rdkafka/pair.c" -o pair \
		src/librdkafka.a $TT_LIBS \
		$(sed -n 's/^LIBS+=//p' Makefile.config) >&2
	./pair
}

port_lines() {
	print_lines src/rdkafka_timer.c
}
