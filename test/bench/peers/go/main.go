// SPDX-License-Identifier: MIT

// PROGRAM WORK [key=value ...]: does one of the workloads of test/bench/work
// with Go's timers, and prints what came out as the programs in C do.  With
// peer=none, the same without the timers.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

var works = map[string]struct {
	run  func() int
	keys string
}{
	"check":     {workCheck, ""},
	"pair":      {workPair, "threads window timeout seconds"},
	"spread":    {workSpread, "threads window least most seconds"},
	"mixed":     {workMixed, "threads window mode seconds"},
	"handover":  {workHandover, "seconds"},
	"paced":     {workPaced, "rate timeout seconds"},
	"fire":      {workFire, "count threads"},
	"sparse":    {workSparse, "count"},
	"pending":   {workPending, "count seconds"},
	"earlier":   {workEarlier, "threads seconds"},
	"burst":     {workBurst, "count"},
	"keepalive": {workKeepalive, "count threads seconds"},
	"tail":      {workTail, "threads window seconds"},
}

var info Info
var peer Peer

func usage() {
	fmt.Fprintln(os.Stderr,
		"usage: bench-go WORK [peer=go|none] [key=value ...]")
	for name, work := range works {
		fmt.Fprintf(os.Stderr, "  %-12s %s\n", name, work.keys)
	}
	os.Exit(2)
}

// A key that the work does not have would be a figure of something else.
func parse(arguments []string, known string) {
	for _, text := range arguments {
		key, value, found := strings.Cut(text, "=")
		in := strings.Contains(" peer "+known+" ", " "+key+" ")
		if !found || !in {
			usage()
		}
		keys[key] = value
	}
}

func choosePeer() {
	var known bool

	name, given := keys["peer"]
	if !given {
		name = "go"
	}
	if info, known = peers[name]; !known {
		usage()
	}
	peer = info.make()
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	work, known := works[os.Args[1]]
	if !known {
		usage()
	}
	parse(os.Args[2:], work.keys)
	choosePeer()
	printPeer(os.Args[1])
	// As a thread of its own, like those that the workloads start.
	runtime.LockOSThread()
	status := work.run()
	fmt.Println("}")
	os.Exit(status)
}
