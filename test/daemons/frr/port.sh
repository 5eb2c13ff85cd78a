# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# FRR: the timers of the event loop that all its daemons have.  check.sh says
# what each function does.

port_package() {
	echo frr=8.4.4-1.1~deb12u2
}

# What we change in lib, and the sum of it as it was.
files='thread.c thread.h subdir.am'
sum=aff97537def8917289172cc3cb836d38a993c945f2cea59446113ecdfe89d59a

port_put_in() {
	# shellcheck disable=SC2086 # a list of words
	if [ "$(cd "$1/lib" && cat $files | sha256sum)" != "$sum  -" ]; then
		echo "frr: not as in $(port_package), in lib: $files" >&2
		return 1
	fi
	cp "$daemons/frr/thread_timer.c" "$1/lib/"
	for file in thread.c thread.h; do
		sed -i -f "$daemons/frr/$file.sed" "$1/lib/$file"
	done
	sed -i 's|lib/typerb\.c|lib/thread_timer.c \\\n\t&|' "$1/lib/subdir.am"
}

# Of the daemons only bgpd: each other one would take a minute.  The python is
# Debian's, as that has pytest.
port_build() {
	set -- --disable-doc --disable-dependency-tracking \
		--enable-user=root --enable-group=root --enable-vty-group=root
	for daemon in zebra ospfd ospf6d ripd ripngd eigrpd isisd pimd pim6d \
		ldpd nhrpd babeld watchfrr staticd pbrd sharpd fabricd vrrpd \
		pathd bfdd; do
		set -- "$@" "--disable-$daemon"
	done
	run autoreconf -i >&2
	PYTHON=/usr/bin/python3 run ./configure "$@" CPPFLAGS="$TT_CFLAGS" \
		LIBS="$TT_LIBS" >&2
	for part in lib/libfrr.la bgpd/bgpd vtysh/vtysh check-TESTS; do
		run make -j "$jobs" $part >&2
	done
}

# compile NAME SOURCE...: a program of ours.
compile() {
	name=$1
	shift
	# shellcheck disable=SC2046,SC2086 # lists of words
	./libtool --quiet --tag=CC --mode=link cc -g -O2 -w -fms-extensions \
		-D_GNU_SOURCE -DHAVE_CONFIG_H -I. -Ilib -Itests/helpers/c \
		$TT_CFLAGS $(pkg-config --cflags libyang) \
		"$daemons/frr/$name.c" "$@" -o "$name" lib/libfrr.la \
		$TT_LIBS >&2
}

# Those of lib and bgpd.  Then the one that is about the order of timers, six
# times as it is, and six times with a loop that runs; and one of ours.
port_tests() {
	run make tests/tests.xml >tests.out 2>&1 || :
	compile started tests/helpers/c/prng.c
	compile early
	for program in tests/lib/test_timer_correctness ./started ./early; do
		for i in 1 2 3 4 5 6; do
			if $program >&2; then
				echo "$program-$i PASSED"
			else
				echo "$program-$i FAILED"
			fi >"${program##*/}-$i.out" &
		done
	done
	wait
	cat tests.out ./*-?.out >all.out
	cat all.out >&2
	awk '$2 == "PASSED" { passed++ }
		$2 == "FAILED" || $2 == "ERROR" {
			failed++
			print "failed test", $1
		}
		END { print "tests passed", passed + 0, "failed", failed + 0 }' \
		all.out
}

# configuration N PEER NETWORK...: of the bgpd at 127.0.0.N.
configuration() {
	cat <<-END
		log file $use/$1/log debugging
		router bgp 6500$1
		 bgp router-id 127.0.0.$1
		 bgp allow-martian-nexthop
		 no bgp ebgp-requires-policy
		 no bgp network import-check
		 timers bgp 1 3
		 neighbor 127.0.0.$2 remote-as 6500$2
		 neighbor 127.0.0.$2 port $port
		 neighbor 127.0.0.$2 update-source 127.0.0.$1
		 neighbor 127.0.0.$2 ebgp-multihop 2
		 neighbor 127.0.0.$2 timers connect 1
		 address-family ipv4 unicast
	END
	shift 2
	for network; do
		echo "  network $network"
	done
	echo ' exit-address-family'
}

# bgpd N: it goes into the background, so it forks before its loop runs.
bgpd() {
	bgpd/bgpd -d -S -Z -p "$port" -l "127.0.0.$1" -P 0 \
		-f "$use/$1/bgpd.conf" -i "$use/$1/pid" \
		--vty_socket "$use/$1" >&2
}

# ask N ARGUMENT...
ask() {
	n=$1
	shift
	vtysh/vtysh --vty_socket "$use/$n" -d bgpd "$@"
}

# says N TEXT COMMAND: whether the text is in the answer.
says() {
	ask "$1" -c "$3" | grep -q "$2"
}

kill_all() {
	for n in 1 2; do
		kill -KILL "$(cat "$use/$n/pid")" 2>/dev/null || :
	done
}

# Two that peer.  When they are idle, each sends a keepalive a second.
port_use() {
	use=$1/use
	port=$((20000 + $$ % 10000))
	peers='show bgp neighbors'
	rm -rf "$use"
	mkdir -p "$use/1" "$use/2"
	configuration 1 2 192.0.2.1/32 >"$use/1/bgpd.conf"
	configuration 2 1 >"$use/2/bgpd.conf"
	trap kill_all EXIT
	bgpd 1
	bgpd 2
	wait_for 30 says 1 'state = Established' "$peers"
	wait_for 30 says 2 192.0.2.1/32 'show bgp ipv4'

	configuration 1 2 192.0.2.1/32 198.51.100.0/24 >"$use/1/bgpd.conf"
	ask 1 -f "$use/1/bgpd.conf" >&2
	wait_for 30 says 2 198.51.100.0/24 'show bgp ipv4'
	wait_for 30 says 1 'state = Established' "$peers"

	# The hold timer expires while the peer is stopped.
	kill -STOP "$(cat "$use/2/pid")"
	wait_for 30 says 1 'Hold Timer Expired' "$peers"
	kill -CONT "$(cat "$use/2/pid")"
	wait_for 30 says 1 'state = Established' "$peers"
	says 1 'bgp_holdtime_timer.*00:00:0' 'show thread timers'

	sleep 3
	print_idle "$(cat "$use/1/pid")"
	for n in 2 1; do
		pid=$(cat "$use/$n/pid")
		kill "$pid"
		wait_for 30 ended "$pid"
	done
	trap - EXIT
	echo 'use ok'
}

port_pair() {
	compile pair
	./pair
}

# changed SIGN: the lines of code that we take away (<), or put in (>).
changed() {
	for file in $files; do
		diff "../before/lib/$file" "../after/lib/$file" || :
	done | sed -n "s/^$1 //p" |
		grep -v '^[[:space:]]*/\{0,1\}\*\([[:space:]/]\|$\)'
}

# Of what was replaced.
port_lines() {
	if [ -f lib/thread_timer.c ]; then
		changed '>' >changed.c
		print_lines changed.c lib/thread_timer.c
	else
		changed '<' >changed.c
		print_lines changed.c
	fi
}
