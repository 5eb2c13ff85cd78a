// SPDX-License-Identifier: MIT

package main

import (
	"runtime"
	"unsafe"
)

// Many pending, an hour ahead and more: what does each take, what does a pair
// cost on top of them, and how long does it take to cancel them all?
type pending struct {
	timers []Timer
	extra  *Timer
}

func (p *pending) each(total float64) float64 {
	return total / float64(len(p.timers))
}

func (p *pending) scheduleAll() {
	rng := seed
	before := residentBytes()
	cpu := processCPU()
	for i := range p.timers {
		delay := 3600*second + rng.below(3600*second)
		peer.Schedule(&p.timers[i], now(), delay, ignore)
	}
	result("schedule_ns", p.each(float64(processCPU()-cpu)))
	result("resident_bytes", p.each(float64(residentBytes()-before))+
		float64(unsafe.Sizeof(Timer{})))
}

func (p *pending) cancelAll() {
	var failed int

	cpu, wall := processCPU(), now()
	for i := range p.timers {
		if !peer.Cancel(&p.timers[i]) {
			failed++
		}
	}
	result("cancel_ns", p.each(float64(processCPU()-cpu)))
	result("cancel_all_ms", float64(now()-wall)/1e6)
	result("failed", float64(failed))
}

func (p *pending) turn(int) (n int64) {
	for ; !teamOver(); n++ {
		peer.Schedule(p.extra, now(), 10*second, ignore)
		peer.Cancel(p.extra)
	}
	return n
}

// Without garbage.
func liveBytes() float64 {
	var stats runtime.MemStats

	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

func workPending() int {
	n := int(argument("count", 1000000))
	timers := newTimers(n + 1)
	p := &pending{timers: timers[:n], extra: &timers[n]}
	team := &Team{threads: 1, ns: argumentNs("seconds", 0.5), turn: p.turn}
	before := liveBytes()
	p.scheduleAll()
	team.run().result()
	result("bytes", p.each(liveBytes()-before)+
		float64(unsafe.Sizeof(Timer{})))
	p.cancelAll()
	return 0
}
