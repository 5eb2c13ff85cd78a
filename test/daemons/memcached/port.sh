# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# memcached: its timeout of idle connections.  check.sh says what each function
# does.

port_package() {
	echo memcached=1.6.18-1+deb12u1
}

# Theirs is a part of memcached.c, between these lines.
first='Connection timeout thread bits'
last='read buffer cache helper functions'

port_put_in() {
	cp "$daemons/memcached/conn_timeout.c" "$1"
	sed -i -e "/$first/i #include \"conn_timeout.c\"\n" \
		-e "/$first/,/^int stop_conn_timeout_thread/d" \
		-e '/^static int start_conn_timeout_thread(void);/d' \
		-e '/^static void conn_close(conn \*c) {/a conn_timeout_end(c);' \
		"$1/memcached.c"
	# What is left of the last function.
	sed -i '/#include "conn_timeout\.c"/,/^}/{/#include/!d;}' \
		"$1/memcached.c"
	sed -i '/^ *c->thread = me;/a conn_timeout_begin(c);' "$1/thread.c"
	sed -i -e '/rel_time_t last_cmd_time;/a uint64_t idle_timer;' \
		-e '/^int stop_conn_timeout_thread/a \
void conn_timeout_begin(conn *c);\nvoid conn_timeout_end(conn *c);' \
		"$1/memcached.h"
}

port_build() {
	run ./configure --enable-sasl --enable-tls \
		--disable-dependency-tracking CPPFLAGS="$TT_CFLAGS" \
		LIBS="$TT_LIBS" >&2
	run make -j "$jobs" >&2
}

# As Debian does, without the test of how the sources are laid out.  They sleep
# most of the time, so several run at once; what fails then runs again, alone.
port_tests() {
	rm -f t/whitespace.t
	passed=0 failed=0 again=
	for test in ./sizes ./testapp; do
		result "$test" run "$test"
	done
	run prove -j 6 t >tests.out 2>&1 || :
	cat tests.out >&2
	for test in t/*.t; do
		case $(sed -n "s|^$test \.* *||p" tests.out) in
		ok*) passed=$((passed + 1)) ;;
		skipped*) ;;
		*) again="$again $test" ;;
		esac
	done
	for test in $again; do
		result "$test" run prove "$test"
	done
	echo "tests passed $passed failed $failed"
}

# result TEST COMMAND...
result() {
	test=$1
	shift
	if "$@" >&2; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "failed test $test"
	fi
}

# A server that closes connections which were idle for ten seconds.  A hundred
# clients connect, ten a second, and stay silent; another one goes on asking.
port_use() {
	rm -f use.*
	./memcached -u root -l 127.0.0.1 -p $((20000 + $$ % 10000)) -U 0 \
		-c 10000 -o idle_timeout=10 -P "$1/use.pid" >&2 &
	server=$!
	trap 'kill -KILL $server 2>/dev/null || :' EXIT
	wait_for 20 test -s use.pid
	perl "$daemons/memcached/clients.pl" $((20000 + $$ % 10000)) \
		$server >use.clients &
	clients=$!
	wait_for 60 grep -q silent use.clients
	print_idle $server
	wait $clients
	cat use.clients >&2
	kill -USR1 $server
	wait $server
	trap - EXIT
	echo 'use ok'
}

port_pair() {
	if [ ! -f conn_timeout.c ]; then
		# Each connection is looked at; there is nothing to schedule.
		echo 'pair_ns -'
		return
	fi
	# shellcheck disable=SC2086 # lists of words
	cc -g -O2 -DHAVE_CONFIG_H -I. $TT_CFLAGS "$daemons/memcached/pair.c" \
		-o use.pair $TT_LIBS -pthread >&2
	./use.pair
}

# With the calls of it elsewhere.
port_lines() {
	if [ -f conn_timeout.c ]; then
		{
			cat conn_timeout.c
			grep -h 'conn_timeout_[a-z]*(c);' memcached.c thread.c
		} >lines.c
	else
		sed -n "/$first/,/$last/p" memcached.c >lines.c
		sed -i '$d' lines.c
		sed -i '$d' lines.c
	fi
	print_lines lines.c
}
