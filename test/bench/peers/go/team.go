// SPDX-License-Identifier: MIT

package main

import (
	"sync"
	"sync/atomic"
)

// Team is threads that turn a loop together for a time, each kept on one CPU;
// before, a quarter of that time unmeasured.
type Team struct {
	threads int
	ns      int64
	begin   func(i int)
	turn    func(i int) int64 // until teamOver; how many turns
	end     func(i int)
}

// Cost is that of a turn, all threads' turns counted.
type Cost struct {
	cpu, wall, turns float64
}

var over int32

func teamOver() bool {
	return atomic.LoadInt32(&over) != 0
}

type barrier struct {
	mutex    sync.Mutex
	of, here int
	open     chan struct{}
}

func newBarrier(of int) *barrier {
	return &barrier{of: of, open: make(chan struct{})}
}

// The last who comes wakes all at once.
func (b *barrier) wait() {
	b.mutex.Lock()
	open := b.open
	b.here++
	if b.here == b.of {
		b.here = 0
		b.open = make(chan struct{})
		close(open)
	}
	b.mutex.Unlock()
	<-open
}

// The two phases of each thread: warm-up, and what counts.
func (t *Team) takePart(i int, b *barrier, turns *int64, end *sync.WaitGroup) {
	pin(i)
	if t.begin != nil {
		t.begin(i)
	}
	for phase := 0; phase < 2; phase++ {
		b.wait()
		b.wait()
		*turns = t.turn(i)
		b.wait()
	}
	if t.end != nil {
		t.end(i)
	}
	end.Done()
}

// The clocks are read when all threads have come, and before the first goes on:
// where there are many, this one may not get a CPU just behind a barrier.
func measurePhase(b *barrier, ns int64) (c Cost) {
	atomic.StoreInt32(&over, 0)
	b.wait()
	cpu, wall := processCPU(), now()
	b.wait()
	sleepUntil(wall + ns)
	atomic.StoreInt32(&over, 1)
	b.wait()
	c.cpu = float64(processCPU() - cpu)
	c.wall = float64(now() - wall)
	return c
}

func (t *Team) run() (c Cost) {
	var end sync.WaitGroup

	b := newBarrier(t.threads + 1)
	turns := make([]int64, t.threads)
	end.Add(t.threads)
	for i := range turns {
		go t.takePart(i, b, &turns[i], &end)
	}
	measurePhase(b, t.ns/4)
	c = measurePhase(b, t.ns)
	end.Wait()
	for _, n := range turns {
		c.turns += float64(n)
	}
	c.cpu /= c.turns
	c.wall /= c.turns
	return c
}

func (c Cost) result() {
	result("cpu_ns", c.cpu)
	result("wall_ns", c.wall)
	result("turns", c.turns)
}
