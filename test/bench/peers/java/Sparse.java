// SPDX-License-Identifier: MIT

/**
 * One timer at a time, half a millisecond to five ahead, in a process that has
 * nothing else to do: how late, and for how much CPU time?
 */
final class Sparse {
	/** Unmeasured, so that all is compiled: a second. */
	private static final int WARM_UP = 300;

	private static long[] fire(Probe probe, int n) {
		Random random = new Random(0);
		long[] late = new long[n];

		for (int i = 0; i < n; i++)
			late[i] = probe.fireOne(random.below(4500000) + 500000);
		return late;
	}

	static void work() {
		int n = (int)Output.argument("count", 300), early = 0;
		Probe probe = new Probe();

		fire(probe, WARM_UP);
		long cpu = Measure.processCpu();
		long[] late = fire(probe, n);
		cpu = Measure.processCpu() - cpu;
		for (long by : late)
			early += by < 0 ? 1 : 0;
		Output.result("cpu_ns", (double)cpu / n);
		Output.percentiles("late_", late);
		Output.result("early", early);
	}
}
