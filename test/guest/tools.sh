#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs that are built as a user's, with the library as it is installed, and
# then looked at by tools: ThreadSanitizer (of gcc and of clang; the library is
# not built with it), memcheck, helgrind and DRD.  They have nothing to say
# about a program that is correct, and find the race in one that has one.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

if [ -n "$TT_SANITIZER" ]; then
	echo "the library is built with a sanitizer, which sees all of it"
	exit 77
fi

case $builddir in
*[[:space:]]*)
	echo "libtool does not install into a path with a space"
	exit 77
	;;
esac

src=$srcdir/test/guest
work=$builddir/test/guest/tools.tmp
root=$work/root
rm -rf "$work"
mkdir -p "$root"
trap 'rm -rf "$work"' EXIT

# The job server of the make that runs the tests is not for this one.
unset MAKEFLAGS MFLAGS MAKELEVEL

"$MAKE" -C "$builddir" install DESTDIR="$root" >"$work/install.log" 2>&1 || {
	cat "$work/install.log"
	exit 1
}
LD_LIBRARY_PATH=$root$TT_LIBDIR
export LD_LIBRARY_PATH

static=
[ -e "$root$TT_LIBDIR/libtimerthread.so" ] || static=--static

# shellcheck disable=SC2086 # an option, or nothing
pkgconf() {
	PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH='' \
		PKG_CONFIG_LIBDIR=$root$TT_LIBDIR/pkgconfig \
		"$PKG_CONFIG" $static --cflags --libs timerthread
}

correct= racy=
for file in "$src"/*.c; do
	name=$(basename "$file" .c)
	case $name in
	host) ;;
	race_*) racy="$racy $name" ;;
	*) correct="$correct $name" ;;
	esac
done

# compile OUTPUT SOURCE COMPILER OPTION...
compile() {
	output=$1 source=$src/$2.c
	shift 2
	# shellcheck disable=SC2046 # a list of options
	"$@" -g -O1 -Wall -Wextra -Werror "$source" -o "$output" \
		$(pkgconf) -pthread
}

# build DIRECTORY COMPILER OPTION...: all programs, and one as a plugin.
build() {
	dir=$work/$1
	shift
	mkdir "$dir"
	for name in $correct $racy; do
		compile "$dir/$name" "$name" "$@" || return 1
	done
	compile "$dir/plugin.so" schedule "$@" -shared -fPIC \
		-Dmain=plugin_main &&
		compile "$dir/host" host "$@" -ldl
}

# try STATUS PROGRAM COMMAND...: what the command must end with; 0: and say
# nothing, else: and say something.
try() {
	expected=$1 name=$2
	shift 2
	status=0
	timeout 300 "$@" >"$dir/output" 2>&1 </dev/null || status=$?
	if [ "$status" -eq "$expected" ] && if [ "$expected" -eq 0 ]; then
		! [ -s "$dir/output" ]
	else
		[ -s "$dir/output" ]
	fi; then
		return
	fi
	echo "FAIL: $name: its exit status was $status, not $expected"
	head -n 200 "$dir/output"
	failed=1
}

# try_correct MANY COMMAND...: those that tools must be silent about.
try_correct() {
	many=$1
	shift
	for name in $correct; do
		case $name in
		growth) try 0 "$name" "$@" "$programs/$name" "$many" ;;
		*) try 0 "$name" "$@" "$programs/$name" ;;
		esac
	done
	try 0 plugin "$@" "$programs/host" "$programs/plugin.so"
}

# try_racy STATUS COMMAND...: those that it must report so.
try_racy() {
	expected_race=$1
	shift
	for name in $racy; do
		try "$expected_race" "$name" "$@" "$programs/$name"
	done
}

# With the address space laid out at random there may be no room for its shadow.
fixed=
if setarch -R true 2>/dev/null; then
	fixed='setarch -R'
fi

# has_tsan COMPILER
has_tsan() {
	command -v "$1" >/dev/null || return 1
	echo 'int main(void) { return 0; }' >"$work/empty-$1.c"
	# shellcheck disable=SC2086 # a command, or nothing
	"$1" -fsanitize=thread "$work/empty-$1.c" -o "$work/empty-$1" \
		2>/dev/null && $fixed "$work/empty-$1"
}

# tsan COMPILER
tsan() {
	programs=$work/tsan-$1
	build "tsan-$1" "$1" -fsanitize=thread || return 1
	TSAN_OPTIONS='exitcode=66 atexit_sleep_ms=50'
	export TSAN_OPTIONS
	# shellcheck disable=SC2086
	try_correct 25000 $fixed
	# shellcheck disable=SC2086
	try_racy 66 $fixed
}

# valgrind_tool TOOL OPTION...: with programs that are there.
valgrind_tool() {
	programs=$work/plain dir=$work/$1
	mkdir "$dir"
	tool=$1
	shift
	set -- valgrind --tool="$tool" --quiet --error-exitcode=99 \
		--fair-sched=yes --num-callers=30 \
		--suppressions="$src/valgrind.supp" "$@"
	try_correct 800 "$@"
	[ "$tool" = memcheck ] || try_racy 99 "$@"
}

# Valgrind's other tools do not know what helgrind and DRD are told.
other_tools() {
	programs=$work/plain dir=$work/others
	mkdir "$dir"
	for tool in none cachegrind callgrind massif; do
		out=
		[ "$tool" = none ] || out=--$tool-out-file=/dev/null
		# shellcheck disable=SC2086 # an option, or nothing
		try 0 "hooks, $tool" valgrind --tool="$tool" --quiet $out \
			"$programs/hooks"
	done
}

# series COMMAND...: beside the others.
started=
series() {
	label=$(echo "$*" | cut -d ' ' -f 1,2 | tr ' ' -)
	started="$started $label"
	(
		failed=0
		begin=$(date +%s)
		"$@" || failed=1
		echo "$*: $(($(date +%s) - begin)) s"
		exit "$failed"
	) >"$work/$label.log" 2>&1 &
	echo $! >"$work/$label.pid"
}

for compiler in gcc clang; do
	if has_tsan "$compiler"; then
		series tsan "$compiler"
	else
		echo "$compiler -fsanitize=thread does not work here"
	fi
done
if ! command -v valgrind >/dev/null; then
	echo "valgrind is not here"
elif build plain "$CC"; then
	series valgrind_tool memcheck --leak-check=full \
		--show-leak-kinds=definite --errors-for-leak-kinds=definite
	if grep -q '^#define HAVE_VALGRIND 1' "$builddir/config.h"; then
		series valgrind_tool helgrind
		series valgrind_tool drd
	else
		echo "the library is built without valgrind's headers"
	fi
	series other_tools
else
	exit 1
fi

[ -n "$started" ] || exit 77
failed=0
for label in $started; do
	wait "$(cat "$work/$label.pid")" || failed=1
	cat "$work/$label.log"
done
exit "$failed"
