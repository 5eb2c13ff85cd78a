// SPDX-License-Identifier: MIT

package main

// As "pair" with a window, but for a daemon that has many timeouts: each is
// chosen evenly at random between two.
func workSpread() int {
	w := &window{threads: int(argument("threads", 1))}
	w.size = int(argument("window", 20000))
	w.least = argumentNs("least", 0.1)
	w.most = argumentNs("most", 10)
	w.ns = argumentNs("seconds", 0.5)
	w.run()
	return 0
}
