// SPDX-License-Identifier: MIT

package main

import "sync/atomic"

// Each deadline is earlier than all before, and is cancelled 1,000 turns
// later: what wakes a thread, or goes to the top of a heap, does it each time.
type earlier struct {
	timers []Timer
	next   [][8]int64 // each thread's, in a cache line of its own
	start  int64
	failed int64
}

const earlierWindow = 1000

// A microsecond earlier each time, however fast the turns are.
func (e *earlier) schedule(t *Timer, n int64) {
	now := now()
	peer.Schedule(t, now, e.start+7200*second-n*microsecond-now, ignore)
}

func (e *earlier) turn(i int) int64 {
	var failed int64

	timers := e.timers[i*earlierWindow : (i+1)*earlierWindow]
	before := e.next[i][0]
	n := before
	for ; !teamOver(); n++ {
		t := &timers[n%earlierWindow]
		if n >= earlierWindow && !peer.Cancel(t) {
			failed++
		}
		e.schedule(t, n)
	}
	e.next[i][0] = n
	atomic.AddInt64(&e.failed, failed)
	return n - before
}

func workEarlier() int {
	e := &earlier{}
	team := &Team{threads: int(argument("threads", 1)),
		ns: argumentNs("seconds", 0.5), turn: e.turn}
	e.timers = newTimers(team.threads * earlierWindow)
	e.next = make([][8]int64, team.threads)
	e.start = now()
	sleeps := othersSleeps()
	team.run().result()
	result("failed", float64(e.failed))
	result("sleeps", float64(othersSleeps()-sleeps))
	return 0
}
