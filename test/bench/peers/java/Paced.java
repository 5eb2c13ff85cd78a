// SPDX-License-Identifier: MIT

/**
 * A server under a steady load: so many requests a second, each with a timer
 * that is cancelled 10 ms later.  One thread wakes each millisecond and does
 * what has come up since.  What does the facility cost meanwhile, how often do
 * other threads wake, and what becomes of the memory?  A second before that is
 * unmeasured, so that all is compiled.
 */
final class Paced {
	private static final long LIFE = 10 * Measure.MS;

	private final Object[] timers;
	private final double rate;
	private final long timeout;
	private long scheduled, cancelled, failed;
	private long early, most;

	private Paced(double rate, long timeout) {
		this.rate = rate;
		this.timeout = timeout;
		/* Room for a pause of 20 ms. */
		timers = new Object[(int)(rate / 1000 * 10 * 3) + 100];
	}

	private int place(long i) {
		return (int)(i % timers.length);
	}

	private void cancelUntil(long n) {
		for (; cancelled < n && cancelled < scheduled; cancelled++)
			if (!Main.peer.cancel(timers[place(cancelled)]))
				failed++;
	}

	private void scheduleUntil(long n) {
		long last = Math.min(n, cancelled + timers.length);

		for (; scheduled < last; scheduled++)
			timers[place(scheduled)] =
				Main.peer.schedule(Measure.now(), timeout,
						   Callback.IGNORE);
	}

	/** All that is to be scheduled until then, and cancelled. */
	private void catchUp(long elapsed) {
		if (elapsed > LIFE)
			cancelUntil((long)(rate * (elapsed - LIFE) / 1e9));
		scheduleUntil((long)(rate * elapsed / 1e9));
	}

	private void turn(long ns) {
		long start = Measure.now();

		for (long t = Measure.MS; t <= ns; t += Measure.MS) {
			Measure.sleepUntil(start + t);
			catchUp(Measure.now() - start);
			/* Not each time: it reads a file. */
			if (t % (50 * Measure.MS) != 0)
				continue;
			long size = Measure.residentBytes();
			most = Math.max(most, size);
			if (t <= ns / 10)
				early = size;
		}
	}

	private void measure(long ns) {
		long start = Measure.now(), cpu = Measure.processCpu();
		long before = Measure.residentBytes();
		long sleeps = Measure.othersSleeps();

		turn(ns);
		cpu = Measure.processCpu() - cpu;
		Output.result("cpu_ns", (double)cpu / scheduled);
		Output.result("wakeups_s",
			      (Measure.othersSleeps() - sleeps) * 1e9 /
				      (Measure.now() - start));
		Output.result("memory", most - before);
		Output.result("growth", Measure.residentBytes() - early);
		Output.result("turns", scheduled);
		cancelUntil(scheduled);
		Output.result("failed", failed);
	}

	static void work() {
		double rate = Output.argument("rate", 20000);
		long timeout = Output.argumentNs("timeout", 1);
		long ns = Output.argumentNs("seconds", 3);
		Paced warmUp = new Paced(rate, timeout);

		warmUp.turn(Measure.S);
		warmUp.cancelUntil(warmUp.scheduled);
		new Paced(rate, timeout).measure(ns);
	}
}
