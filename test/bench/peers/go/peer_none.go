// SPDX-License-Identifier: MIT

package main

// No timers: what the loops cost without them.  No callback ever runs.
type noTimers struct{}

var noneInfo = Info{
	name:  "go-loop",
	notes: "the loops alone, without timers",
	make:  func() Peer { return noTimers{} },
}

func (noTimers) Schedule(t *Timer, now, delay int64, fn func()) {
}

func (noTimers) Cancel(t *Timer) bool {
	return true
}

func (noTimers) Reschedule(t *Timer, now, delay int64) bool {
	return true
}
