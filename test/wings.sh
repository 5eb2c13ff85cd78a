#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The plan of lib/ (see HACKING):
#
#  - It is made of wings, each a folder that stands on those below it.  A part,
#    which is a header and its source, includes parts of its own wing and of
#    those below, and the public header.
#  - No part includes itself by way of others.
#  - Only lib/os knows Linux: the other wings use the C library by a list of
#    headers, and none of its functions that other systems lack.
#
# Then that this test can fail: it must find what is planted in a copy.
set -eu
srcdir=${srcdir:?run this by make check}

wings='api engine pending intake os' # from the top
portable='errno limits pthread stdbool stddef stdint stdlib string time'
linux='[a-z_]*_np|sched_[a-z_]+|syscall|prctl|timerfd_[a-z_]+|epoll_[a-z_]+'
linux="$linux|eventfd[a-z_]*|futex|gettid|sysconf|_SC_[A-Z_]+|CLOCK_BOOTTIME"

# Of the sources in the folder where it stands, says what is wrong; and for
# each include "pair" and the two parts.
look() {
	# shellcheck disable=SC2016 # awk's variables, not ours
	find . -name '*.[ch]' | sed 's|^\./||' | sort | xargs awk \
		-v wings="$wings" -v portable="$portable" -v linux="$linux" '
	BEGIN {
		n = split(wings, w, " ")
		for (i = 1; i <= n; i++)
			rank[w[i]] = i
		n = split(portable, p, " ")
		for (i = 1; i <= n; i++)
			allowed["<" p[i] ".h>"] = 1
	}
	function wing_of(path) {
		return path ~ "/" ? substr(path, 1, index(path, "/") - 1) : ""
	}
	function part_of(path) {
		return substr(path, 1, length(path) - 2)
	}
	function wrong(what) {
		print FILENAME ": " what
	}
	# The line without comments; inside: one has begun on a line before.
	function code(line,    at, out) {
		out = ""
		while (line != "") {
			at = index(line, inside ? "*/" : "/*")
			if (!at)
				return inside ? out : out line
			if (!inside)
				out = out substr(line, 1, at - 1)
			line = substr(line, at + 2)
			inside = !inside
		}
		return out
	}
	FNR == 1 {
		inside = 0
		wing = wing_of(FILENAME)
		if (!(wing in rank))
			wrong("it is in no wing")
	}
	{ line = code($0) }
	line ~ /^#include "/ {
		name = line
		gsub(/^#include "|".*/, "", name)
		if (name == "config.h" || name == "timerthread.h")
			next
		if (!(wing_of(name) in rank) ||
		    rank[wing_of(name)] < rank[wing])
			wrong(name " is above it, or in no wing")
		if (part_of(name) != part_of(FILENAME))
			print "pair " part_of(FILENAME) " " part_of(name)
		next
	}
	wing == "os" { next }
	line ~ /^#include </ {
		name = line
		sub(/^#include /, "", name)
		if (!(name in allowed))
			wrong(name " is for lib/os")
		next
	}
	match(" " line " ", "[^A-Za-z0-9_](" linux ")[^A-Za-z0-9_]") {
		wrong("for lib/os: " line)
	}'
}

# Says what is wrong in a folder with the wings.
check() {
	look >"$work/found"
	grep -v '^pair ' "$work/found" || :
	sed -n 's/^pair //p' "$work/found" | tsort 2>&1 >/dev/null |
		sed 's/^tsort: -: /a circle: /'
	for wing in $wings; do
		[ -f "$wing/README" ] || echo "$wing has no README"
	done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wrong=$(cd "$srcdir/lib" && check)
if [ -n "$wrong" ]; then
	echo "$wrong"
	exit 1
fi

# finds FILE LINE PATTERN: it must say this once the line is in the file.
finds() {
	rm -rf "${work:?}/lib"
	cp -R "$srcdir/lib" "$work"
	chmod -R u+w "$work/lib"
	echo "$2" >>"$work/lib/$1"
	if ! (cd "$work/lib" && check) | grep -q "$3"; then
		echo "not found: $2 in $1"
		exit 1
	fi
}

finds os/lock.c '#include "intake/slot.h"' 'os/lock.c: intake/slot.h is above'
finds pending/sweep.c '#include "engine/engine.h"' 'sweep.c: engine.* is above'
finds engine/fire.h '#include "api/instance.h"' 'fire.h: api/instance.h is above'
finds intake/slot.h '#include "lock.h"' 'slot.h: lock.h is .*in no wing'
finds pending/sweep.c '#include "pending/pending.h"' 'a circle'
finds intake/bucket.c '#include "intake/rent.h"' 'a circle'
finds api/life.c '#include <sys/timerfd.h>' '<sys/timerfd.h> is for lib/os'
finds intake/intake.c 'int cpu(void) { return sched_getcpu(); }' \
	'intake.c: for lib/os: .*sched_getcpu'
finds extra.c 'int x;' 'extra.c: it is in no wing'
echo "the wings stand as they should"
