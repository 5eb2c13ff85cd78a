# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# Knot DNS: its event scheduler.  check.sh says what each function does.

port_package() {
	echo knot=3.2.6-1
}

port_put_in() {
	cp "$daemons/knot/evsched.c" "$1/src/knot/common/evsched.c"
	# What an event and a scheduler hold.
	sed -i -e '/ucw\/heap\.h/s/.*/#include <timerthread.h>/' \
		-e 's/struct heap_val hpos;/timerthread_id timer;/' \
		-e '/struct timeval tv;/d; /bool paused;/d; /notify;/d' \
		-e '/pthread_mutex_t heap_lock;/s/.*/\tpthread_mutex_t turn;/' \
		-e '/struct heap heap;/s/.*/\tstruct timerthread *tt;\n\tint fd;/' \
		"$1/src/knot/common/evsched.h"
}

port_build() {
	run ./configure --disable-documentation --disable-fastparser \
		--disable-dependency-tracking --enable-quic=no \
		CFLAGS='-g -O2' CPPFLAGS="$TT_CFLAGS" LIBS="$TT_LIBS" >&2
	run make -j "$jobs" >&2
	run make -j "$jobs" -C tests check-compile >&2
}

# A line for each program: its name, dots, and what came of it.
port_tests() {
	KNOT_SOFTHSM2_DSO=/usr/lib/softhsm/libsofthsm2.so
	export KNOT_SOFTHSM2_DSO
	run make -C tests check >tests.out 2>&1 || :
	cat tests.out >&2
	awk '/^[a-z][^ ]*\.\.+[a-zA-Z]/ {
		name = $0
		sub(/\.\..*/, "", name)
		if (/\.ok/)
			passed++
		else if (!/\.skipped/) {
			failed++
			print "failed test", name
		}
	}
	END { print "tests passed", passed + 0, "failed", failed + 0 }' \
		tests.out
}

# zone NAME SERIAL REFRESH: its text.
zone() {
	cat <<-END
		\$ORIGIN $1.
		\$TTL 60
		@ SOA ns admin $2 $3 3600 86400 60
		@ NS ns
		ns A 127.0.0.1
	END
}

# configuration ROLE PORT ACTION: of a server that has 500 zones.
configuration() {
	cat <<-END
		server:
		    rundir: $use/$1
		    listen: 127.0.0.1@$2
		    background-workers: 2
		database:
		    storage: $use/$1
		log:
		  - target: stderr
		    any: info
		remote:
		  - id: primary
		    address: 127.0.0.1@$port
		acl:
		  - id: all
		    address: 127.0.0.1
		    action: transfer
		template:
		  - id: default
		    storage: $use/$1
		    $3
		zone:
	END
	for zone in $zones; do
		echo "  - domain: $zone"
	done
}

# serial PORT ZONE SERIAL: whether it answers with this one.
serial() {
	src/kdig @127.0.0.1 -p "$1" "$2" SOA +short +retry=0 +timeout=1 |
		grep -q "^ns[^ ]* [^ ]* $3 "
}

knotc() {
	role=$1
	shift
	src/knotc -s "$use/$role/knot.sock" "$@" >&2
}

# A primary server, which does not notify the secondary one: that finds a new
# version only if its event for the refresh runs.  Then both only wait.
port_use() {
	use=$1/use
	rm -rf "$use"
	mkdir -p "$use/primary" "$use/secondary"
	port=$((20000 + $$ % 10000))
	next=$((port + 1))
	zones=first.test
	for i in $(seq 499); do
		zones="$zones zone$i.test"
	done
	for zone in $zones; do
		zone "$zone" 1 3600 >"$use/primary/$zone.zone"
	done
	zone first.test 1 2 >"$use/primary/first.test.zone"
	configuration primary $port 'acl: all' >"$use/primary.conf"
	configuration secondary $next 'master: primary' >"$use/secondary.conf"

	src/knotd -c "$use/primary.conf" >&2 &
	primary=$!
	secondary=
	trap 'kill -KILL $primary $secondary 2>/dev/null || :' EXIT
	wait_for 20 serial $port first.test 1
	src/knotd -c "$use/secondary.conf" >&2 &
	secondary=$!
	for zone in $zones; do
		wait_for 30 serial $next "$zone" 1
	done

	zone first.test 2 3600 >"$use/primary/first.test.zone"
	knotc primary reload
	wait_for 20 serial $port first.test 2
	wait_for 20 serial $next first.test 2

	# Reload with one zone less; with one that comes back.
	sed '/zone499/d' "$use/secondary.conf" >"$use/less.conf"
	cp "$use/secondary.conf" "$use/all.conf"
	cp "$use/less.conf" "$use/secondary.conf"
	knotc secondary reload
	wait_for 20 sh -c "! '$use/../src/knotc' -s '$use/secondary/knot.sock' \
		zone-status zone499.test"
	cp "$use/all.conf" "$use/secondary.conf"
	knotc secondary reload
	wait_for 20 serial $next zone499.test 1

	print_idle $secondary
	for role in secondary primary; do
		knotc $role stop
	done
	wait $secondary
	wait $primary
	trap - EXIT
	echo 'use ok'
}

port_pair() {
	# shellcheck disable=SC2046,SC2086 # lists of words
	./libtool --quiet --tag=CC --mode=link cc -g -O2 -include src/config.h \
		-Isrc $TT_CFLAGS "$daemons/knot/pair.c" -o pair \
		src/libknotd.la src/libknot.la src/libdnssec.la \
		src/libcontrib.la src/libzscanner.la \
		$(pkg-config --libs gnutls lmdb liburcu) $TT_LIBS >&2
	./pair
}

port_lines() {
	print_lines src/knot/common/evsched.c
}
