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
	private final int window;
	private final long timeout;
	private final LongAdder failures = new LongAdder();

	private Pair(int threads, int window, long timeout) {
		super(threads);
		this.window = window;
		this.timeout = timeout;
		timers = new Object[threads * (window == 0 ? APART : window)];
	}

	private Object schedule() {
		return Main.peer.schedule(Measure.now(), timeout,
					  Callback.IGNORE);
	}

	@Override
	void begin(int i) {
		for (int k = i * window; k < (i + 1) * window; k++)
			timers[k] = schedule();
	}

	@Override
	void end(int i) {
		for (int k = i * window; k < (i + 1) * window; k++)
			Main.peer.cancel(timers[k]);
	}

	private long turnWindow(int first, int end) {
		long n = 0, failed = 0;

		for (int k = first; !over(); n++) {
			if (!Main.peer.cancel(timers[k]))
				failed++;
			timers[k] = schedule();
			if (++k == end)
				k = first;
		}
		failures.add(failed);
		return n;
	}

	private long turnAtOnce(int k) {
		long n = 0, failed = 0;

		for (; !over(); n++) {
			timers[k] = schedule();
			if (!Main.peer.cancel(timers[k]))
				failed++;
		}
		failures.add(failed);
		return n;
	}

	@Override
	long turn(int i) {
		if (window == 0)
			return turnAtOnce(i * APART);
		return turnWindow(i * window, (i + 1) * window);
	}

	static void work() {
		int threads = (int)Output.argument("threads", 1);
		int window = (int)Output.argument("window", 0);
		long timeout = Output.argumentNs("timeout", 10);
		long ns = Output.argumentNs("seconds", 0.5);
		Pair pair = new Pair(threads, window, timeout);

		pair.run(ns);
		Output.result("failed", pair.failures.sum());
	}
}
