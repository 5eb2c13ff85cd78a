#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The parsers of others read the metrics that test/pages prints: of one instance
# and of several, with equal and with strange names, in both formats.
set -eu
builddir=${builddir:?run this by make check}

# shellcheck source=test/parsers.sh
. "$(dirname "$0")/parsers.sh"
[ -n "$promtool$python" ] || exit 77

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT PIPE TERM

die() {
	cat "$dir/said"
	echo "FAIL: $*"
	exit 1
}

# promtool_reads OPENMETRICS SERIES PAGE: it finds each sample, in no series
# that another has.  Its own parser of OpenMetrics wants a time with each.
promtool_reads() {
	if [ "$1" -eq 0 ]; then
		rm -rf "$dir/blocks"
		sed "/^#/!s/\$/ $(date +%s)/" "$3" >"$dir/timed"
		"$promtool" tsdb create-blocks-from openmetrics "$dir/timed" \
			"$dir/blocks" >"$dir/said" 2>&1 || return 1
		awk -v series="$2" 'NR > 1 { n += $7 }
			END { exit n != series }' "$dir/said"
	else
		"$promtool" check metrics <"$3" >"$dir/said" 2>&1 &&
			! [ -s "$dir/said" ]
	fi
}

cat >"$dir/read.py" <<'END'
import sys

format, path, *names = sys.argv[1:]
if format == '0':
    from prometheus_client.openmetrics import parser
else:
    from prometheus_client import parser
with open(path, encoding='utf-8', newline='') as file:
    families = list(parser.text_string_to_metric_families(file.read()))
assert len({f.name for f in families}) == len(families), families
assert bool(families) == bool(names), families
types = {}
for f in families:
    types.setdefault(f.type, []).append(f)
    assert f.documentation.endswith('.'), f
    for part in 'seconds', 'bytes':
        if format == '0' and f.name.endswith('_' + part):
            assert f.unit == part, f
    # All samples of one instance, then those of the next.
    seen = [s.labels['name'] for s in f.samples]
    n = len(seen) // max(len(names), 1)
    assert seen == [name for name in names for i in range(n)], (seen, names)
    series = {(s.name, *sorted(s.labels.items())) for s in f.samples}
    assert len(series) == len(f.samples), f
    if f.name == 'timerthread_fired_callbacks':
        assert [s.value for s in f.samples] == [
            i + 1 for i in range(len(names))], f
if names:
    assert {t: len(fs) for t, fs in types.items()} == {
        'counter': 11, 'gauge': 9, 'histogram': 2}, types
print('python has read', len(families), 'metrics')
END

# check LABELS NAME...: the labels are those that the names are to have, with a
# vertical line between them.
check() {
	labels=$1
	shift
	for format in 0 1; do
		"$builddir/test/pages" "$format" "$@" >"$dir/page"
		: >"$dir/said"
		samples=$(grep -vc '^#' "$dir/page" || :)
		# promtool makes no block of nothing.
		[ -z "$promtool" ] || [ "$#" -eq 0 ] ||
			promtool_reads "$format" "$samples" "$dir/page" ||
			die "promtool, format $format: $labels"
		(
			IFS='|'
			# shellcheck disable=SC2086 # the parts of it
			[ -z "$python" ] || "$python" "$dir/read.py" "$format" \
				"$dir/page" $labels
		) || die "python's parser, format $format: $labels"
	done
	printf "read: %s\n" "$labels"
}

check one one
check ''
check 'one|two|three' one two three
check 'one|one/2|two|one/4' one one two one
check 'a "b" \c|\n|_' 'a "b" \c' '\n' '
'
check '"\"\"\"\"\"\"\"|"\"\"\"\"\"\"\"/2' '"\"\"\"\"\"\"\"' '"\"\"\"\"\"\"\"'
