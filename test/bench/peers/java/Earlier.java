// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.LongAdder;

/**
 * Each deadline is earlier than all before, and is cancelled 1,000 turns
 * later: what wakes a thread, or goes to the top of a heap, does it each time.
 */
final class Earlier extends Team {
	private static final int WINDOW = 1000;

	private final Object[] timers;
	private final long[] next;
	private final long start = Measure.now();
	private final LongAdder failures = new LongAdder();

	private Earlier(int threads) {
		super(threads);
		timers = new Object[threads * WINDOW];
		next = new long[threads];
	}

	/** A microsecond earlier each time, however fast the turns are. */
	private Object schedule(long n) {
		long now = Measure.now();
		long at = start + 7200 * Measure.S - n * Measure.US;

		return Main.peer.schedule(now, at - now, Callback.IGNORE);
	}

	@Override
	long turn(int i) {
		long n = next[i], failed = 0;

		for (; !over(); n++) {
			int k = i * WINDOW + (int)(n % WINDOW);

			if (n >= WINDOW && !Main.peer.cancel(timers[k]))
				failed++;
			timers[k] = schedule(n);
		}
		failures.add(failed);
		long turns = n - next[i];
		next[i] = n;
		return turns;
	}

	static void work() {
		int threads = (int)Output.argument("threads", 1);
		long ns = Output.argumentNs("seconds", 0.5);
		Earlier earlier = new Earlier(threads);
		long sleeps = Measure.othersSleeps();

		earlier.run(ns);
		Output.result("failed", earlier.failures.sum());
		Output.result("sleeps", Measure.othersSleeps() - sleeps);
	}
}
