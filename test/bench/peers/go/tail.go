// SPDX-License-Identifier: MIT

package main

import "os"

// How long a single schedule and a single cancel can take, with many in flight
// a thread.  A reading of the clock is in each, as it is in the loop's own.
type tail struct {
	timers             []Timer
	window             int
	schedules, cancels [][]int64 // each thread's
	turns              []int64
}

// Of each thread; the last that were measured.
const samples = 1 << 20

func (a *tail) of(i int) []Timer {
	return a.timers[i*a.window : (i+1)*a.window]
}

func (a *tail) fill(i int) {
	timers := a.of(i)
	for k := range timers {
		peer.Schedule(&timers[k], now(), 10*second, ignore)
	}
}

func (a *tail) empty(i int) {
	timers := a.of(i)
	for k := range timers {
		peer.Cancel(&timers[k])
	}
}

func (a *tail) turn(i int) (n int64) {
	timers, schedules, cancels := a.of(i), a.schedules[i], a.cancels[i]
	for k := 0; !teamOver(); n++ {
		t := &timers[k]
		before := now()
		peer.Cancel(t)
		between := now()
		cancels[n%samples] = between - before
		peer.Schedule(t, between, 10*second, ignore)
		schedules[n%samples] = now() - between
		if k++; k == len(timers) {
			k = 0
		}
	}
	a.turns[i] = n
	return n
}

// All threads' samples together.
func (a *tail) join(of [][]int64) (all []int64) {
	for i, n := range a.turns {
		if n > samples {
			n = samples
		}
		all = append(all, of[i][:n]...)
	}
	return all
}

func (a *tail) prepare(threads int) {
	a.timers = newTimers(threads * a.window)
	a.turns = make([]int64, threads)
	for i := 0; i < threads; i++ {
		a.schedules = append(a.schedules, make([]int64, samples))
		a.cancels = append(a.cancels, make([]int64, samples))
	}
}

func workTail() int {
	a := &tail{}
	threads := int(argument("threads", 2))
	a.window = int(argument("window", 1000))
	ns := argumentNs("seconds", 0.5)
	if threads < 1 || threads > 64 || a.window == 0 {
		die("threads or window", os.ErrInvalid)
	}
	a.prepare(threads)
	team := &Team{threads: threads, ns: ns,
		begin: a.fill, turn: a.turn, end: a.empty}
	team.run().result()
	resultPercentiles("schedule_", a.join(a.schedules))
	resultPercentiles("cancel_", a.join(a.cancels))
	return 0
}
