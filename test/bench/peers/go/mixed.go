// SPDX-License-Identifier: MIT

package main

import (
	"runtime"
	"sync/atomic"
)

// As "pair" with a window and 10 s for all, while beside it a near timer goes
// on, 1 ms ahead each time: its callback schedules the next (mode=self), or
// another thread schedules one each millisecond (mode=other).  What the near
// timers themselves cost, about 1,000 runs a second, stays in the figure.
type mixed struct {
	timers []Timer
	runs   int64
	over   int32
	look   [2]look
}

// At the last two of these measuring began and ended.
type look struct {
	at, runs int64
}

// One that is late by as many milliseconds is given up.
const near = 1000

func (m *mixed) watch() {
	m.look[0] = m.look[1]
	m.look[1] = look{now(), atomic.LoadInt64(&m.runs)}
}

func (m *mixed) runOther() {
	atomic.AddInt64(&m.runs, 1)
}

func (m *mixed) runSelf() {
	atomic.AddInt64(&m.runs, 1)
	if atomic.LoadInt32(&m.over) == 0 {
		peer.Schedule(&m.timers[0], now(), millisecond, m.runSelf)
	}
}

// One that has run is cancelled too, as a request does at its end.
func (m *mixed) scheduleNear() {
	runtime.LockOSThread()
	at := now()
	for n := 0; atomic.LoadInt32(&m.over) == 0; n++ {
		t := &m.timers[n%near]
		sleepUntil(at)
		if n >= near {
			peer.Cancel(t)
		}
		peer.Schedule(t, now(), millisecond, m.runOther)
		at += millisecond
	}
}

func (m *mixed) result() {
	ran := float64(m.look[1].runs - m.look[0].runs)
	result("near_s", ran*1e9/float64(m.look[1].at-m.look[0].at))
}

func workMixed() int {
	m := &mixed{timers: newTimers(near)}
	w := &window{threads: int(argument("threads", 1)), watch: m.watch}
	w.size = int(argument("window", 20000))
	self := argumentWord("mode", "self", "other") == "self"
	w.least, w.most = 10*second, 10*second
	w.ns = argumentNs("seconds", 0.5)
	if self {
		peer.Schedule(&m.timers[0], now(), millisecond, m.runSelf)
	} else {
		go m.scheduleNear()
	}
	w.run()
	atomic.StoreInt32(&m.over, 1)
	m.result()
	return 0
}
