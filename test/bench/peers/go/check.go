// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// What must hold before the figures count: each timer that is not cancelled
// runs once and not early, and one whose cancel said so does not run.
type shot struct {
	earliest, at, runs int64
	cancelled          bool
}

const (
	checkThreads = 4
	checkPool    = 64
	checkShots   = 40000
	far          = 1000 * second
)

var wrong int32

func fail(part, what string) {
	if atomic.SwapInt32(&wrong, 1) == 0 {
		fmt.Fprintf(os.Stderr, "bench-%s: check: %s: %s\n", info.name,
			part, what)
	}
}

func (s *shot) run() {
	atomic.StoreInt64(&s.at, now())
	atomic.AddInt64(&s.runs, 1)
}

func (s *shot) shoot(t *Timer, delay int64) {
	now := now()
	atomic.StoreInt64(&s.earliest, now+delay)
	peer.Schedule(t, now, delay, s.run)
}

// For as long as the move goes on, both deadlines are right.
func (s *shot) move(t *Timer, delay int64) bool {
	now := now()
	if now+delay < s.earliest {
		atomic.StoreInt64(&s.earliest, now+delay)
	}
	moved := peer.Reschedule(t, now, delay)
	if moved {
		atomic.StoreInt64(&s.earliest, now+delay)
	}
	return moved
}

// Once nothing is pending.  A callback may begin a little after a cancel that
// came too late.
func (s *shot) judge(part string) {
	for end := now() + 10*second; !s.cancelled && now() < end &&
		atomic.LoadInt64(&s.runs) == 0; {
		time.Sleep(time.Millisecond)
	}
	runs := atomic.LoadInt64(&s.runs)
	switch {
	case s.cancelled && runs > 0:
		fail(part, "it ran, although cancelled")
	case !s.cancelled && runs != 1:
		fail(part, fmt.Sprintf("it ran %d times", runs))
	case runs > 0 && atomic.LoadInt64(&s.at) < s.earliest:
		fail(part, "it ran early")
	}
}

func judgeAll(part string, shots []shot) {
	time.Sleep(10 * time.Millisecond)
	for i := range shots {
		shots[i].judge(part)
	}
}

func checkRun() {
	shots, timers, rng := make([]shot, 300), newTimers(300), seed
	for i := range shots {
		shots[i].shoot(&timers[i], rng.below(50*millisecond))
	}
	judgeAll("run", shots)
	for i := range shots {
		if peer.Cancel(&timers[i]) {
			fail("run", "cancelled after it ran")
		}
	}
}

func checkCancel() {
	shots, timers := make([]shot, 300), newTimers(300)
	for i := range shots {
		shots[i].shoot(&timers[i], 100*millisecond)
		shots[i].cancelled = peer.Cancel(&timers[i])
	}
	time.Sleep(150 * time.Millisecond)
	judgeAll("cancel", shots)
}

func checkMove() {
	shots, timers := make([]shot, 300), newTimers(300)
	for i := range shots {
		shots[i].shoot(&timers[i], far)
	}
	for i := range shots {
		if !shots[i].move(&timers[i], int64(i%50)*millisecond) {
			fail("move", "a pending timer did not move")
		}
	}
	judgeAll("move", shots)
}

func randomDelay(rng *Random) int64 {
	switch rng.below(8) {
	case 0:
		return 0
	case 1:
		return far
	case 2:
		return rng.below(300 * millisecond)
	}
	return rng.below(2 * millisecond)
}

// Schedules, moves and cancels at random; a timer's memory is used again.
func checkThread(i int, shots []shot, end *sync.WaitGroup) {
	var current [checkPool]*shot

	pin(i)
	rng, timers, used := seed+Random(i), newTimers(checkPool), 0
	cancel := func(k int) {
		if current[k] != nil {
			current[k].cancelled = peer.Cancel(&timers[k])
			current[k] = nil
		}
	}
	for used < len(shots) {
		k := int(rng.below(checkPool))
		if current[k] != nil && rng.below(3) == 0 &&
			current[k].move(&timers[k], randomDelay(&rng)) {
			continue
		}
		cancel(k)
		current[k] = &shots[used]
		shots[used].shoot(&timers[k], randomDelay(&rng))
		used++
		if used%16 == 0 {
			sleepUntil(now() + 50*microsecond)
		}
	}
	for k := range current {
		cancel(k)
	}
	end.Done()
}

func checkMany() {
	var end sync.WaitGroup
	var shots [checkThreads][]shot

	end.Add(checkThreads)
	for i := range shots {
		shots[i] = make([]shot, checkShots)
		go checkThread(i, shots[i], &end)
	}
	end.Wait()
	for i := range shots {
		judgeAll("threads", shots[i])
	}
}

// A callback that schedules the next.
func chain() chan bool {
	var run func()

	n, done := 0, make(chan bool, 1)
	run = func() {
		if n++; n < 6 {
			peer.Schedule(&Timer{}, now(), millisecond, run)
			return
		}
		done <- true
	}
	peer.Schedule(&Timer{}, now(), millisecond, run)
	return done
}

func checkChain() {
	select {
	case <-chain():
	case <-time.After(10 * time.Second):
		fail("chain", "it broke")
	}
}

// The same while far timers come and go.
func checkNear() {
	shots, timers, rng := make([]shot, 300), newTimers(300), seed
	for i := range shots {
		shots[i].shoot(&timers[i], far+rng.below(far))
	}
	done := chain()
	for n, end := 0, now()+10*second; len(done) == 0; n++ {
		i := n % len(shots)
		if !peer.Cancel(&timers[i]) {
			fail("near", "a far timer was not pending")
		}
		shots[i].shoot(&timers[i], far+rng.below(far))
		if now() > end {
			fail("near", "it broke")
			break
		}
	}
	for i := range shots {
		if !peer.Cancel(&timers[i]) {
			fail("near", "a far timer ran")
		}
	}
}

func workCheck() int {
	if !info.fires {
		skip("nothing fires")
	}
	for _, part := range []func(){checkRun, checkCancel, checkMove,
		checkMany, checkChain, checkNear} {
		part()
	}
	result("failed", float64(wrong))
	return int(wrong)
}
