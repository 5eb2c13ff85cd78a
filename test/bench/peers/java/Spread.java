// SPDX-License-Identifier: MIT

/**
 * As "pair" with a window, but for a daemon that has many timeouts: each is
 * chosen evenly at random between two.
 */
final class Spread {
	static void work() {
		int threads = (int)Output.argument("threads", 1);
		int window = (int)Output.argument("window", 20000);
		long least = Output.argumentNs("least", 0.1);
		long most = Output.argumentNs("most", 10);
		long ns = Output.argumentNs("seconds", 0.5);

		new Window(threads, window, least, most).runAll(ns);
	}
}
