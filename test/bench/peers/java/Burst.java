// SPDX-License-Identifier: MIT

import java.util.Arrays;

/**
 * A probe is due every 10 ms; then another thread schedules millions of timers
 * that are an hour away, at full speed.  How late are the probes, before and
 * meanwhile?  A first time with fewer, cancelled again, so that all is
 * compiled.
 */
final class Burst {
	private static final int PROBES = 100;
	private static final int MOST = 100000;
	private static final int WARM_UP = 500000;
	private static final long STEP = 10 * Measure.MS;

	private final Object[] timers;
	private final Probe probe = new Probe();
	private final long[] late = new long[MOST];
	private long ns;
	private volatile boolean over;

	private Burst(int count) {
		timers = new Object[count];
	}

	private void schedule() {
		long start = Measure.now();

		for (int i = 0; i < timers.length; i++)
			timers[i] = Main.peer.schedule(Measure.now(),
						       3600 * Measure.S,
						       Callback.IGNORE);
		ns = Measure.now() - start;
		over = true;
	}

	private long[] probe(int n) {
		for (int i = 0; i < n; i++)
			late[i] = probe.fireOne(STEP);
		return Arrays.copyOf(late, n);
	}

	/** Until some after it: what it left behind is still worked off. */
	private long[] probeMeanwhile() {
		int n = 0, after = 0;

		while (n < MOST && after < PROBES / 2) {
			after += over ? 1 : 0;
			late[n++] = probe.fireOne(STEP);
		}
		return Arrays.copyOf(late, n);
	}

	private long[] run() {
		Thread thread = Threads.start(this::schedule);
		long[] meanwhile = probeMeanwhile();

		Threads.join(thread);
		return meanwhile;
	}

	private static void warmUp(int count) {
		Burst burst = new Burst(Math.min(count, WARM_UP));

		burst.run();
		for (Object timer : burst.timers)
			Main.peer.cancel(timer);
	}

	static void work() {
		int count = (int)Output.argument("count", 5000000);

		warmUp(count);
		Burst burst = new Burst(count);
		burst.probe(PROBES);
		Output.percentiles("quiet_", burst.probe(PROBES));
		Output.percentiles("late_", burst.run());
		Output.result("schedule_ns", (double)burst.ns / count);
	}
}
