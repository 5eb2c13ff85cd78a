#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gdb loads the script by itself, for the stripped library as it is installed
# with its debug information in another place, and "info timers" shows the same
# in a process and in a core dump of it.
set -eu
srcdir=${srcdir:?run this by make check}
if ! command -v gdb >/dev/null ||
	! gdb -nx -batch -ex 'python pass' >/dev/null 2>&1; then
	echo "gdb with Python is missing (Debian: gdb)"
	exit 77
fi
# shellcheck source=test/install/scratch.sh
. "$srcdir/test/install/scratch.sh"
libdir=$root$TT_LIBDIR

so=$(readlink -f "$libdir/libtimerthread.so.1")
script=$(find "$root" -name 'libtimerthread.so*-gdb.py')
if ! [ -e "$so" ] || [ -z "$script" ]; then
	echo "no shared library, or no script, was installed"
	exit 77
fi
echo "installed: ${script#"$root"}"
auto_load=${script%"$TT_LIBDIR/$(basename "$so")-gdb.py"}
[ "$auto_load" != "$script" ] || fail "gdb would not find $script"
# As if it had been installed in the root that it is in.
mkdir -p "$auto_load$libdir"
mv "$script" "$auto_load$libdir"

$CC -O1 -g -pthread -I"$root$TT_INCLUDEDIR" "$srcdir/test/gdb/debuggee.c" \
	-o "$work/debuggee" -L"$libdir" -ltimerthread -Wl,-rpath,"$libdir"

mkdir -p "$work/debug"
if ! "$OBJCOPY" --only-keep-debug "$so" "$work/debug/$(basename "$so").debug" ||
	! "$READELF" -SW "$so" | grep -q debug_info; then
	echo "the library has no debug information"
	exit 77
fi
"$OBJCOPY" --strip-all "$so"
"$OBJCOPY" --add-gnu-debuglink="$work/debug/$(basename "$so").debug" "$so"
cp "$work/debug/$(basename "$so").debug" "$libdir"

# look OUT GDB-ARGUMENT...: what it shows; its status is that of its last command.
look() {
	out=$1
	shift
	gdb -nx -batch -iex "set auto-load safe-path $root" \
		-iex "set debuginfod enabled off" \
		-iex "add-auto-load-scripts-directory $auto_load" \
		"$@" >"$out" 2>&1 </dev/null || echo "gdb: $?"
	cat "$out"
}

# shows PATTERN: a line of $out matches.
shows() {
	grep -Eq "$1" "$out" || fail "$out does not show: $1"
}

check() {
	# Where gdb knows the C library's threads.
	thread=
	! grep -q 'using libthread_db' "$out" || thread=', thread [2-5]'
	shows '^timerthread "busy" at 0x[0-9a-f]+: running; driver: thread; clock: monotonic$'
	shows '^timerthread "still" at .*: running; driver: virtual; clock: virtual$'
	shows '^timerthread "pool" at .*: running; driver: thread'
	shows 'running now for .*: 0x[0-9a-f]{16} wait_for_ever .*, argument 0xfed'"$thread\$"
	shows '^timerthread "\\x1b\[31m\\n\\x9b\\x9b\\" at .*: running; driver: polled'
	! LC_ALL=C grep -q "$(printf '\033\\|\233')" "$out" ||
		fail "$out has what a terminal obeys"
	shows '^timerthread "idle" at .*: not started; driver: none'
	shows 'running now for [0-9.]+ [mun]?s: 0x[0-9a-f]{16} wait_for_ever .*debuggee\.c:[0-9]+\), argument 0xdef'"$thread\$"
	shows ' in (600|5[0-9][0-9]\.?[0-9]*) s, every 5 s: tick .*debuggee\.c:[0-9]+\), argument 0x456 \(pending\)$'
	shows ' in (3600|35[0-9]+\.?[0-9]*) s: expire .*, argument 0x123 \(pending\)$'
	shows ' in (9000|8[0-9]+\.?[0-9]*) s: expire .*, argument 0xabc \(pending, rescheduled\)$'
	shows ' never: expire .*, argument 0x123 \(pending\)$'
	shows ' -: wait_for_ever .*argument 0xdef \(running\)$'
	shows ' -: expire .*argument 0xbad \(not armed\)$'
	shows ' in 500 ms: expire '
	shows '  timers: 6, and [01] that were cancelled'
	if grep -q 0x789 "$out"; then
		fail "$out shows a timer that was cancelled"
	fi
	# In the order of their deadlines.
	grep -E 'argument 0x(456|123|abc) ' "$out" | sed 's/.*argument //' |
		head -n 4 | tr '\n' ' ' >"$work/order"
	case $(cat "$work/order") in
	*'0x456 (pending) 0x123 (pending) 0xabc '*) ;;
	*) fail "not in order: $(cat "$work/order")" ;;
	esac
}

mkfifo "$work/said"
"$work/debuggee" >"$work/said" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT
read -r said <"$work/said"
[ "$said" = ready ] || fail "it says: $said"

echo "== in a process"
if gdb -nx -batch -p "$pid" -ex detach 2>&1 | grep -q 'ptrace: '; then
	echo "not run: this process may not trace another"
else
	look "$work/live" -p "$pid" -ex 'info timers' \
		-ex "generate-core-file $work/core"
	check
	echo "== in a core dump"
	look "$work/dead" "$work/debuggee" "$work/core" -ex 'info timers' \
		-ex 'echo one:\n' -ex 'info timers still' \
		-ex 'info timers nobody' -ex 'info timers 1 +' \
		-ex 'info timers busy busy'
	check
	shows 'when the library last looked at the clock'
	# The polled one has not looked: its time is not 0.
	shows '  the time: unknown \(unknown\)$'
	shows ' at [0-9]+ ns: expire .*, argument 0x321 \(pending\)$'
	for name in nobody '1 \+' 'busy busy'; do
		shows "^There is no such instance: $name\$"
	done
	! grep -E 'Python Exception|Traceback' "$out" ||
		fail "gdb shows what is the script's own"
	sed -n '/^one:/,$p' "$out" >"$work/one"
	grep -q '"still"' "$work/one" || fail "it does not show the one"
	! grep -q '"busy"' "$work/one" || fail "it shows others"
fi
kill "$pid"

echo "== without debug information"
rm "$libdir"/*.debug
look "$work/none" "$work/debuggee" -ex 'break main' -ex run -ex 'info timers'
if grep -qi 'ptrace: \|could not trace' "$out"; then
	echo "not run: this process may not trace its children"
else
	shows 'There is no debug information of libtimerthread'
fi
exit "$failed"
