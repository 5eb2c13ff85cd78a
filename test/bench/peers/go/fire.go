// SPDX-License-Identifier: MIT

package main

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// Timers that all expire: each at a random moment within the two seconds after
// it was scheduled, from one thread or several at full speed.
type fire struct {
	timers  []Timer
	records []fireRecord
	threads int
}

type fireRecord struct {
	deadline, ran int64
	runs          int32
}

func (r *fireRecord) fire() {
	r.ran = now()
	atomic.AddInt32(&r.runs, 1)
}

// Every so-manieth, from this one on.
func (f *fire) scheduleSome(first int, end *sync.WaitGroup) {
	runtime.LockOSThread()
	rng := seed + Random(first)
	for i := first; i < len(f.timers); i += f.threads {
		r := &f.records[i]
		now := now()
		delay := rng.below(2 * second)
		r.deadline = now + delay
		peer.Schedule(&f.timers[i], now, delay, r.fire)
	}
	end.Done()
}

func (f *fire) scheduleAll() int64 {
	var end sync.WaitGroup

	end.Add(f.threads)
	for i := 0; i < f.threads; i++ {
		go f.scheduleSome(i, &end)
	}
	end.Wait()
	return now()
}

func (f *fire) allRan() bool {
	for i := range f.records {
		if atomic.LoadInt32(&f.records[i].runs) == 0 {
			return false
		}
	}
	return true
}

func (f *fire) report() {
	var late []int64
	var lost, early, twice int

	for i := range f.records {
		r := &f.records[i]
		if atomic.LoadInt32(&r.runs) == 0 {
			lost++
			continue
		}
		if r.runs > 1 {
			twice++
		}
		if r.ran < r.deadline {
			early++
		}
		late = append(late, r.ran-r.deadline)
	}
	if len(late) > 0 {
		resultPercentiles("late_", late)
		result("earliest", float64(late[0]))
	}
	result("early", float64(early))
	result("lost", float64(lost))
	result("twice", float64(twice))
}

func newRecords(n int) []fireRecord {
	records := make([]fireRecord, n)
	for i := range records {
		records[i] = fireRecord{}
	}
	return records
}

func workFire() int {
	n := int(argument("count", 1000000))
	f := &fire{timers: newTimers(n), records: newRecords(n)}
	f.threads = int(argument("threads", 1))
	if f.threads < 1 || f.threads > 64 {
		die("threads", os.ErrInvalid)
	}
	cpu := processCPU()
	end := f.scheduleAll()
	sleepUntil(end + 2*second + 5*millisecond)
	result("cpu_ns", float64(processCPU()-cpu)/float64(n))
	for i := 0; info.fires && i < 100 && !f.allRan(); i++ {
		sleepUntil(now() + 100*millisecond)
	}
	f.report()
	return 0
}
