// SPDX-License-Identifier: MIT

package main

import "sync/atomic"

// One thread schedules and another, on another CPU, cancels, some 1,000 later.
// A place in the ring between them says itself whether it is full, and each
// side looks at the other once in a batch.
type handover struct {
	timers []Timer
	full   [ring]uint32
	failed int64
	_      [64]byte
	in     int // the producer's
	_      [64]byte
	out    int // the consumer's
	_      [64]byte
}

const (
	ring     = 2048
	inFlight = 1000
	batch    = 16
)

func (h *handover) waitUntil(place int, value uint32) bool {
	for i := 0; atomic.LoadUint32(&h.full[place%ring]) != value; i++ {
		if teamOver() {
			return false
		}
		if i%256 == 255 {
			yield()
		}
	}
	return true
}

func (h *handover) produce() (n int64) {
	for h.waitUntil(h.in+batch-1, 0) {
		for end := h.in + batch; h.in < end; h.in++ {
			place := h.in % ring
			peer.Schedule(&h.timers[place], now(), 10*second,
				ignore)
			atomic.StoreUint32(&h.full[place], 1)
		}
		n += batch
	}
	return n
}

// Stays behind: waits for what is so far ahead.  The turns are the other's.
func (h *handover) consume() int64 {
	for h.waitUntil(h.out+inFlight+batch-1, 1) {
		for end := h.out + batch; h.out < end; h.out++ {
			place := h.out % ring
			if !peer.Cancel(&h.timers[place]) {
				h.failed++
			}
			atomic.StoreUint32(&h.full[place], 0)
		}
	}
	return 0
}

func (h *handover) turn(i int) int64 {
	if i == 0 {
		return h.produce()
	}
	return h.consume()
}

func workHandover() int {
	h := &handover{timers: newTimers(ring)}
	team := &Team{threads: 2, ns: argumentNs("seconds", 0.5), turn: h.turn}
	team.run().result()
	result("failed", float64(h.failed))
	return 0
}
