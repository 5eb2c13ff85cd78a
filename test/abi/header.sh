#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The public header compiles alone and twice, in the oldest and the newest
# language that the compilers know, with nothing to warn about.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}

dir=$builddir/test/abi/header.tmp
rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT

printf '#include <timerthread.h>\n#include <timerthread.h>\n' >"$dir/header.c"
cp "$dir/header.c" "$dir/header.cc"
: >"$dir/empty.c"
: >"$dir/empty.cc"

# compiles COMPILER STANDARD SUFFIX: whether the header does.
compiles() {
	echo "$1 -std=$2"
	# shellcheck disable=SC2086 # a compiler may come with options
	$1 -std="$2" -pedantic-errors -Wall -Wextra -Wundef -Werror \
		-fsyntax-only -I"$srcdir/include" "$dir/header.$3"
}

# newest COMPILER SUFFIX STANDARD...: the first that the compiler knows.
newest() {
	compiler=$1 suffix=$2
	shift 2
	for std; do
		# shellcheck disable=SC2086
		if $compiler -std="$std" -fsyntax-only "$dir/empty.$suffix" \
			2>/dev/null; then
			echo "$std"
			return
		fi
	done
}

compiles "$CC" c99 c
compiles "$CC" "$(newest "$CC" c c2y c23 c2x c17 c11)" c
# shellcheck disable=SC2086
if $CXX -fsyntax-only "$dir/empty.cc"; then
	compiles "$CXX" c++98 cc
	compiles "$CXX" "$(newest "$CXX" cc c++26 c++2c c++23 c++2b c++20)" cc
else
	echo "no C++ compiler works here: C alone was checked"
fi
