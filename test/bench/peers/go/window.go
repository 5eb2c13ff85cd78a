// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"sync/atomic"
)

// What "pair", "spread" and "mixed" share: many timers in flight a thread, of
// which the oldest is cancelled, and a new one scheduled.  A timeout is evenly
// at random between the two.
type window struct {
	threads, size   int
	least, most, ns int64
	watch           func() // by one thread, as turns begin and end
	timers          []Timer
	draws, failed   int64
}

// Others each time, or a timer would be followed by one of its own timeout.
func (w *window) newRandom() Random {
	return seed + Random(atomic.AddInt64(&w.draws, 1))
}

func (w *window) choose(rng *Random) int64 {
	if w.least == w.most {
		return w.least
	}
	return w.least + rng.below(w.most-w.least+1)
}

func (w *window) of(i int) []Timer {
	return w.timers[i*w.size : (i+1)*w.size]
}

func (w *window) fill(i int) {
	timers, rng := w.of(i), w.newRandom()
	for k := range timers {
		timeout := w.choose(&rng)
		peer.Schedule(&timers[k], now(), timeout, ignore)
	}
}

func (w *window) turnOver(i int) (n int64) {
	var failed int64

	timers, rng := w.of(i), w.newRandom()
	for k := 0; !teamOver(); n++ {
		if !peer.Cancel(&timers[k]) {
			failed++
		}
		timeout := w.choose(&rng)
		peer.Schedule(&timers[k], now(), timeout, ignore)
		if k++; k == len(timers) {
			k = 0
		}
	}
	atomic.AddInt64(&w.failed, failed)
	return n
}

func (w *window) turn(i int) int64 {
	if i == 0 && w.watch != nil {
		w.watch()
		defer w.watch()
	}
	return w.turnOver(i)
}

func (w *window) empty(i int) {
	timers := w.of(i)
	for k := range timers {
		peer.Cancel(&timers[k])
	}
}

func (w *window) run() {
	if w.size == 0 || w.least > w.most {
		die("window or timeouts", os.ErrInvalid)
	}
	w.timers = newTimers(w.threads * w.size)
	team := &Team{threads: w.threads, ns: w.ns,
		begin: w.fill, turn: w.turn, end: w.empty}
	team.run().result()
	result("failed", float64(w.failed))
}
