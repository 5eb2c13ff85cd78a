// SPDX-License-Identifier: MIT

import java.util.concurrent.Phaser;

/**
 * Threads that turn a loop together for a time.  Before, they do so unmeasured
 * for a second, a few times, so that the loop is compiled.  They are not kept
 * on one CPU each, as Java has no call for that.
 */
abstract class Team {
	private static final int WARM_UPS = 5;
	private static final long WARM_UP = Measure.S / WARM_UPS;

	private static volatile boolean over;

	private final int threads;
	private final Phaser barrier;
	private double cpu, wall;

	Team(int threads) {
		this.threads = threads;
		barrier = new Phaser(threads + 1);
	}

	void begin(int i) {
	}

	/** Until over(); how many turns. */
	abstract long turn(int i);

	void end(int i) {
	}

	static boolean over() {
		return over;
	}

	/** A Phaser, as 400 threads would leave a CyclicBarrier one by one. */
	private void await() {
		barrier.arriveAndAwaitAdvance();
	}

	private void takePart(int i, long[] turns) {
		begin(i);
		for (int phase = 0; phase <= WARM_UPS; phase++) {
			await();
			await();
			turns[i] = turn(i);
			await();
		}
		await();
		end(i);
	}

	/*
	 * The clocks are read when all threads have come, and before the first
	 * goes on: where there are many, this one may not get a CPU just behind
	 * a barrier.
	 */
	private void measure(long ns) {
		over = false;
		await();
		long cpuBefore = Measure.processCpu();
		long before = Measure.now();
		await();
		Measure.sleepUntil(before + ns);
		over = true;
		await();
		wall = Measure.now() - before;
		cpu = Measure.processCpu() - cpuBefore;
	}

	private Thread[] start(long[] turns) {
		Thread[] all = new Thread[threads];

		for (int i = 0; i < threads; i++) {
			final int mine = i;
			all[i] = Threads.start(() -> takePart(mine, turns));
		}
		return all;
	}

	/** Prints cpu_ns and wall_ns, of all threads' turns each, and turns. */
	final void run(long ns) {
		long[] turns = new long[threads];
		double sum = 0;
		Thread[] all = start(turns);

		for (int i = 0; i < WARM_UPS; i++)
			measure(WARM_UP);
		measure(ns);
		await();
		for (Thread thread : all)
			Threads.join(thread);
		for (long n : turns)
			sum += n;
		Output.result("cpu_ns", cpu / sum);
		Output.result("wall_ns", wall / sum);
		Output.result("turns", sum);
	}
}
