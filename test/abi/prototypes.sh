# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What a header of ours declares, and what a library of ours exports; for the
# scripts that source this.

# statements HEADER: those of ours in it, one a line and with single spaces.
# The preprocessor takes comments out.
statements() {
	# shellcheck disable=SC2086 # a compiler may come with options
	$CC -E -P "$1" | tr '\n' ' ' | tr '{};' '[\n*]' |
		sed 's/[[:space:]][[:space:]]*/ /g; s/^ //; s/ $//' |
		grep timerthread_
}

# prototypes HEADER: the statements that are no typedef and have "name(".
prototypes() {
	statements "$1" | grep -v '^typedef' |
		grep 'timerthread_[A-Za-z0-9_]*('
}

# functions HEADER: the names of those that it declares, sorted.
functions() {
	prototypes "$1" | sed 's/(.*//; s/.*[ *]//' | sort
}

# exports MAP: "name@node" for each name that a symbol map lists, sorted.
exports() {
	awk '
		{ gsub(/\/\*.*\*\/|#.*/, "") }
		/\{/ { node = $1; exported = 0 }
		/global:/ { exported = 1 }
		/local:/ { exported = 0 }
		# Behind it there may be the node that this one inherits.
		/\}/ { exported = 0 }
		exported && /;/ {
			name = $1
			sub(/;.*/, "", name)
			print name "@" node
		}
	' "$1" | sort
}

# symbols DESCRIPTION: the same from what abidw said of a library.
symbols() {
	awk -F "'" '/<elf-symbol name=.* version=.* is-defined=.yes/ {
		print $2 "@" $4 }' "$1" | sort
}

# version HEADERS: what TIMERTHREAD_VERSION stands for.
version() {
	# shellcheck disable=SC2086
	printf '#include <timerthread.h>\nTIMERTHREAD_VERSION\n' |
		$CC -E -P -I"$1" - | tail -n 1
}

# misplaced PREVIOUS SOURCES: what the map has in a node of the previous release
# that was not there.  A program that calls it would be started with that
# release, and fail at the call.  While the header has that release's version,
# it may not be out yet: nothing is misplaced.
misplaced() {
	[ "$(version "$1")" != "$(version "$2/include")" ] || return 0
	{
		symbols "$1/libtimerthread.abi"
		echo
		exports "$2/lib/libtimerthread.map"
	} | awk -F @ '
		!NF { now = 1; next }
		!now { before[$0]; nodes[$2]; next }
		$2 in nodes && !($0 in before)'
}

# stand_in PREVIOUS DIR: makes DIR/libtimerthread.so, which has the functions of
# the previous release, with their types and symbol versions, and does nothing.
stand_in() {
	{
		echo '#include <timerthread.h>'
		prototypes "$1/timerthread.h" |
			sed 's/$/ { __builtin_trap(); }/'
	} >"$2/stand-in.c"
	symbols "$1/libtimerthread.abi" | sort -t @ -k 2 | awk -F @ '
		$2 != node {
			print (node ? "};\n" : "") $2 " {\nglobal:"
			node = $2
		}
		{ print "\t" $1 ";" }
		END { print "local:\n\t*;\n};" }' >"$2/stand-in.map"
	# shellcheck disable=SC2086
	$CC -g -w -shared -fPIC -I"$1" -Wl,-soname,libtimerthread.so.1 \
		-Wl,--version-script="$2/stand-in.map" "$2/stand-in.c" \
		-o "$2/libtimerthread.so"
}
