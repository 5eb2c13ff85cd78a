#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The guard of the ABI lets pass what programs cannot miss, and nothing else, as
# seen with a small library in which each kind of change is made.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
# shellcheck source=test/abi/compare.sh
. "$(dirname "$0")/compare.sh"

sample=$srcdir/test/abi/sample
dir=$builddir/test/abi/guard-notices.tmp
rm -rf "$dir"
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT
failed=0

printf 'SAMPLE_1 { global: sample_*; };\n' >"$dir/map"
printf 'SAMPLE_2 { global: sample_*; };\n' >"$dir/other-map"

# build NAME MAP SONAME OPTION...: the library and its description.
build() {
	name=$1 map=$2 soname=$3
	shift 3
	# shellcheck disable=SC2086 # a compiler may come with options
	$CC -g -shared -fPIC -Wl,-soname,"$soname" \
		-Wl,--version-script="$dir/$map" "$@" "$sample/sample.c" \
		-o "$dir/$name.so"
	describe "$dir/$name.so" "$sample" >"$dir/$name"
}

# expect CHANGE NAME: what comparing with the library as it was must find.
expect() {
	echo "--- $2"
	compare "$dir/before" "$dir/$2"
	if [ "$change" != "$1" ]; then
		echo "FAIL: $2: $change, not $1"
		failed=1
	fi
}

build before map libsample.so.1
for change in "none NOTHING_CHANGED" "none PRIVATE_CHANGED" \
	"none ENUMERATOR_ADDED" "added FUNCTION_ADDED" \
	"broken FUNCTION_REMOVED" "broken PARAMETER_CHANGED" \
	"broken RESULT_CHANGED" "broken CALLBACK_CHANGED" \
	"broken FIELD_CHANGED" "broken ENUMERATOR_CHANGED" \
	"broken ENUMERATOR_REMOVED"; do
	build "${change#* }" map libsample.so.1 "-D${change#* }"
	expect "${change% *}" "${change#* }"
done
build VERSION_CHANGED other-map libsample.so.1
expect broken VERSION_CHANGED
build SONAME_CHANGED map libsample.so.2
expect broken SONAME_CHANGED
exit "$failed"
