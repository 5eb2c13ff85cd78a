# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What the checks of the models share: sourced with the model's name.

if ! command -v spin >/dev/null; then
	echo "spin is not installed (Debian: spin)"
	exit 77
fi
model=$(cd "$(dirname "$0")" && pwd)/$1
if [ -n "${TT_NO_MODELS-}" ]; then
	test -r "$model"
	echo "models are not checked, as TT_NO_MODELS is set"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# check LOOKS_FOR SWITCHES: puts Spin's verdict into ./out.
check() {
	case $1 in
	assertions) compile=-DSAFETY run= ;;
	cycles) compile=-DNP run=-l ;;
	esac
	# shellcheck disable=SC2086
	if ! spin $2 -a "$model" ||
		! ${CC:-cc} -O2 -w $compile -DVECTORSZ=2048 -DCOLLAPSE \
			-o pan pan.c; then
		echo "the model does not build: $2"
		exit 1
	fi
	# shellcheck disable=SC2086
	./pan -m1000000 $run >out
}

# holds LOOKS_FOR SWITCHES: it must find nothing, having looked everywhere.
holds() {
	check "$1" "$2"
	if ! grep -q 'errors: 0' out ||
		grep -q 'search depth too small\|Search not completed' out; then
		cat out
		echo "the model has an error"
		exit 1
	fi
	echo "$1, $2: $(grep -E 'states, stored' out)"
}

# caught LOOKS_FOR SWITCHES: does it find what it looks for?
caught() {
	check "$1" "$2"
	case $1 in
	assertions) grep -q 'assertion violated' out ;;
	cycles) grep -q 'non-progress cycle' out ;;
	esac || return 1
	echo "caught, $1: $2"
}
