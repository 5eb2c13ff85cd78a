# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Runs what tests the interface on the driver that the script that sources this
# is named after.
builddir=${builddir:?run this by make check}
TT_DRIVER=$(basename "$0" .sh)
export TT_DRIVER

failed=0
# run PROGRAM
run() {
	echo "== $1, $TT_DRIVER"
	status=0
	"$builddir/test/$1" </dev/null || status=$?
	case $status in
	0 | 77) ;;
	*)
		echo "FAIL: its exit status was $status"
		failed=1
		;;
	esac
}

run unit/test_prepare
run unit/test_disarm
run unit/test_prepare_race
run unit/test_api
run unit/test_cancel_wait
run unit/test_current
run unit/test_cancel_all
run unit/test_every
run unit/test_leave
run unit/test_life
run unit/test_limit
run unit/test_matching
run unit/test_matching_race
run unit/test_metrics
run unit/test_next
run unit/test_failures
run unit/test_reschedule
run unit/test_reserve
run unit/test_running
run unit/test_slack
run unit/test_snapshot
run unit/test_stat
run unit/test_stop
exit "$failed"
