// SPDX-License-Identifier: MIT

package main

import "time"

// Go's own timers: a heap for each of the scheduler's processors, in the
// runtime, which looks at it between goroutines.  A new request takes a new
// timer, as AfterFunc is documented; a pending one is moved by Reset.  Memory
// is the garbage collector's, whose time is in the CPU time.
//
// For it: no thread has to be woken, as those that run goroutines look for
// timers.  Against it: each callback is a goroutine, and where all processors
// run loops that do not block, a timer waits for one to be preempted, which
// takes 10 ms.  An idle process sleeps in epoll_wait, by whole milliseconds.
type goTimers struct{}

type handle = *time.Timer

var goInfo = Info{
	name:  "go",
	notes: "Stop does not wait; each callback a goroutine",
	fires: true,
	make:  func() Peer { return goTimers{} },
}

func (goTimers) Schedule(t *Timer, now, delay int64, fn func()) {
	t.handle = time.AfterFunc(time.Duration(delay), fn)
}

func (goTimers) Cancel(t *Timer) bool {
	return t.handle.Stop()
}

// Reset starts a timer also if it was not pending.
func (goTimers) Reschedule(t *Timer, now, delay int64) bool {
	if t.handle.Reset(time.Duration(delay)) {
		return true
	}
	t.handle.Stop()
	return false
}
