// SPDX-License-Identifier: MIT

package main

import "sync/atomic"

// Schedule and cancel, at once (window 0) or with so many in flight a thread:
// what a server does that sets a timer on every request.
type pair struct {
	timers          []Timer
	window          int
	timeout, failed int64
}

func (p *pair) of(i int) []Timer {
	return p.timers[i*p.window : (i+1)*p.window]
}

func (p *pair) fill(i int) {
	timers := p.of(i)
	for k := range timers {
		peer.Schedule(&timers[k], now(), p.timeout, ignore)
	}
}

func (p *pair) empty(i int) {
	timers := p.of(i)
	for k := range timers {
		peer.Cancel(&timers[k])
	}
}

func (p *pair) turnWindow(i int) (n int64) {
	var failed int64

	timers := p.of(i)
	for k := 0; !teamOver(); n++ {
		if !peer.Cancel(&timers[k]) {
			failed++
		}
		peer.Schedule(&timers[k], now(), p.timeout, ignore)
		if k++; k == len(timers) {
			k = 0
		}
	}
	atomic.AddInt64(&p.failed, failed)
	return n
}

// So that no two threads' timers share a cache line.
const apart = 64

func (p *pair) turnAtOnce(i int) (n int64) {
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

func workPair() int {
	p := &pair{}
	team := &Team{threads: int(argument("threads", 1))}
	p.window = int(argument("window", 0))
	p.timeout = argumentNs("timeout", 10)
	team.ns = argumentNs("seconds", 0.5)
	if p.window == 0 {
		p.timers = newTimers(team.threads * apart)
		team.turn = p.turnAtOnce
	} else {
		p.timers = newTimers(team.threads * p.window)
		team.begin, team.turn, team.end =
			p.fill, p.turnWindow, p.empty
	}
	team.run().result()
	result("failed", float64(p.failed))
	return 0
}
