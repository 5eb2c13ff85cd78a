#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check.sh NAME...: whether real daemons work with the library, and what that
# changes for them.  For each NAME, test/daemons/NAME/port.sh says which source
# of the distribution it is, and how our file takes the place of theirs.  This
# builds the source twice: as it is (before), and with our file (after).  Their
# own tests run on both, and both serve on the loopback.  A table is printed.
#
# It fails if one of their tests passed before and fails after, or if a daemon
# does not start, serve, reload or stop.  77: the system does not have the
# source of this version.
#
# The environment may say:
#
#     TT_DAEMONS  the directory to build in; ./daemons otherwise
#     TT_SOURCES  a directory with the sources, each with its .dsc file, for a
#                 machine that has no network; apt gets them otherwise
#     TT_RUN      a command that runs what needs much CPU time: nice
#     TT_ALONE    a command that runs what measures CPU time: flock FILE
#
# port.sh defines these functions.  DIR is a source, unpacked; they run there.
# They may write logs to standard error, and end with non-zero if they fail.
#
#     port_package      prints package=version
#     port_put_in DIR   puts our files in, and patches what uses them
#     port_build DIR    builds daemon and tests, with TT_CFLAGS and TT_LIBS,
#                       which are empty before
#     port_tests DIR    runs their tests; prints "failed test NAME" for each
#                       that fails, and "tests passed N failed N" at the end
#     port_use DIR      starts the daemon, uses it, reloads it and stops it;
#                       prints "use ok", "wakeups N" (of 10 idle seconds),
#                       "rss_kb N"
#     port_pair DIR     prints "pair_ns N": the CPU time of one timer that is
#                       scheduled and cancelled; "pair_ns -": they have none
#     port_lines DIR    prints "lines N": the lines of code of the file
#
# helpers.sh has more that they can use.
set -eu
daemons=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${TT_DAEMONS:-daemons}"
work=$(cd "${TT_DAEMONS:-daemons}" && pwd)
jobs=$(nproc 2>/dev/null || echo 1)
# Messages of other languages are none that a port can look for.
LC_ALL=C
export LC_ALL

# shellcheck source=test/daemons/helpers.sh
. "$daemons/helpers.sh"

if [ "${1-}" = --step ]; then
	name=$2 step=$3 dir=$4
	# Their configure chooses the shell that it needs.
	unset CONFIG_SHELL
	# So that what port.sh does on EXIT is done.
	trap 'exit 1' HUP INT TERM
	# shellcheck source=/dev/null
	. "$daemons/$name/port.sh"
	cd "$dir"
	"port_$step" "$dir"
	exit
fi

die() {
	echo "check.sh: $*" >&2
	exit 1
}

# logged LOG COMMAND...
logged() {
	log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null && return
	tail -n 40 "$log" >&2
	echo "check.sh: failed: $* (all of it: $log)" >&2
	return 1
}

# apt COMMAND...: with lists of its own, which have sources, too.
apt() {
	tool=$1
	shift
	"$tool" -q -o Dpkg::Use-Pty=0 -o Dir::Etc::sourcelist=/dev/null \
		-o Dir::Etc::sourceparts="$work/apt" \
		-o Dir::State::lists="$work/apt/lists" \
		-o Dir::Cache="$work/apt" -o APT::Sandbox::User=root "$@"
}
lists() {
	[ ! -f "$work/apt/done" ] || return 0
	rm -rf "$work/apt"
	mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
	sed 's/^Types: deb$/Types: deb deb-src/' \
		/etc/apt/sources.list.d/debian.sources \
		>"$work/apt/debian.sources" 2>/dev/null ||
		sed -n 's/^deb /deb-src /p; s/^deb-src /deb /p' \
			/etc/apt/sources.list >"$work/apt/debian.list"
	logged "$work/apt.log" apt apt-get update || return
	touch "$work/apt/done"
}

# depends NAME PACKAGE: installs what is needed to build it.
depends() {
	if [ "$(id -u)" -eq 0 ]; then
		DEBIAN_FRONTEND=noninteractive
		export DEBIAN_FRONTEND
		logged "$work/$1/depends.log" apt apt-get -y \
			--no-install-recommends build-dep "$2"
		return
	fi
	missing=$(apt apt-get -s --no-install-recommends build-dep "$2" |
		sed -n 's/^Inst \([^ ]*\).*/\1/p' | tr '\n' ' ')
	[ -z "$missing" ] || die "not root; run: apt-get install $missing"
}

# source_of NAME: its source, in $work/NAME; and what is needed to build it.
source_of() {
	# shellcheck source=/dev/null
	package=$(. "$daemons/$1/port.sh" && port_package)
	version=${package#*=}
	dsc=${package%=*}_${version#*:}.dsc
	mkdir -p "$work/$1"
	if [ -n "${TT_SOURCES-}" ]; then
		dsc=$TT_SOURCES/$dsc
		[ -f "$dsc" ] && return
		echo "$1: there is no $dsc"
		return 77
	fi
	lists || return
	if ! apt apt-cache showsrc "${package%=*}" 2>/dev/null |
		grep -qx "Version: $version"; then
		echo "$1: this system has no source of $package"
		return 77
	fi
	depends "$1" "$package" || return
	dsc=$work/$1/$dsc
	[ -f "$dsc" ] || (cd "$work/$1" && logged source.log \
		apt apt-get source --download-only "$package")
}

# The library, as a program finds it that was built for it.
library() {
	[ -x "$daemons/../../configure" ] || die "no configure; see README"
	mkdir -p "$work/lib"
	(cd "$work/lib" && { [ -f Makefile ] ||
		logged ../configure.log run "$daemons/../../configure" \
			--prefix="$work/prefix" --disable-static; } &&
		logged ../make.log run make -j "$jobs" &&
		logged ../install.log run make install) || return
	libdir=$work/prefix/lib
	PKG_CONFIG_PATH=$libdir/pkgconfig
	export PKG_CONFIG_PATH
	cflags=$(pkg-config --cflags timerthread)
	libs="-Wl,-rpath,$libdir $(pkg-config --libs timerthread)"
}

# step NAME before|after STEP: what it prints goes to a file.
step() {
	rm -f "$work/$1/$2.$3"
	TT_CFLAGS='' TT_LIBS=''
	[ "$2" = before ] || TT_CFLAGS=$cflags TT_LIBS=$libs
	export TT_CFLAGS TT_LIBS
	alone=
	[ "$3" != pair ] || alone=${TT_ALONE-}
	echo "$1: $3, $2"
	# shellcheck disable=SC2086 # a command
	if $alone sh "$daemons/check.sh" --step "$1" "$3" "$work/$1/$2" \
		>"$work/$1/$2.$3" 2>"$work/$1/$2.$3.log" </dev/null; then
		return
	fi
	tail -n 40 "$work/$1/$2.$3" "$work/$1/$2.$3.log" >&2
	echo "check.sh: failed: $1: $3, $2 (all of it: $work/$1/$2.$3*)" >&2
	return 1
}

# value NAME before|after STEP WORD: what stands behind the word.
value() {
	awk -v word="$4" '{
		for (i = 1; i < NF; i++)
			if ($i == word)
				found = $(i + 1)
	}
	END { print found == "" ? "?" : found }' "$work/$1/$2.$3"
}

# check NAME: everything about it; 77, if there is no source.
check() {
	source_of "$1" || return
	# Before stays the same; the name of the file says of which version.
	if [ ! -f "$work/$1/$version.built" ]; then
		rm -rf "$work/$1/before"
		logged "$work/$1/unpack.log" dpkg-source --no-check -x "$dsc" \
			"$work/$1/before" || return
		step "$1" before build || return
		touch "$work/$1/$version.built"
	fi
	rm -rf "$work/$1/after"
	logged "$work/$1/unpack.log" \
		dpkg-source --no-check -x "$dsc" "$work/$1/after" || return
	step "$1" after put_in && step "$1" after build || return
	for dir in before after; do
		step "$1" $dir lines && step "$1" $dir use &&
			step "$1" $dir pair && step "$1" $dir tests || return
		if ! grep -qx 'use ok' "$work/$1/$dir.use"; then
			echo "check.sh: failed: $1, $dir: no use ok" >&2
			return 1
		fi
	done
	for dir in before after; do
		sed -n '/^failed test/p' "$work/$1/$dir.tests" | sort \
			>"$work/$1/$dir.failed"
	done
	if [ "$(value "$1" after tests passed)" -lt \
		"$(value "$1" before tests passed)" ] ||
		comm -13 "$work/$1/before.failed" "$work/$1/after.failed" |
		grep .; then
		echo "check.sh: failed: $1: tests that passed before" >&2
		return 1
	fi
}

# row NAME: its line of the table.
row() {
	printf '%-10s' "$1"
	for item in lines:lines tests:passed pair:pair_ns use:wakeups \
		use:rss_kb; do
		printf '%7s%7s' "$(value "$1" before "${item%:*}" "${item#*:}")" \
			"$(value "$1" after "${item%:*}" "${item#*:}")"
	done
	printf '\n'
}

[ $# -gt 0 ] || die "usage: check.sh NAME..."
for name; do
	[ -f "$daemons/$name/port.sh" ] || die "no $daemons/$name/port.sh"
done
library || exit 1
failed=0 rows=
for name; do
	# set -e is off in there.
	r=0
	check "$name" || r=$?
	case $r in
	0) rows="$rows $name" ;;
	77) ;;
	*) failed=1 ;;
	esac
done
[ -n "$rows" ] || exit $((failed ? 1 : 77))
printf '%-10s%14s%14s%14s%14s%14s\n%-10s' '' lines 'tests passed' \
	'pair, ns' 'wake-ups' 'memory, KiB' ''
printf '%7s%7s' before after before after before after before after before after
printf '\n'
for name in $rows; do
	row "$name"
done
exit $failed
