// SPDX-License-Identifier: MIT

package main

import (
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	microsecond = int64(time.Microsecond)
	millisecond = int64(time.Millisecond)
	second      = int64(time.Second)
)

var base = time.Now()

// The monotonic clock, as the runtime reads it without a system call.
func now() int64 {
	return int64(time.Since(base))
}

const clockProcessCPU = 2

func processCPU() int64 {
	var t syscall.Timespec

	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockProcessCPU,
		uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// Nanoseconds; not by a timer of Go, which is what is measured.
func sleepUntil(at int64) {
	for {
		t := syscall.NsecToTimespec(at - now())
		if t.Nano() <= 0 {
			return
		}
		syscall.Nanosleep(&t, nil)
	}
}

func residentBytes() int64 {
	var size, resident int64

	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		die("resident size", err)
	}
	fmt.Sscan(string(text), &size, &resident)
	return resident * int64(os.Getpagesize())
}

type cpuSet [16]uint64

func (set *cpuSet) call(number uintptr) bool {
	_, _, e := syscall.RawSyscall(number, 0, unsafe.Sizeof(*set),
		uintptr(unsafe.Pointer(set)))
	return e == 0
}

// Keeps the goroutine on a thread of its own, and that on the i-th of the
// CPUs that the process may use.  The thread ends with the goroutine.
func pin(i int) {
	var may, one cpuSet

	runtime.LockOSThread()
	if !may.call(syscall.SYS_SCHED_GETAFFINITY) {
		return
	}
	i %= runtime.NumCPU()
	for k, word := range may {
		for ; word != 0; word &= word - 1 {
			if i == 0 {
				one[k] = 1 << bits.TrailingZeros64(word)
			}
			i--
		}
	}
	one.call(syscall.SYS_SCHED_SETAFFINITY)
}

func yield() {
	syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
}

// Sorts, and returns the value that the share p of them are not above.
func percentile(values []int64, p float64) int64 {
	sort.Slice(values, func(i, k int) bool { return values[i] < values[k] })
	i := int(p * float64(len(values)))
	if i >= len(values) {
		i = len(values) - 1
	}
	return values[i]
}

func sleepsOf(task string) (n int64) {
	text, _ := os.ReadFile("/proc/self/task/" + task + "/status")
	for _, line := range strings.Split(string(text), "\n") {
		fmt.Sscanf(line, "voluntary_ctxt_switches: %d", &n)
	}
	return n
}

// How often threads of the process other than the caller's went to sleep.
func othersSleeps() (n int64) {
	self := strconv.Itoa(syscall.Gettid())
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		if task.Name() != self {
			n += sleepsOf(task.Name())
		}
	}
	return n
}

// Random is a state that is not 0 (xorshift64, Marsaglia 2003).
type Random uint64

const seed Random = 88172645463325252

func (r *Random) next() uint64 {
	*r ^= *r << 13
	*r ^= *r >> 7
	*r ^= *r << 17
	return uint64(*r)
}

func (r *Random) below(n int64) int64 {
	return int64(r.next() % uint64(n))
}
