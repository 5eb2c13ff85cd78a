#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How many instructions a pair of schedule and cancel takes, by function: for
# the library, and for the two designs that it is most often compared with.
# Valgrind counts, so other work on the machine changes nothing.  Where the
# pairs are at once, or with many in flight.
#
# Left out is what is the same for all: the loop, and reading a clock or the
# number of the CPU.  The counts are of this machine's code, as the compiler has
# made it: compare them with those that the same compiler has made.
#
# PAIRS, WINDOWS, PEERS: others than the usual.
set -eu
bench=test/bench
pairs=${PAIRS:-20000}
windows=${WINDOWS:-0 1000 20000}
peers=${PEERS:-timerthread one-heap brpc-design}

if ! command -v valgrind >/dev/null; then
	echo "valgrind is not installed (Debian: valgrind)"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# count PEER WINDOW: a line for each function, "INSTRUCTIONS FUNCTION".
count() {
	${LIBTOOL:-./libtool} --mode=execute valgrind --tool=callgrind \
		--callgrind-out-file="$dir/out" \
		--toggle-collect=counted_pairs \
		"$bench/bench-$1" counted pairs="$pairs" window="$2" \
		>"$dir/result" 2>"$dir/log" || {
		cat "$dir/log"
		return 1
	}
	grep -q '"failed": 0[,}]' "$dir/result" || {
		cat "$dir/result"
		return 1
	}
	callgrind_annotate --threshold=100 --auto=no --show-percs=no \
		"$dir/out" | awk -v pairs="$pairs" '
		$1 ~ /^[0-9,]+$/ && $2 != "PROGRAM" {
			n = $1
			gsub(/,/, "", n)
			name = $2
			sub(/.*:/, "", name)
			if (name !~ /counted_pairs|now_ns|clock_gettime|getcpu/)
				all[name] += n
		}
		END {
			for (name in all)
				if (all[name] >= pairs / 2)
					printf "%.0f %s\n", all[name] / pairs,
						name
		}' | sort -k1,1nr -k2
}

echo "instructions a pair, $pairs pairs"
for peer in $peers; do
	for window in $windows; do
		count "$peer" "$window" >"$dir/functions"
		awk -v what="$peer, window $window" '
			{ sum += $1 }
			END { printf "\n%-40s %6d\n", what, sum }' \
			"$dir/functions"
		awk '{ printf "    %-36s %6d\n", $2, $1 }' "$dir/functions"
	done
done
