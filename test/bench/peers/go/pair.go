// SPDX-License-Identifier: MIT

package main

import "sync/atomic"

// Schedule and cancel, at once (window 0) or with so many in flight a thread:
// what a server does that sets a timer on every request.
type pair struct {
	timers          []Timer
	timeout, failed int64
}

// So that no two threads' timers share a cache line.
const apart = 64

func (p *pair) turn(i int) (n int64) {
	var failed int64

	t := &p.timers[i*apart]
	for ; !teamOver(); n++ {
		peer.Schedule(t, now(), p.timeout, ignore)
		if !peer.Cancel(t) {
			failed++
		}
	}
	atomic.AddInt64(&p.failed, failed)
	return n
}

func (p *pair) run(threads int, ns int64) {
	p.timers = newTimers(threads * apart)
	team := &Team{threads: threads, ns: ns, turn: p.turn}
	team.run().result()
	result("failed", float64(p.failed))
}

func workPair() int {
	w := &window{threads: int(argument("threads", 1))}
	w.size = int(argument("window", 0))
	w.least = argumentNs("timeout", 10)
	w.most = w.least
	w.ns = argumentNs("seconds", 0.5)
	if w.size == 0 {
		p := &pair{timeout: w.least}
		p.run(w.threads, w.ns)
	} else {
		w.run()
	}
	return 0
}
