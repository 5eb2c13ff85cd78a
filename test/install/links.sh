#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The ways in which programs link with the installed library: statically, with
# link-time optimization, in C and C++, by a plugin, twice in one process, and
# loaded by one that has no more memory.
set -eu
# shellcheck source=test/install/scratch.sh
. "$(dirname "$0")/scratch.sh"
src=$srcdir/test/install
so=$root$TT_LIBDIR/libtimerthread.so
archive=$root$TT_LIBDIR/libtimerthread.a
LD_LIBRARY_PATH=$root$TT_LIBDIR
export LD_LIBRARY_PATH

# build OUT SOURCE COMPILER OPTION...: 1: it does not link.
build() {
	out=$1 source=$2
	shift 2
	"$@" -o "$out" >"$work/log" 2>&1 && return
	echo "$* $source:"
	cat "$work/log"
	return 1
}

# links COMPILER OPTION...: do programs without the library?
links() {
	echo 'int main(void) { return 0; }' >"$work/trivial.c"
	"$@" "$work/trivial.c" -o "$work/trivial" >/dev/null 2>&1
}

# consumer HOW COMPILER LANGUAGE OPTION...
consumer() {
	how=$1 compiler=$2 language=$3
	shift 3
	if ! links "$compiler" "$@"; then
		echo "$compiler $*: links nothing here; that was not checked"
		return 0
	fi
	libs='--libs'
	[ "$how" = shared ] || libs='--libs --static'
	# shellcheck disable=SC2046,SC2086 # lists of options
	if build "$work/consumer" consumer.c "$compiler" -O2 "$@" \
		-x "$language" "$src/consumer.c" -x none \
		$(pkgconf --cflags $libs); then
		try "$compiler $*, $language, $how" "$version" \
			"$work/consumer"
	else
		fail "$compiler $*, $language, $how: does not link"
	fi
}

version=$(pkgconf --modversion)
case $CC in
*musl*) compilers=$CC:c ;;
*) compilers='gcc:c g++:c++ clang:c clang++:c++' ;;
esac
for pair in $compilers; do
	compiler=${pair%:*} language=${pair#*:}
	command -v "$compiler" >/dev/null || continue
	if [ -e "$so" ]; then
		consumer shared "$compiler" "$language" -flto
	fi
	if [ -e "$archive" ]; then
		for option in -static -static-pie -flto; do
			consumer static "$compiler" "$language" "$option"
		done
	fi
done

# shellcheck disable=SC2046,SC2086 # lists of options; CC may be one, too
if [ -e "$so" ]; then
	build "$work/plugin.so" plugin.c $CC -O2 -shared -fPIC \
		"$src/plugin.c" $(pkgconf --cflags --libs) ||
		fail "the plugin does not link"
	build "$work/loader" loader.c $CC -O2 "$src/loader.c" \
		$(pkgconf --cflags) -pthread -ldl ||
		fail "the loader does not link"
	try "a plugin" loaded "$work/loader" "$work/plugin.so"
	build "$work/starved" starved.c $CC -O2 -D_GNU_SOURCE \
		"$src/starved.c" $(pkgconf --cflags) -pthread -ldl ||
		fail "the starved program does not link"
	try "without memory" starved "$work/starved" "$so"
fi

# two_copies EXPECTED OPTION...
two_copies() {
	expected=$1
	shift
	# shellcheck disable=SC2046,SC2086
	if build "$work/two" two_copies.c $CC -O2 "$@" "$src/two_copies.c" \
		$(pkgconf --cflags) "$archive" -pthread -ldl; then
		try "two copies $*" "$expected" "$work/two" "$work/plugin.so"
	else
		fail "two copies $*: does not link"
	fi
}

if [ -e "$so" ] && [ -e "$archive" ]; then
	two_copies two
	# The plugin's calls are bound to what the program exports.
	two_copies one -rdynamic
fi

if command -v "${CXX%% *}" >/dev/null && [ -e "$so" ]; then
	# shellcheck disable=SC2046,SC2086
	build "$work/throws" throws.cc $CXX -O2 "$src/throws.cc" \
		$(pkgconf --cflags --libs) || fail "throws.cc does not link"
	for how in thread polled cancel_all; do
		try "an exception, $how" "terminated in the callback" \
			"$work/throws" "$how"
	done
fi
exit "$failed"
