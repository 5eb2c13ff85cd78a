#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page of examples/metrics-server draws what it says, in a browser.  page.py
# says what is looked at.  With TT_SCREENSHOT=FILE.png it leaves a picture.
set -eu
builddir=${builddir:?run this by make check}
srcdir=${srcdir:?run this by make check}
server=$builddir/examples/metrics-server

if ! [ -x "$server" ]; then
	echo "libmicrohttpd is missing (Debian: libmicrohttpd-dev)"
	exit 77
fi
for tool in chromium python3; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool is missing (Debian: $tool)"
		exit 77
	fi
done

dir=$(mktemp -d)
server_pid='' browser_pid=''
finish() {
	for pid in $browser_pid $server_pid; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" || :
	done
	# The browser's other processes may still write.
	rm -rf "$dir" || { sleep 1 && rm -rf "$dir"; }
}
trap finish EXIT
trap 'exit 1' HUP INT PIPE TERM

timeout -k 10 300 "$server" >"$dir/out" 2>"$dir/log" </dev/null &
server_pid=$!
end=$(($(date +%s) + 60))
until grep -q '^listening on ' "$dir/out"; do
	[ "$(date +%s)" -lt "$end" ] || exit 1
	sleep 0.1
done
address=$(sed 's/^listening on //' "$dir/out")

# It is told what to do through file descriptors 3 and 4.  As root it has no
# sandbox, and the page is ours.  It has no business elsewhere.
mkfifo "$dir/to" "$dir/from"
HOME=$dir timeout -k 10 300 chromium --headless=new --remote-debugging-pipe \
	--no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
	--disable-background-networking --disable-component-update \
	--disable-sync --no-proxy-server --window-size=800,1000 \
	--host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' \
	--user-data-dir="$dir/profile" about:blank \
	3<"$dir/to" 4>"$dir/from" >"$dir/browser" 2>&1 </dev/null &
browser_pid=$!

timeout 280 python3 "$srcdir/test/page.py" "http://$address/" "$server_pid" \
	"$dir/to" "$dir/from" "${TT_SCREENSHOT-}" || {
	echo "FAIL"
	tail -n 20 "$dir/log" "$dir/browser"
	exit 1
}
# Both were told to end.
wait "$browser_pid" || :
browser_pid=''
status=0
wait "$server_pid" || status=$?
server_pid=''
[ "$status" -eq 0 ]
