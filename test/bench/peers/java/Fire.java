// SPDX-License-Identifier: MIT

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Timers that all expire: each at a random moment within the two seconds after
 * it was scheduled, from one thread or several at full speed.  A first time
 * with fewer and unmeasured, so that all is compiled.
 */
final class Fire {
	private static final int WARM_UP = 200000;

	private static final class Record extends Callback {
		long deadline, ran;
		final AtomicInteger runs = new AtomicInteger();

		@Override
		public void run() {
			ran = Measure.now();
			runs.incrementAndGet();
		}
	}

	private final Object[] timers;
	private final Record[] records;
	private final int threads;
	/** The threads stay until their time has been read. */
	private final CountDownLatch scheduled, measured;

	private Fire(int count, int threads) {
		this.threads = threads;
		scheduled = new CountDownLatch(threads);
		measured = new CountDownLatch(1);
		timers = new Object[count];
		records = new Record[count];
		for (int i = 0; i < count; i++)
			records[i] = new Record();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		} catch (InterruptedException e) {
			Main.die(e);
		}
	}

	/** Every so-manieth, from this one on. */
	private void scheduleSome(int first) {
		Random random = new Random(first);

		for (int i = first; i < timers.length; i += threads) {
			long now = Measure.now();
			long delay = random.below(2 * Measure.S);

			records[i].deadline = now + delay;
			timers[i] = Main.peer.schedule(now, delay, records[i]);
		}
	}

	private void thread(int first) {
		scheduleSome(first);
		scheduled.countDown();
		await(measured);
	}

	private boolean allRan() {
		for (Record r : records)
			if (r.runs.get() == 0)
				return false;
		return true;
	}

	/** CPU nanoseconds of each. */
	private double run() {
		long cpu = Measure.processCpu();

		for (int i = 0; i < threads; i++) {
			final int first = i;
			Threads.start(() -> thread(first));
		}
		await(scheduled);
		Measure.sleepUntil(Measure.now() + 2 * Measure.S +
				   5 * Measure.MS);
		cpu = Measure.processCpu() - cpu;
		measured.countDown();
		for (int i = 0; Main.info.fires() && i < 100 && !allRan(); i++)
			Measure.sleepUntil(Measure.now() + 100 * Measure.MS);
		return (double)cpu / timers.length;
	}

	private void report() {
		int lost = 0, early = 0, twice = 0;
		long[] late;

		for (Record r : records) {
			lost += r.runs.get() == 0 ? 1 : 0;
			twice += r.runs.get() > 1 ? 1 : 0;
			early += r.runs.get() > 0 && r.ran < r.deadline ? 1 : 0;
		}
		late = java.util.Arrays.stream(records)
			       .filter(r -> r.runs.get() > 0)
			       .mapToLong(r -> r.ran - r.deadline)
			       .sorted().toArray();
		if (late.length > 0) {
			Output.percentiles("late_", late);
			Output.result("earliest", late[0]);
		}
		Output.result("early", early);
		Output.result("lost", lost);
		Output.result("twice", twice);
	}

	static void work() {
		int count = (int)Output.argument("count", 1000000);
		int threads = (int)Output.argument("threads", 1);

		if (threads < 1 || threads > 64)
			throw new IllegalArgumentException();
		new Fire(Math.min(count, WARM_UP), threads).run();
		Fire fire = new Fire(count, threads);
		Output.result("cpu_ns", fire.run());
		fire.report();
	}
}
