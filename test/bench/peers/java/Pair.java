// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.LongAdder;

/**
 * Schedule and cancel, at once (window 0) or with so many in flight a thread:
 * what a server does that sets a timer on every request.
 */
final class Pair extends Team {
	/** So that no two threads' timers share a cache line. */
	private static final int APART = 64;

	private final Object[] timers;
	private final long timeout;
	private final LongAdder failures = new LongAdder();

	private Pair(int threads, long timeout) {
		super(threads);
		this.timeout = timeout;
		timers = new Object[threads * APART];
	}

	@Override
	long turn(int i) {
		int k = i * APART;
		long n = 0, failed = 0;

		for (; !over(); n++) {
			timers[k] = Main.peer.schedule(Measure.now(), timeout,
						       Callback.IGNORE);
			if (!Main.peer.cancel(timers[k]))
				failed++;
		}
		failures.add(failed);
		return n;
	}

	static void work() {
		int threads = (int)Output.argument("threads", 1);
		int window = (int)Output.argument("window", 0);
		long timeout = Output.argumentNs("timeout", 10);
		long ns = Output.argumentNs("seconds", 0.5);

		if (window != 0) {
			new Window(threads, window, timeout, timeout)
				.runAll(ns);
			return;
		}
		Pair pair = new Pair(threads, timeout);
		pair.run(ns);
		Output.result("failed", pair.failures.sum());
	}
}
