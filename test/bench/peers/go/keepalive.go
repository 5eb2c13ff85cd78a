// SPDX-License-Identifier: MIT

package main

import "sync/atomic"

// Connections with an idle timeout of a minute: now this one, now that one has
// a packet, and its timer is moved to a minute from now.
type keepalive struct {
	timers  []Timer
	threads int
	failed  int64
}

// Each thread has its own connections.
func (a *keepalive) begin(i int) {
	for k := i; k < len(a.timers); k += a.threads {
		peer.Schedule(&a.timers[k], now(), 60*second, ignore)
	}
}

func (a *keepalive) turn(i int) (n int64) {
	var failed int64

	rng := seed + Random(i)
	mine := int64(len(a.timers) / a.threads)
	for ; !teamOver(); n++ {
		k := int(rng.below(mine))*a.threads + i
		if !peer.Reschedule(&a.timers[k], now(), 60*second) {
			failed++
		}
	}
	atomic.AddInt64(&a.failed, failed)
	return n
}

func (a *keepalive) end(i int) {
	for k := i; k < len(a.timers); k += a.threads {
		peer.Cancel(&a.timers[k])
	}
}

func workKeepalive() int {
	a := &keepalive{timers: newTimers(int(argument("count", 100000)))}
	a.threads = int(argument("threads", 1))
	team := &Team{threads: a.threads, ns: argumentNs("seconds", 0.5),
		begin: a.begin, turn: a.turn, end: a.end}
	team.run().result()
	result("failed", float64(a.failed))
	return 0
}
