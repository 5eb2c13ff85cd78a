// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * What "pair", "spread" and "mixed" share: many timers in flight a thread, of
 * which the oldest is cancelled, and a new one scheduled.  A timeout is evenly
 * at random between the two.
 */
class Window extends Team {
	private final Object[] timers;
	private final int size;
	private final long least, range;
	private final AtomicInteger draws = new AtomicInteger();
	private final LongAdder failures = new LongAdder();

	Window(int threads, int size, long least, long most) {
		super(threads);
		if (size == 0 || least > most)
			throw new IllegalArgumentException(
				"window or timeouts");
		this.size = size;
		this.least = least;
		range = most - least;
		timers = new Object[threads * size];
	}

	/** By one thread, as its turns begin and as they end. */
	void watch() {
	}

	/** Others each time, or a timer would be followed by its like. */
	private Random newRandom() {
		return new Random(draws.getAndIncrement());
	}

	private Object schedule(Random random) {
		long timeout = least;

		if (range != 0)
			timeout += random.below(range + 1);
		return Main.peer.schedule(Measure.now(), timeout,
					  Callback.IGNORE);
	}

	@Override
	void begin(int i) {
		Random random = newRandom();

		for (int k = i * size; k < (i + 1) * size; k++)
			timers[k] = schedule(random);
	}

	@Override
	void end(int i) {
		for (int k = i * size; k < (i + 1) * size; k++)
			Main.peer.cancel(timers[k]);
	}

	private long turn(int first, int end) {
		Random random = newRandom();
		long n = 0, failed = 0;

		for (int k = first; !over(); n++) {
			if (!Main.peer.cancel(timers[k]))
				failed++;
			timers[k] = schedule(random);
			if (++k == end)
				k = first;
		}
		failures.add(failed);
		return n;
	}

	@Override
	long turn(int i) {
		if (i == 0)
			watch();
		long n = turn(i * size, (i + 1) * size);
		if (i == 0)
			watch();
		return n;
	}

	final void runAll(long ns) {
		run(ns);
		Output.result("failed", failures.sum());
	}
}
