#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the fuzzer for a while.  TT_FUZZ_RUNS says how many inputs it tries;
# TT_FUZZ_CORPUS is a directory where it keeps those that lead somewhere new.
set -eu

: "${TT_FUZZ_RUNS=20000}" "${srcdir:?}" "${builddir:?}"
corpus=
if [ -n "${TT_FUZZ_CORPUS-}" ]; then
	mkdir -p "$TT_FUZZ_CORPUS"
	corpus=$(cd "$TT_FUZZ_CORPUS" && pwd)
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >probe.c <<'END'
int LLVMFuzzerTestOneInput(const char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const char *data, unsigned long size)
{
	return data && size ? 0 : 0;
}
END
if ! clang -fsanitize=fuzzer,address probe.c -o probe 2>/dev/null; then
	echo "clang's fuzzer is not installed (Debian: clang libclang-rt-dev)"
	exit 77
fi
# shellcheck disable=SC2046 # a list of words
clang -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined \
	-DHAVE_CONFIG_H -D_GNU_SOURCE -I"$builddir" -I"$srcdir/include" \
	-I"$srcdir/lib" -I"$srcdir/test/unit" \
	$($PKG_CONFIG --cflags atomic_ops) \
	"$srcdir/test/fuzz/fuzz_pending.c" "$srcdir"/lib/*/*.c \
	-pthread -o fuzz
# shellcheck disable=SC2086 # none, if there is no corpus
if ! ./fuzz -runs="$TT_FUZZ_RUNS" -max_len=2000 -seed=1 -print_final_stats=1 \
	${corpus:+"$corpus"} >log 2>&1; then
	tail -n 60 log
	exit 1
fi
grep -E 'DONE|number_of_executed_units' log
