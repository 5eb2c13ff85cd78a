// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicLong;

/**
 * As "pair" with a window and 10 s for all, while beside it a near timer goes
 * on, 1 ms ahead each time: its callback schedules the next (mode=self), or
 * another thread schedules one each millisecond (mode=other).  What the near
 * timers themselves cost, about 1,000 runs a second, stays in the figure.
 */
final class Mixed extends Window {
	/** One that is late by as many milliseconds is given up. */
	private static final int NEAR = 1000;

	private final AtomicLong runs = new AtomicLong();
	private volatile boolean over;
	/** At the last two looks measuring began and ended. */
	private long at, ran, atBefore, ranBefore;

	private Mixed(int threads, int window) {
		super(threads, window, 10 * Measure.S, 10 * Measure.S);
	}

	@Override
	void watch() {
		atBefore = at;
		ranBefore = ran;
		at = Measure.now();
		ran = runs.get();
	}

	private final Callback other = new Callback() {
		@Override
		public void run() {
			runs.getAndIncrement();
		}
	};

	private final Callback self = new Callback() {
		@Override
		public void run() {
			runs.getAndIncrement();
			if (!over)
				scheduleSelf();
		}
	};

	private void scheduleSelf() {
		Main.peer.schedule(Measure.now(), Measure.MS, self);
	}

	/** One that has run is cancelled too, as a request does at its end. */
	private void scheduleNear() {
		Object[] timers = new Object[NEAR];
		long start = Measure.now();

		for (int n = 0; !over; n++) {
			Measure.sleepUntil(start + n * Measure.MS);
			if (n >= NEAR)
				Main.peer.cancel(timers[n % NEAR]);
			timers[n % NEAR] = Main.peer.schedule(
				Measure.now(), Measure.MS, other);
		}
	}

	static void work() {
		int threads = (int)Output.argument("threads", 1);
		int window = (int)Output.argument("window", 20000);
		String mode = Output.argumentWord("mode", "self", "other");
		long ns = Output.argumentNs("seconds", 0.5);
		Mixed mixed = new Mixed(threads, window);

		if (mode.equals("self"))
			mixed.scheduleSelf();
		else
			Threads.start(mixed::scheduleNear);
		mixed.runAll(ns);
		mixed.over = true;
		Output.result("near_s", (mixed.ran - mixed.ranBefore) * 1e9 /
						(mixed.at - mixed.atBefore));
	}
}
