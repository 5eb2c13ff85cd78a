// SPDX-License-Identifier: MIT

package main

// A server under a steady load: so many requests a second, each with a timer
// that is cancelled 10 ms later.  One thread wakes each millisecond and does
// what has come up since.  What does the facility cost meanwhile, how often do
// other threads wake, and what becomes of the memory?
type paced struct {
	timers               []Timer
	scheduled, cancelled int64
	timeout, failed      int64
	rate                 float64
}

const life = 10 * millisecond

func (p *paced) timer(i int64) *Timer {
	return &p.timers[i%int64(len(p.timers))]
}

func (p *paced) cancelUntil(n int64) {
	for ; p.cancelled < n && p.cancelled < p.scheduled; p.cancelled++ {
		if !peer.Cancel(p.timer(p.cancelled)) {
			p.failed++
		}
	}
}

func (p *paced) scheduleUntil(n int64) {
	most := p.cancelled + int64(len(p.timers))
	for ; p.scheduled < n && p.scheduled < most; p.scheduled++ {
		peer.Schedule(p.timer(p.scheduled), now(), p.timeout, ignore)
	}
}

// All that is to be scheduled until then, and cancelled.
func (p *paced) catchUp(elapsed int64) {
	if elapsed > life {
		p.cancelUntil(int64(p.rate * float64(elapsed-life) / 1e9))
	}
	p.scheduleUntil(int64(p.rate * float64(elapsed) / 1e9))
}

func (p *paced) run(ns int64) {
	var early, most int64

	start, cpu, before := now(), processCPU(), residentBytes()
	sleeps := othersSleeps()
	for t := millisecond; t <= ns; t += millisecond {
		sleepUntil(start + t)
		p.catchUp(now() - start)
		// Not each time: it reads a file.
		if t%(50*millisecond) != 0 {
			continue
		}
		size := residentBytes()
		if size > most {
			most = size
		}
		if t <= ns/10 {
			early = size
		}
	}
	result("cpu_ns", float64(processCPU()-cpu)/float64(p.scheduled))
	result("wakeups_s", float64(othersSleeps()-sleeps)*1e9/
		float64(now()-start))
	result("memory", float64(most-before))
	result("growth", float64(residentBytes()-early))
	result("turns", float64(p.scheduled))
}

func workPaced() int {
	p := &paced{rate: float64(argument("rate", 20000))}
	p.timeout = argumentNs("timeout", 1)
	ns := argumentNs("seconds", 3)
	// Room for a pause of 20 ms.
	p.timers = newTimers(int(p.rate/1000*10*3) + 100)
	p.run(ns)
	p.cancelUntil(p.scheduled)
	result("failed", float64(p.failed))
	return 0
}
