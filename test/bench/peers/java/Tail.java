// SPDX-License-Identifier: MIT

import java.util.Arrays;

/**
 * How long a single schedule and a single cancel can take, with many in flight
 * a thread.  A reading of the clock is in each, as it is in the loop's own.
 */
final class Tail extends Team {
	/** Of each thread; the last that were measured. */
	private static final int SAMPLES = 1 << 20;

	private final Object[] timers;
	private final int window;
	private final long[][] schedules, cancels;
	private final long[] turns;

	private Tail(int threads, int window) {
		super(threads);
		this.window = window;
		timers = new Object[threads * window];
		schedules = new long[threads][SAMPLES];
		cancels = new long[threads][SAMPLES];
		turns = new long[threads];
	}

	private static Object schedule(long now) {
		return Main.peer.schedule(now, 10 * Measure.S,
					  Callback.IGNORE);
	}

	@Override
	void begin(int i) {
		for (int k = i * window; k < (i + 1) * window; k++)
			timers[k] = schedule(Measure.now());
	}

	@Override
	long turn(int i) {
		long n = 0;
		int at = 0;

		for (; !over(); n++) {
			int k = i * window + at, sample = (int)(n % SAMPLES);

			long before = Measure.now();
			Main.peer.cancel(timers[k]);
			long between = Measure.now();
			cancels[i][sample] = between - before;
			timers[k] = schedule(between);
			schedules[i][sample] = Measure.now() - between;
			if (++at == window)
				at = 0;
		}
		return turns[i] = n;
	}

	@Override
	void end(int i) {
		for (int k = i * window; k < (i + 1) * window; k++)
			Main.peer.cancel(timers[k]);
	}

	/** All threads' samples together. */
	private long[] join(long[][] of) {
		long[] all = new long[of.length * SAMPLES];
		int n = 0;

		for (int i = 0; i < of.length; i++) {
			int some = (int)Math.min(turns[i], SAMPLES);

			System.arraycopy(of[i], 0, all, n, some);
			n += some;
		}
		return Arrays.copyOf(all, n);
	}

	static void work() {
		int threads = (int)Output.argument("threads", 2);
		int window = (int)Output.argument("window", 1000);
		long ns = Output.argumentNs("seconds", 0.5);

		if (threads < 1 || threads > 64 || window == 0)
			throw new IllegalArgumentException();
		Tail tail = new Tail(threads, window);
		tail.run(ns);
		Output.percentiles("schedule_", tail.join(tail.schedules));
		Output.percentiles("cancel_", tail.join(tail.cancels));
	}
}
