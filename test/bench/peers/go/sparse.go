// SPDX-License-Identifier: MIT

package main

// Probe is one timer at a time, and who waits for it.
type probe struct {
	timer *Timer
	ranAt int64
	ran   chan struct{}
}

func newProbe(t *Timer) *probe {
	if !info.fires {
		skip("nothing fires")
	}
	return &probe{timer: t, ran: make(chan struct{}, 1)}
}

func (p *probe) fire() {
	p.ranAt = now()
	p.ran <- struct{}{}
}

// How late it was.
func (p *probe) fireOne(delay int64) int64 {
	now := now()
	peer.Schedule(p.timer, now, delay, p.fire)
	<-p.ran
	return p.ranAt - now - delay
}

// One timer at a time, half a millisecond to five ahead, in a process that has
// nothing else to do: how late, and for how much CPU time?
func workSparse() int {
	var early int

	late := make([]int64, argument("count", 300))
	p := newProbe(&newTimers(1)[0])
	rng := seed
	p.fireOne(millisecond)
	cpu := processCPU()
	for i := range late {
		late[i] = p.fireOne(rng.below(4500000) + 500000)
		if late[i] < 0 {
			early++
		}
	}
	result("cpu_ns", float64(processCPU()-cpu)/float64(len(late)))
	resultPercentiles("late_", late)
	result("early", float64(early))
	return 0
}
