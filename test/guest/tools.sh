#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that are built as a user's, with the library as it is installed, and
# then looked at by tools: ThreadSanitizer and AddressSanitizer (of gcc and of
# clang; the library is not built with them), memcheck, helgrind and DRD.  They
# have nothing to say about a program that is correct, and find the race or the
# leak in one that has one.
#
# shellcheck disable=SC2154,SC2317 # variables of scratch.sh; what series calls
set -eu
# shellcheck source=test/install/scratch.sh
. "$(dirname "$0")/../install/scratch.sh"

if ! [ -e "$root$TT_LIBDIR/libtimerthread.so" ]; then
	echo "plugins cannot bring a library with them that is not shared"
	exit 77
fi
LD_LIBRARY_PATH=$root$TT_LIBDIR
export LD_LIBRARY_PATH
src=$srcdir/test/guest

correct='' racy='' leaky=''
for file in "$src"/*.c; do
	name=$(basename "$file" .c)
	case $name in
	host) ;;
	race_*) racy="$racy $name" ;;
	leak_*) leaky="$leaky $name" ;;
	*) correct="$correct $name" ;;
	esac
done

# compile BINARY SOURCE COMPILER OPTION...
compile() {
	binary=$1 source=$src/$2.c
	shift 2
	# shellcheck disable=SC2046 # a list of options
	"$@" -g -O1 -Wall -Wextra -Werror "$source" -o "$binary" \
		$(pkgconf --cflags --libs) -pthread
}

# build DIRECTORY COMPILER OPTION...: those that are correct as plugins, too.
build() {
	programs=$work/$1
	shift
	mkdir "$programs"
	plugins=''
	for name in $correct; do
		compile "$programs/$name" "$name" "$@" || return 1
		compile "$programs/$name.so" "$name" "$@" -shared -fPIC ||
			return 1
		plugins="$plugins $programs/$name.so"
	done
	for name in $racy $leaky; do
		compile "$programs/$name" "$name" "$@" || return 1
	done
	compile "$programs/host" host "$@" -Wl,--as-needed -ldl
}

# examine STATUS PROGRAM COMMAND...: what the command must end with; 0: and say
# nothing, else: and say something.
examine() {
	expected=$1 name=$2
	shift 2
	status=0
	timeout 300 "$@" >"$output" 2>&1 </dev/null || status=$?
	if [ "$status" -eq "$expected" ] && if [ "$expected" -eq 0 ]; then
		! [ -s "$output" ]
	else
		[ -s "$output" ]
	fi; then
		return
	fi
	fail "$name: its exit status was $status, not $expected"
	head -n 200 "$output"
}

# examine_wrong STATUS "PROGRAM..." COMMAND...: those that it must report so.
# What is wrong may not happen on a busy machine, where one thread may do all:
# so a program has three attempts.
examine_wrong() {
	expected_wrong=$1 wrong=$2
	shift 2
	for name in $wrong; do
		for _ in 1 2; do
			status=0
			timeout 300 "$@" "$programs/$name" >"$output" 2>&1 \
				</dev/null || status=$?
			[ "$status" -ne "$expected_wrong" ] || continue 2
		done
		examine "$expected_wrong" "$name" "$@" "$programs/$name"
	done
}

# With the address space laid out at random there may be no room for its shadow.
fixed=''
if setarch -R true 2>/dev/null; then
	fixed='setarch -R'
fi

# has SANITIZER COMPILER
has() {
	command -v "$2" >/dev/null || return 1
	empty=$work/empty-$1-$2
	echo 'int main(void) { return 0; }' >"$empty.c"
	# shellcheck disable=SC2086 # a command, or nothing
	"$2" "-fsanitize=$1" "$empty.c" -o "$empty" 2>/dev/null && $fixed "$empty"
}

# sanitized SANITIZER COMPILER OPTION...
sanitized() {
	sanitizer=$1 output=$work/$1-$2.output
	shift
	build "$sanitizer-$1" "$@" "-fsanitize=$sanitizer" || return 1
	for name in $correct; do
		# shellcheck disable=SC2086 # a command, or nothing
		examine 0 "$name" $fixed "$programs/$name"
	done
	# shellcheck disable=SC2086
	examine 0 plugins $fixed "$programs/host" $plugins
}

# tsan COMPILER
tsan() {
	TSAN_OPTIONS='exitcode=66 atexit_sleep_ms=50 print_suppressions=0'
	TSAN_OPTIONS="$TSAN_OPTIONS suppressions=$src/tsan.supp"
	export TSAN_OPTIONS
	sanitized thread "$1" -DBOXES=25000 || return 1
	# shellcheck disable=SC2086 # a command, or nothing
	examine_wrong 66 "$racy" $fixed
}

# asan COMPILER
asan() {
	ASAN_OPTIONS='exitcode=67 detect_leaks=1'
	export ASAN_OPTIONS
	sanitized address "$1" -DBOXES=25000 || return 1
	# shellcheck disable=SC2086 # a command, or nothing
	examine_wrong 67 "$leaky" $fixed
}

# valgrind_tool TOOL OPTION...: all that are correct in one process, for it
# takes a second to begin.
valgrind_tool() {
	tool=$1 output=$work/$1.output
	shift
	set -- valgrind --tool="$tool" --quiet --error-exitcode=99 \
		--fair-sched=yes --num-callers=30 \
		--suppressions="$src/valgrind.supp" "$@"
	# shellcheck disable=SC2086 # a list of names
	examine 0 plugins "$@" "$programs/host" $plugins
	case $tool in
	memcheck) examine_wrong 99 "$leaky" "$@" ;;
	*) examine_wrong 99 "$racy" "$@" ;;
	esac
}

# Valgrind's other tools do not know what helgrind and DRD are told.
other_tools() {
	output=$work/others.output
	for tool in none callgrind massif; do
		out=''
		[ "$tool" = none ] || out=--$tool-out-file=/dev/null
		# shellcheck disable=SC2086 # an option, or nothing
		examine 0 "hooks, $tool" valgrind --tool="$tool" --quiet $out \
			"$programs/hooks"
	done
}

# series NAME COMMAND...
series() {
	name=$1 begin=$(date +%s)
	shift
	echo "== $name"
	"$@" || fail "$name"
	echo "$(($(date +%s) - begin)) s"
}

all_sanitizers() {
	for compiler in gcc clang; do
		if has thread "$compiler"; then
			series "$compiler -fsanitize=thread" tsan "$compiler"
		else
			echo "$compiler -fsanitize=thread does not work here"
		fi
		if has address "$compiler"; then
			series "$compiler -fsanitize=address" asan "$compiler"
		else
			echo "$compiler -fsanitize=address does not work here"
		fi
	done
	return "$failed"
}

all_valgrind() {
	if ! command -v valgrind >/dev/null; then
		echo "valgrind is not here"
		return
	fi
	if ! build plain "$CC" -DBOXES=800; then
		fail "the programs do not build"
		return
	fi
	series memcheck valgrind_tool memcheck --leak-check=full \
		--show-leak-kinds=definite --errors-for-leak-kinds=definite
	if grep -q '^#define HAVE_VALGRIND 1' "$builddir/config.h"; then
		series helgrind valgrind_tool helgrind
		series DRD valgrind_tool drd
	else
		echo "the library is built without valgrind's headers"
	fi
	series "other tools" other_tools
}

if ! command -v gcc >/dev/null && ! command -v clang >/dev/null &&
	! command -v valgrind >/dev/null; then
	echo "neither gcc nor clang is here, nor valgrind"
	exit 77
fi
all_sanitizers >"$work/sanitizers.log" 2>&1 &
all_valgrind
wait $! || failed=1
cat "$work/sanitizers.log"
exit "$failed"
