// SPDX-License-Identifier: MIT

package main

// Timer is what a user keeps in a request.  The facility's own memory, which
// it allocates, hangs on it.
type Timer struct {
	handle handle
}

// Peer is a timer facility as the workloads see it.
type Peer interface {
	// Schedule has fn called delay nanoseconds after now, which the caller
	// has just read from the clock, so that it costs each peer the same.
	Schedule(t *Timer, now, delay int64, fn func())

	// Cancel is true if fn will not be called; false if it has begun.
	Cancel(t *Timer) bool

	// Reschedule moves a pending timer.  If it was not pending any more,
	// the answer is false, and it is not pending.
	Reschedule(t *Timer, now, delay int64) bool
}

// Info is what the output says of a peer.
type Info struct {
	name, notes string
	fires       bool // callbacks run at all
	make        func() Peer
}

// Already written to, so that they do not count as memory of the facility.
func newTimers(n int) []Timer {
	timers := make([]Timer, n)
	for i := range timers {
		timers[i] = Timer{}
	}
	return timers
}

func ignore() {
}

// By the value of the key "peer".
var peers = map[string]Info{
	"go":   goInfo,
	"none": noneInfo,
}
