#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What timerthread_format_metrics writes is OpenMetrics: the parsers of others
# read it, as examples/metrics-server serves it.  And that server does as it
# says.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
server=$builddir/examples/metrics-server

if ! [ -x "$server" ]; then
	echo "libmicrohttpd is missing (Debian: libmicrohttpd-dev)"
	exit 77
fi
if ! command -v curl >/dev/null; then
	echo "curl is missing (Debian: curl)"
	exit 77
fi

# shellcheck source=test/parsers.sh
. "$(dirname "$0")/parsers.sh"

dir=$(mktemp -d)
pid=
finish() {
	if [ -n "$pid" ]; then
		kill "$pid" || :
		wait "$pid" || :
	fi
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' HUP INT PIPE TERM

die() {
	echo "FAIL: $*"
	exit 1
}

# await COMMAND...: until it succeeds.
await() {
	deadline=$(($(date +%s) + 60))
	until "$@"; do
		[ "$(date +%s)" -lt "$deadline" ] || die "waited for: $*"
		sleep 0.1
	done
}

# get PATH FILE [OPTION...]: prints the status.
get() {
	url=http://127.0.0.1:$port$1 file=$2
	shift 2
	curl -sS --noproxy '*' --max-time 60 -D "$dir/head" -o "$file" \
		-w '%{http_code}\n' "$@" "$url"
}

# expect WHAT HAS
expect() {
	[ "$1" = "$2" ] || die "'$2' is not '$1'"
}

# value SERIES FILE: a part of the series' name and labels, as a fixed string.
value() {
	grep -F "timerthread_$1" "$2" | sed 's/.* //'
}

# What it prints is read as it comes.
timeout -k 10 300 "$server" >"$dir/out" 2>"$dir/log" </dev/null &
pid=$!
await grep -q '^listening on 127\.0\.0\.1:[1-9]' "$dir/out"
port=$(sed 's/.*://' "$dir/out")

expect 200 "$(get /metrics "$dir/first")"
type=$(tr -d '\r' <"$dir/head" | sed -n 's/^Content-Type: //p')
expect 'application/openmetrics-text; version=1.0.0; charset=utf-8' "$type"
expect '# EOF' "$(tail -n 1 "$dir/first")"
echo "served as $type"

# Until timers were scheduled, and a callback took more than 16 ms.
got_further() {
	expect 200 "$(get /metrics "$dir/second")"
	[ "$(value scheduled_timers_total "$dir/second")" -gt \
		"$(value scheduled_timers_total "$dir/first")" ] &&
		[ "$(value run_seconds_count "$dir/second")" -gt \
			"$(value 'run_seconds_bucket{name="metrics-timers",le="0.016777215"}' \
				"$dir/second")" ]
}
await got_further
await grep -q '^slow callbacks: [1-9].*expired' "$dir/log"

# Counters, and the numbers of histograms but for their TYPE lines.
awk '
	/^# TYPE / { type[$3] = $4; next }
	/^#/ { next }
	{
		name = $1
		sub(/{.*/, "", name)
		sub(/_(total|bucket|count|sum)$/, "", name)
		if (!(name in type)) {
			print "no type: " $0
			bad = 1
		}
		if (type[name] == "gauge")
			next
		if (NR == FNR) {
			first[$1] = $2
			n++
		} else if (!($1 in first) || $2 + 0 < first[$1] + 0) {
			print "was " first[$1] ": " $0
			bad = 1
		} else {
			n--
		}
	}
	END { exit bad || n != 0 }' "$dir/first" "$dir/second" ||
	die "a counter fell, or is not there"
echo "no counter fell"

# Prometheus' own parser wants a time with each number.
if [ -n "$promtool" ]; then
	sed "/^#/!s/\$/ $(date +%s)/" "$dir/second" >"$dir/timed"
	"$promtool" tsdb create-blocks-from openmetrics "$dir/timed" "$dir/blocks" \
		>"$dir/created" 2>&1 || {
		cat "$dir/created"
		die "promtool cannot read it"
	}
	samples=$(grep -vc '^#' "$dir/second")
	awk -v samples="$samples" '
		NR > 1 { n += $6 }
		END { exit n != samples }' "$dir/created" || {
		cat "$dir/created"
		die "promtool did not find $samples samples"
	}
	echo "promtool has read $samples samples"
fi

if [ -n "$python" ]; then
	"$python" - "$dir/second" <<'END' || die "python's parser refuses it"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families

with open(sys.argv[1], encoding='utf-8', newline='') as file:
    families = list(text_string_to_metric_families(file.read()))
for f in families:
    assert f.name.startswith('timerthread_'), f
    assert f.type in ('gauge', 'counter', 'histogram'), f
    assert f.documentation.endswith('.'), f
    for sample in f.samples:
        assert sample.labels['name'] == 'metrics-timers', sample
        if 'seconds' in sample.name or 'bytes' in sample.name:
            assert f.unit in ('seconds', 'bytes'), f
kinds = {f.name: f.type for f in families}
assert kinds['timerthread_pending_timers'] == 'gauge', kinds
assert kinds['timerthread_scheduled_timers'] == 'counter', kinds
assert kinds['timerthread_lateness_seconds'] == 'histogram', kinds
assert kinds['timerthread_run_seconds'] == 'histogram', kinds
print('python has read', len(families), 'families')
END
fi

# The rest of the server.
expect 200 "$(get / "$dir/page")"
grep -q '^Content-Type: text/html; charset=utf-8' "$dir/head" ||
	die "the page's type"
cmp "$dir/page" "$srcdir/examples/metrics-server.html" || die "the page"
expect 404 "$(get /metrics/ "$dir/body")"
for path in / /metrics /other; do
	expect 405 "$(get $path "$dir/body" -d 'some text')"
	expect 405 "$(get $path "$dir/body" -X DELETE)"
	grep -q '^Allow: GET' "$dir/head" || die "what is allowed"
done
# One connection does for all.
head -c 300000 /dev/zero >"$dir/zeroes"
expect 405 "$(get /metrics "$dir/body" --data-binary "@$dir/zeroes")"
expect 1,0 "$(curl -sS --noproxy '*' --max-time 60 -o "$dir/body" \
	-o "$dir/body" -w '%{num_connects}\n' "http://127.0.0.1:$port/metrics" \
	"http://127.0.0.1:$port/metrics" | paste -s -d , -)"
# It is not bound to all addresses: this is one of this machine, too.
! curl -s --noproxy '*' "http://127.0.0.2:$port/" >/dev/null ||
	die "it answers at 127.0.0.2"
for arguments in x 65536 '1 2' ''; do
	status=0
	# shellcheck disable=SC2086 # words
	timeout 60 "$server" ${arguments:-"$port"} >"$dir/out" 2>&1 </dev/null ||
		status=$?
	expect "$([ -z "$arguments" ] && echo 1 || echo 2)" "$status"
done
grep -q 'in use' "$dir/out" || die "it does not say that the port is in use"

kill "$pid"
status=0
wait "$pid" || status=$?
pid=
cat "$dir/log"
expect 0 "$status"

if [ -z "$promtool$python" ]; then
	echo "all else is well"
	exit 77
fi
