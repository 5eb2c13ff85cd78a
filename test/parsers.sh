# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: MIT
#
# Finds what reads metrics: promtool and python are the commands, or empty.
# Sourced.

# One parser will do.
promtool=$(command -v promtool) ||
	echo "promtool is missing (Debian: prometheus)"
# A python3 that comes first may not be the system's.
python=
for candidate in /usr/bin/python3 python3; do
	if [ -z "$python" ] && "$candidate" -c \
		'import prometheus_client.openmetrics.parser' 2>/dev/null; then
		python=$candidate
	fi
done
[ -n "$python" ] ||
	echo "python's parser is missing (Debian: python3-prometheus-client)"
