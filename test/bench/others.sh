#!/bin/sh
# SPDX-License-Identifier: MIT
#
# others.sh DIRECTORY: builds there those timer facilities that the library is
# compared with and that may be missing here, and the simulator of many cores.
# What is not built is named, with the reason in DIRECTORY/NAME.log.
#
# NETTY_JAR: Netty's classes, where they are elsewhere than in Debian.
# GO, JAVAC, SIM_CC: other compilers than those that are found.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$1" && pwd)
flags="-D_GNU_SOURCE -I$bench/../../include -I$bench -I$bench/peers
	-I$bench/work -Wall -Wextra -pthread"
: "${CC:=cc}" "${CXX:=c++}" "${CFLAGS=-g -O2}" "${LDFLAGS=}" "${MAKE:=make}"
: "${PKG_CONFIG:=pkg-config}" "${GO:=go}" "${JAVAC:=javac}"
: "${NETTY_JAR:=/usr/share/java/netty-common.jar}"

# built NAME COMMAND...: whether it is; the log stays only if it is not.
built() {
	name=$1
	shift
	if "$@" >"$out/$name.log" 2>&1; then
		rm -f "$out/$name.log"
		echo "built: $name"
	else
		echo "not built: $name"
	fi
}

# in_c PROGRAM SOURCE PACKAGE FLAG...: PACKAGE as pkg-config knows it; -lNAME: a
# library that it does not know.
in_c() {
	program=$1 source=$2 package=$3
	shift 3
	cflags=
	rm -f "$out/$program"
	case $package in
	-l*) libs=$package ;;
	*)
		libs=$($PKG_CONFIG --libs "$package") || return
		cflags=$($PKG_CONFIG --cflags "$package") || return
		;;
	esac
	# shellcheck disable=SC2086 # lists of words
	$CC $flags $CFLAGS $cflags "$@" "$bench/peers/$source" $LDFLAGS \
		"$out/libwork.a" $libs -o "$out/$program"
}

in_cxx() {
	rm -f "$out/bench-asio"
	# shellcheck disable=SC2086
	$CXX -std=c++17 $flags ${CXXFLAGS--g -O2} "$bench/peers/asio.cpp" \
		$LDFLAGS "$out/libwork.a" -o "$out/bench-asio"
}

in_go() {
	rm -f "$out/bench-go"
	mkdir -p "$out/go"
	(cd "$bench/peers/go" && GOCACHE=$out/go/cache GOPATH=$out/go/path \
		GOFLAGS=-mod=mod GOPROXY=off \
		"$GO" build -buildvcs=false -o "$out/bench-go" .)
}

in_java() {
	rm -rf "$out/java"
	[ -r "$NETTY_JAR" ] || {
		echo "there is no $NETTY_JAR"
		return 1
	}
	mkdir "$out/java"
	"$JAVAC" -cp "$NETTY_JAR" -d "$out/java" "$bench"/peers/java/*.java
}

simulated() {
	rm -f "$out/bench-simulated"
	builddir=. sh "$bench/sim/build.sh" simulated "$out/bench-simulated"
}

built bench-asio in_cxx
built bench-dpdk in_c bench-dpdk dpdk.c 'libdpdk >= 20.11'
built bench-glib in_c bench-glib glib.c 'glib-2.0 >= 2.58'
built bench-go in_go
built bench-java in_java
built bench-libev in_c bench-libev libev.c -lev
for how in '' -common; do
	built bench-libevent$how in_c bench-libevent$how libevent.c \
		'libevent_pthreads >= 2.1' ${how:+-DCOMMON_TIMEOUT}
done
built bench-libuv in_c bench-libuv libuv.c 'libuv >= 1.0'
built bench-simulated simulated
