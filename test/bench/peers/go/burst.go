// SPDX-License-Identifier: MIT

package main

import (
	"runtime"
	"sync/atomic"
)

// A probe is due every 10 ms; then another thread schedules millions of timers
// that are an hour away, at full speed.  How late are the probes, before and
// meanwhile?
type burst struct {
	timers []Timer
	probe  *probe
	ns     int64
	over   int32
}

const (
	probes     = 100
	probesMost = 100000
	probeStep  = 10 * millisecond
)

func (b *burst) schedule() {
	runtime.LockOSThread()
	start := now()
	for i := range b.timers {
		peer.Schedule(&b.timers[i], now(), 3600*second, ignore)
	}
	b.ns = now() - start
	atomic.StoreInt32(&b.over, 1)
}

// Until some after the burst: what it left behind is still worked off.
func (b *burst) probeMeanwhile() (late []int64) {
	for after := int32(0); after < probes/2 && len(late) < probesMost; {
		after += atomic.LoadInt32(&b.over)
		late = append(late, b.probe.fireOne(probeStep))
	}
	return late
}

func workBurst() int {
	var quiet [probes]int64

	n := int(argument("count", 5000000))
	timers := newTimers(n + 1)
	b := &burst{timers: timers[:n], probe: newProbe(&timers[n])}
	for i := range quiet {
		quiet[i] = b.probe.fireOne(probeStep)
	}
	resultPercentiles("quiet_", quiet[:])
	go b.schedule()
	resultPercentiles("late_", b.probeMeanwhile())
	result("schedule_ns", float64(b.ns)/float64(n))
	return 0
}
