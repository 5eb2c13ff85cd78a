#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs the fuzzer for a while, from the inputs in test/fuzz/corpus.
#
# TT_FUZZ_RUNS     so many inputs
# TT_FUZZ_SECONDS  as long, whatever their number
# TT_FUZZ_CORPUS   a directory, which may be of an earlier run: where it keeps
#                  inputs that lead somewhere new, and one that fails
# TT_FUZZ_MERGE    a file: where to write, at the end, those inputs of all that
#                  lead somewhere the others do not; it may be the corpus itself
set -eu

: "${srcdir:?}" "${builddir:?}"
seconds=${TT_FUZZ_SECONDS-}
if [ -n "$seconds" ]; then
	limit=-max_total_time=$seconds
else
	limit=-runs=${TT_FUZZ_RUNS-5000}
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
corpus=${TT_FUZZ_CORPUS:-$dir/new}
mkdir -p "$corpus" "$dir/kept"
corpus=$(cd "$corpus" && pwd)
merge=${TT_FUZZ_MERGE-}
[ -z "$merge" ] || merge=$(cd "$(dirname "$merge")" && pwd)/${merge##*/}
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
	-include config.h -D_GNU_SOURCE -I"$builddir" -I"$srcdir/include" \
	-I"$srcdir/lib" -I"$srcdir/lib/os/linux" \
	-I"$srcdir/test/unit" \
	$($PKG_CONFIG --cflags atomic_ops) \
	"$srcdir/test/fuzz/fuzz_api.c" "$srcdir"/test/unit/property/*.c \
	"$srcdir"/test/unit/checks/*.c "$srcdir"/lib/*/*.c \
	"$srcdir"/lib/os/linux/*.c -pthread -lm -o fuzz

python3 "$srcdir/test/fuzz/corpus.py" unpack "$srcdir/test/fuzz/corpus" kept
seed=1
# Where a run goes on from an earlier one it should not do the same again.
[ -z "${TT_FUZZ_CORPUS-}" ] || seed=0
if ! ./fuzz "$limit" -max_len=2000 -timeout=60 -seed="$seed" \
	-print_final_stats=1 -artifact_prefix="$corpus/" "$corpus" kept >log 2>&1; then
	tail -n 60 log
	for input in "$corpus"/crash-* "$corpus"/timeout-*; do
		[ -f "$input" ] || continue
		echo "$input, as test/fuzz/replay reads it:"
		od -An -v -tx1 "$input" | tr -d ' \n'
		echo
	done
	exit 1
fi
executions=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
echo "executions: ${executions:?}"
sed -n 's/.*\(cov: [0-9]* ft: [0-9]*\) corp: \([^ ]*\).*/\1, corpus: \2/p' \
	log | tail -n 1

[ -n "$merge" ] || exit 0
# Those that are needed for all edges; and as many as there is room for of those
# that run an edge more often than others do.
merge() {
	mkdir "$1"
	./fuzz -merge=1 "$2" -max_len=2000 "$1" kept "$corpus" >log 2>&1 ||
		{ tail -n 60 log && exit 1; }
}
merge edges -use_counters=0
merge features -use_counters=1
python3 "$srcdir/test/fuzz/corpus.py" pack "$merge" edges features
echo "merged: $(wc -l <"$merge") inputs, $(wc -c <"$merge") bytes"
