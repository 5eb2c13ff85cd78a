#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The plan of lib/ (see HACKING):
#
#  - It is made of wings, each a folder that stands on those below it.  A part,
#    which is a header, mostly with a source, includes parts of its own wing and
#    of those below, and the public header.
#  - No part includes itself by way of others.
#  - Only lib/os knows the system: the other wings use the C library by a list
#    of headers, which is longer for lib/base, and of its functions those that
#    other systems have.  In lib/os, only the folder linux knows Linux.
#  - lib/libtimerthread.c includes each source, the lowest wing's first; of the
#    folders of lib/os, what each has.
#  - What was compiled agrees: an object calls what is in its wing, below it, or
#    in a list of the C library's functions, even if it was declared by hand.
#
# Then that this test can fail: it must find what is planted in a copy.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
build=$(cd "$builddir/lib" && pwd)

wings='view api engine pending intake store os base' # from the top
portable='errno inttypes limits pthread stdbool stddef stdint stdlib string time'
base='atomic_ops dlfcn stdarg stdio sys/sdt unistd'
linux='[a-z_]*_np|sched_[a-z_]+|syscall|prctl|timerfd_[a-z_]+|epoll_[a-z_]+'
linux="$linux|eventfd[a-z_]*|futex|mmap|munmap|gettid|sysconf|_SC_[A-Z_]+|CLOCK_BOOTTIME"
# What lib/os, beside its folder linux, does not use.
native='sched_(getcpu|[a-z]*affinity)|syscall|prctl|timerfd_[a-z_]+|epoll_[a-z_]+'
native="$native|eventfd[a-z_]*|gettid|pipe2|accept4|cpu_set_t"
native="$native|MADV_(DONTNEED|WIPEONFORK)|SYS_[a-z_]+|FUTEX_[A-Z_]+"
native="$native|<(linux/[a-z]+|sys/(prctl|timerfd|eventfd|epoll|syscall)).h>"
# Beside what the compiler calls by itself, which begins with an underscore.
functions='abort aligned_alloc calloc free malloc realloc'
functions="$functions memcpy memmove memset strcmp strcpy strlen strnlen"
functions="$functions pthread_(attr|mutex)_[a-z_]+ pthread_detach"
functions="$functions pthread_join pthread_key_create pthread_self"
functions="$functions pthread_setcancelstate pthread_setspecific"
base_functions='dladdr vsnprintf write'

# Of the sources in the folder where it stands, says what is wrong; and for
# each include "pair" and the two parts.
look() {
	# shellcheck disable=SC2016 # awk's variables, not ours
	find . -name '*.[ch]' ! -path ./libtimerthread.c | sed 's|^\./||' | sort | xargs awk \
		-v wings="$wings" -v portable="$portable" -v linux="$linux" \
		-v native="$native" -v base="$base" '
	BEGIN {
		n = split(wings, w, " ")
		for (i = 1; i <= n; i++)
			rank[w[i]] = i
		n = split(portable, p, " ")
		for (i = 1; i <= n; i++)
			allowed["<" p[i] ".h>"] = 1
		n = split(base, p, " ")
		for (i = 1; i <= n; i++)
			allowed["base <" p[i] ".h>"] = 1
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
	line ~ /^[ \t]*#[ \t]*include/ {
		name = line
		sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
		sub(/[ \t]*$/, "", name)
	}
	line ~ /^[ \t]*#[ \t]*include[ \t]*"/ {
		gsub(/"/, "", name)
		if (name == "config.h" || name == "timerthread.h" ||
		    (name == "system_inline.h" && wing == "os"))
			next
		if (!(wing_of(name) in rank) || name ~ /\.\./ ||
		    rank[wing_of(name)] < rank[wing])
			wrong(name " is above it, or in no wing")
		if (part_of(name) != part_of(FILENAME))
			print "pair " part_of(FILENAME) " " part_of(name)
		next
	}
	line ~ /^[ \t]*#[ \t]*include/ && wing_of(substr(name, 2)) in rank {
		wrong(name " is to be in quotes")
	}
	# posix asks for the end of the slack where it can.
	FILENAME == "os/posix/system.c" && /prctl|PR_SET_TIMERSLACK/ { next }
	wing == "os" && FILENAME !~ "^os/linux/" &&
	match(" " line " ", "[^A-Za-z0-9_](" native ")[^A-Za-z0-9_]") {
		wrong("for lib/os/linux: " line)
	}
	wing == "os" { next }
	line ~ /^[ \t]*#[ \t]*include/ {
		if (!(name in allowed || (wing " " name) in allowed))
			wrong(name " is for lib/os")
		next
	}
	match(" " line " ", "[^A-Za-z0-9_](" linux ")[^A-Za-z0-9_]") {
		wrong("for lib/os: " line)
	}'
}

# calls BUILD: what the objects there call though they may not.  From the lowest
# wing up, so that what is known so far is what a wing may call; base/*.h and
# os/*.h have functions that are compiled into the wings above.
calls() {
	for wing in base os store intake pending engine api view; do
		[ -d "$1/$wing" ] || continue
		# From there, so that no name has a space.
		# shellcheck disable=SC2086 # nm may come with options
		(cd "$1" && find "$wing" -name '*.o' -exec \
			$NM -g --defined-only {} +) |
			awk 'NF == 3 { print "has", $3 }'
		# shellcheck disable=SC2086
		[ "$wing" = os ] || (cd "$1" && find "$wing" -name '*.o' \
			-exec $NM -u -A {} +) |
			awk -v from="$wing" '{
				sub(/:.*/, "", $1)
				print "calls", $NF, $1, from
			}'
	done | awk -v functions="$functions" -v base="$base_functions" \
		-v lowest="$(cat base/*.h)" -v headers="$(cat os/*.h os/*/*.h)" '
	BEGIN {
		gsub(/ /, "|", functions)
		gsub(/ /, "|", base)
	}
	function may(name, wing) {
		if (name in has || name ~ "^_" || index(lowest, name) ||
		    name ~ "^(" functions ")$")
			return 1
		if (wing == "base")
			return name ~ "^(" base ")$"
		return index(headers, name)
	}
	$1 == "has" { has[$2] = 1 }
	$1 == "calls" && !may($2, $4) {
		print $3 ": it may not call " $2
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
	for wing in base os store intake pending engine api view; do
		find "$wing" -name '*.c' | sort
	done >"$work/sources"
	sed -n 's/^#include "\(.*\)"$/\1/p' libtimerthread.c >"$work/unit"
	for source in $(sort "$work/unit" "$work/sources" | uniq -u); do
		echo "$source is in one only: lib/ or libtimerthread.c"
	done
	sed 's|/.*||' "$work/unit" | uniq >"$work/order"
	[ "$(tr '\n' ' ' <"$work/order")" = \
		'base os store intake engine api view ' ] ||
		echo "libtimerthread.c: not in the order of the wings"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wrong=$(cd "$srcdir/lib" && check && calls "$build")
if [ -n "$wrong" ]; then
	echo "$wrong"
	exit 1
fi

# finds FILE LINE PATTERN: plants the line, of which the check must say this.
cp -R "$srcdir/lib" "$work"
chmod -R u+w "$work/lib"
: >"$work/expected"
finds() {
	echo "$2" >>"$work/lib/$1"
	echo "$3" >>"$work/expected"
}

finds os/lock.c '#include "store/slot.h"' 'os/lock.c: store/slot.h is above'
finds os/lock.c ' # include <store/slot.h>' 'lock.c: .* is to be in quotes'
finds pending/wheel.h '#include "engine/engine.h"' 'wheel.h: engine.* is above'
finds engine/fire.h '#include  "api/instance.h"' 'fire.h: api/instance.h is above'
finds api/driver.c '#include "view/stats.h"' 'driver.c: view/stats.h is above'
finds base/text.h '#include "os/lock.h"' 'text.h: os/lock.h is above'
finds base/text.h '#include <sys/mman.h>' '<sys/mman.h> is for lib/os'
finds base/keep.c 'long n(void) { return sysconf(84); }' \
	'keep.c: for lib/os: .*sysconf'
finds store/block.c '#include <stdio.h>' 'block.c: <stdio.h> is for lib/os'
finds store/slot.h '#include "lock.h"' 'slot.h: lock.h is .*in no wing'
finds store/slot.c '#include "os/../engine/turn.h"' 'slot.c: .*turn.h is above'
finds pending/heap.h '#include "pending/pending.h"' 'tsort: pending/heap'
finds intake/bucket.c '#include "intake/recycle.h"' 'tsort: intake/recycle'
finds api/life.c '# include <sys/timerfd.h>' '<sys/timerfd.h> is for lib/os'
finds intake/intake.h 'int cpu(void) { return sched_getcpu(); }' \
	'intake.h: for lib/os: .*sched_getcpu'
finds os/lock.c 'int cpu(void) { return sched_getcpu(); }' \
	'lock.c: for lib/os/linux: .*sched_getcpu'
finds os/posix/futex.c '#include <sys/timerfd.h>' \
	'futex.c: for lib/os/linux: .*timerfd'
finds extra.c 'int x;' 'extra.c: it is in no wing'
finds store/extra.c '' 'store/extra.c is in one only'
finds libtimerthread.c '#include "base/keep.h"' 'not in the order of the wings'

# The same for what an object calls.
mkdir "$work/build"
for wing in $wings; do
	mkdir "$work/build/$wing"
	[ ! -d "$build/$wing" ] ||
		find "$build/$wing" -name '*.o' -exec cp {} "$work/build/$wing" \;
done
calls_found() {
	echo "$2" >"$work/planted.c"
	# shellcheck disable=SC2086 # a compiler may come with options
	$CC -w -c "$work/planted.c" -o "$work/build/$1/planted.o"
	echo "$1/planted.o: it may not call $3" >>"$work/expected"
}

calls_found base 'void lock_release(void *); void f(void)
	{ lock_release(0); }' lock_release
calls_found intake 'void engine_turn(void); void f(void) { engine_turn(); }' \
	engine_turn
calls_found pending 'int timerthread_stop(void *); int f(void)
	{ return timerthread_stop(0); }' timerthread_stop
calls_found engine 'int pipe2(int *, int); int f(int *p)
	{ return pipe2(p, 0); }' pipe2

(cd "$work/lib" && check && calls "$work/build") >"$work/said"
while read -r pattern; do
	grep -q "$pattern" "$work/said" || {
		echo "not found: $pattern, in:"
		cat "$work/said"
		exit 1
	}
done <"$work/expected"
echo "the wings stand as they should"
