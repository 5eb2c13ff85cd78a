# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What the checks of the models share: sourced with the model's name.
#
# TT_MODELS in the environment says how much is checked: "short", the default,
# is small models; "large" is the others, for minutes; "full" is both; "none".

model=$(cd "$(dirname "$0")" && pwd)/$1
lib=$(cd "$(dirname "$0")/../../lib" && pwd)
# The model with the files that it includes.
# shellcheck disable=SC2046 # their names have no spaces
text=$(cd "$(dirname "$0")" &&
	cat "$1" $(sed -n 's/^#include "\(.*\)"$/\1/p' "$1"))

# The table in the model says which functions its steps are: a line for each
# step and file.  All of them must be there.
tab=$(printf '\t')
row="\([a-z_]*\)[$tab ]*\([a-z/]*\/[a-z_]*\.[ch] [a-z_ ]*\)"
table=$(sed -n "s/^ \*$tab$row\$/\1 \2/p" "$model")
is_step() {
	printf '%s\n' "$text" | grep -Eq "^(inline|proctype) $1\("
}
is_function() {
	grep -Eq "^[a-zA-Z].*[ *]$2\(" "$lib/$1"
}
no_row() {
	echo "$model: $1"
	exit 1
}
while read -r step file functions; do
	is_step "$step" || no_row "$step, in the table, is no step"
	for function in $functions; do
		is_function "$file" "$function" ||
			no_row "lib/$file has no function $function ($step)"
	done
done <<END
$table
END
# But for who uses the code, and the time.
steps=$(printf '%s\n' "$text" |
	sed -n 's/^\(inline\|proctype\) \([a-z_]*\)(.*/\2/p')
for step in $steps; do
	case $step in
	clock | thread | user) continue ;;
	esac
	echo "$table" | grep -q "^$step " || no_row "$step is not in the table"
done

if ! command -v spin >/dev/null; then
	echo "spin is not installed (Debian: spin)"
	exit 77
fi
models=${TT_MODELS-short}
case $models in
short | large | full) ;;
none)
	test -r "$model"
	echo "models are not checked: TT_MODELS is none"
	exit 77
	;;
*)
	echo "TT_MODELS is none, short, large or full, not $models"
	exit 1
	;;
esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# To compile a small model takes longer than to run it.  The sizes are those of
# the stack and of the hash table: where they do not do, Spin says so, or is slow.
quick="${CC:-cc} -O0"
! command -v tcc >/dev/null || quick=tcc
quick_sizes='-m100000 -w22'

# check LOOKS_FOR SWITCHES COMPILER SIZES: puts Spin's verdict into ./out.
check() {
	case $1 in
	assertions) compile=-DSAFETY run= ;;
	cycles) compile='-DNP -DNOFAIR' run=-l ;;
	esac
	# Large models: less memory, for twice the time.
	[ "$models" = short ] || compile="$compile -DCOLLAPSE"
	# shellcheck disable=SC2086
	if ! spin $2 -a "$model" ||
		! $3 -w $compile -DVECTORSZ=2048 -o pan pan.c; then
		echo "the model does not build: $2"
		exit 1
	fi
	# shellcheck disable=SC2086
	./pan $4 $run >out
}

# The scripts have the small models first, and this before the large ones.
left_out=
[ "$models" != large ] || left_out=yes
large_models() {
	[ "$models" != short ] || exit 0
	left_out=
}

# holds LOOKS_FOR SWITCHES: it must find nothing, having looked everywhere.
holds() {
	[ -z "$left_out" ] || return 0
	if [ "$models" = short ]; then
		check "$1" "$2" "$quick" "$quick_sizes"
	else
		check "$1" "$2" "${CC:-cc} -O1" -m1000000
	fi
	if ! grep -q 'errors: 0' out ||
		grep -q 'search depth too small\|Search not completed' out; then
		cat out
		echo "the model has an error"
		exit 1
	fi
	echo "$1, $2: $(grep -E 'states, stored' out)"
}

# caught LOOKS_FOR SWITCHES BUG...: with each of these switches, which leave out
# or break one thing that the code does, it must find what it looks for.
caught() {
	[ -z "$left_out" ] || return 0
	looks_for=$1 switches=$2
	shift 2
	for bug; do
		check "$looks_for" "$switches -D$bug" "$quick" "$quick_sizes"
		case $looks_for in
		assertions) grep -q 'assertion violated' out ;;
		cycles) grep -q 'non-progress cycle' out ;;
		esac || {
			echo "$bug is not caught: $looks_for, $switches"
			exit 1
		}
		echo "caught, $looks_for: $switches -D$bug"
	done
}
