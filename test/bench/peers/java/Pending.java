// SPDX-License-Identifier: MIT

/**
 * Many pending, an hour ahead and more: what does each take, what does a pair
 * cost on top of them, and how long does it take to cancel them all?  A few
 * times with fewer before, unmeasured, so that all is compiled.  What that left
 * of the heap would hide what the timers take: with -Xms16m, the collector
 * gives it back before.
 */
final class Pending extends Team {
	private static final int WARM_UP = 100000;
	private static final int WARM_UPS = 10;
	/** Of a reference, in a heap of less than 32 GB. */
	private static final int REFERENCE = 4;

	private final Object[] timers;
	private long cpu, resident, wall;
	private int failed;

	private Pending(int count) {
		super(1);
		timers = new Object[count];
	}

	private void scheduleAll() {
		Random random = new Random(0);

		resident = Measure.residentBytes();
		cpu = Measure.processCpu();
		for (int i = 0; i < timers.length; i++) {
			long delay = 3600 * Measure.S +
				     random.below(3600 * Measure.S);

			timers[i] = Main.peer.schedule(Measure.now(), delay,
						       Callback.IGNORE);
		}
		cpu = Measure.processCpu() - cpu;
		resident = Measure.residentBytes() - resident;
	}

	private void cancelAll() {
		cpu = Measure.processCpu();
		wall = Measure.now();
		for (Object timer : timers)
			if (!Main.peer.cancel(timer))
				failed++;
		wall = Measure.now() - wall;
		cpu = Measure.processCpu() - cpu;
	}

	@Override
	long turn(int i) {
		long n = 0;

		for (; !over(); n++) {
			Object extra = Main.peer.schedule(Measure.now(),
							  10 * Measure.S,
							  Callback.IGNORE);
			Main.peer.cancel(extra);
		}
		return n;
	}

	private static void warmUp() {
		for (int i = 0; i < WARM_UPS; i++) {
			Pending few = new Pending(WARM_UP);

			few.scheduleAll();
			few.cancelAll();
			/* Until a facility with ticks has worked it off. */
			Measure.sleepUntil(Measure.now() + 150 * Measure.MS);
		}
	}

	private double each(double total) {
		return total / timers.length;
	}

	private void measure(long ns) {
		long before = Measure.liveBytes();

		scheduleAll();
		Output.result("schedule_ns", each(cpu));
		Output.result("resident_bytes", each(resident) + REFERENCE);
		run(ns);
		Output.result("bytes",
			      each(Measure.liveBytes() - before) + REFERENCE);
		cancelAll();
		Output.result("cancel_ns", each(cpu));
		Output.result("cancel_all_ms", wall / 1e6);
		Output.result("failed", failed);
	}

	static void work() {
		int count = (int)Output.argument("count", 1000000);
		long ns = Output.argumentNs("seconds", 0.5);

		warmUp();
		new Pending(count).measure(ns);
	}
}
