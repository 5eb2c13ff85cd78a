#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The alert rules and the dashboard of examples/monitoring: they use metrics and
# labels that the library writes; promtool can read them; and each alert fires
# when it should, and only then (monitoring/alerts.yml).  Grafana is not run.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
examples=$(cd "$srcdir/examples/monitoring" && pwd)
rules=$examples/timerthread-alerts.yml

if ! command -v python3 >/dev/null; then
	echo "python3 is missing (Debian: python3)"
	exit 77
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT PIPE TERM

"$builddir/test/pages" 1 one >"$dir/page"
python3 "$srcdir/test/monitoring/names.py" "$dir/page" "$rules" \
	"$srcdir/test/monitoring/alerts.yml" \
	"$examples/timerthread-dashboard.json" "$srcdir/man" \
	"$dir/expressions.yml"

if ! command -v promtool >/dev/null; then
	echo "promtool is missing (Debian: prometheus)"
	exit 77
fi
promtool check rules "$rules" "$dir/expressions.yml"
cp "$rules" "$dir/rules.yml"
sed 's|@RULES@|rules.yml|' "$srcdir/test/monitoring/alerts.yml" \
	>"$dir/tests.yml"
promtool test rules "$dir/tests.yml"
