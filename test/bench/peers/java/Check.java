// SPDX-License-Identifier: MIT

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What must hold before the figures count: each timer that is not cancelled
 * runs once and not early, and one whose cancel said so does not run, if the
 * facility tells that.
 */
final class Check {
	private static final int THREADS = 4;
	private static final int POOL = 64;
	private static final int SHOTS = 40000;
	private static final int FEW = 300;
	private static final int CHAIN = 6;
	private static final long FAR = 1000 * Measure.S;

	static volatile boolean failed;

	private static void fail(String part, String what) {
		if (!failed)
			System.err.println(Main.info.name() + ": check: " +
					   part + ": " + what);
		failed = true;
	}

	private static final class Shot extends Callback {
		final AtomicInteger runs = new AtomicInteger();
		volatile long earliest, at;
		volatile boolean cancelled;
		volatile int moves;
		Object timer;

		@Override
		public void run() {
			at = Measure.now();
			runs.incrementAndGet();
		}

		void shoot(long delay) {
			long now = Measure.now();

			earliest = now + delay;
			timer = Main.peer.schedule(now, delay, this);
		}

		/** While the move goes on, both deadlines are right. */
		boolean move(long delay) {
			long now = Measure.now();

			earliest = Math.min(earliest, now + delay);
			Object moved = Main.peer.reschedule(timer, now, delay,
							    this);
			if (moved == null)
				return false;
			timer = moved;
			earliest = now + delay;
			moves = moves + 1;
			return true;
		}

		void cancel() {
			cancelled = Main.peer.cancel(timer);
		}

		void judge(String part) {
			long end = Measure.now() + 10 * Measure.S;

			while (!cancelled && runs.get() == 0 &&
			       Measure.now() < end)
				nap(Measure.MS);
			int n = runs.get();
			if (!Main.info.tells() && (cancelled || moves > 0))
				tolerate(part, n);
			else if (n != (cancelled ? 0 : 1))
				fail(part, "it ran " + n + " times");
			else if (n > 0 && at < earliest)
				fail(part, "it ran early, by " +
						   (earliest - at) + " ns");
		}

		/** A cancel, in a move too, may be too late and not say so. */
		private void tolerate(String part, int n) {
			if (n > 1 + moves)
				fail(part, "it ran " + n + " times");
		}
	}

	private static void nap(long ns) {
		Measure.sleepUntil(Measure.now() + ns);
	}

	private static Shot[] shots(int n) {
		Shot[] shots = new Shot[n];

		for (int i = 0; i < n; i++)
			shots[i] = new Shot();
		return shots;
	}

	private static void judge(String part, Shot[] shots) {
		nap(10 * Measure.MS);
		for (Shot shot : shots)
			shot.judge(part);
	}

	private static void run() {
		Shot[] shots = shots(FEW);
		Random random = new Random(0);

		for (Shot shot : shots)
			shot.shoot(random.below(50 * Measure.MS));
		judge("run", shots);
		for (Shot shot : shots)
			if (Main.peer.cancel(shot.timer))
				fail("run", "cancelled after it ran");
	}

	private static void cancel() {
		Shot[] shots = shots(FEW);

		for (Shot shot : shots) {
			shot.shoot(200 * Measure.MS);
			shot.cancel();
		}
		nap(250 * Measure.MS + Main.info.resolution());
		judge("cancel", shots);
	}

	private static void move() {
		Shot[] shots = shots(FEW);

		for (Shot shot : shots)
			shot.shoot(FAR);
		for (int i = 0; i < FEW; i++)
			if (!shots[i].move(i % 50 * Measure.MS))
				fail("move", "a pending timer did not move");
		judge("move", shots);
	}

	private static long randomDelay(Random random) {
		switch ((int)random.below(8)) {
		case 0:
			return 0;
		case 1:
			return FAR;
		case 2:
			return random.below(300 * Measure.MS);
		}
		return random.below(2 * Measure.MS);
	}

	/** Schedules, moves and cancels at random. */
	private static void thread(int i, Shot[] shots) {
		Random random = new Random(i);
		Shot[] current = new Shot[POOL];
		int used = 0;

		while (used < shots.length) {
			int k = (int)random.below(POOL);

			if (current[k] != null && random.below(3) == 0 &&
			    current[k].move(randomDelay(random)))
				continue;
			if (current[k] != null)
				current[k].cancel();
			current[k] = shots[used++];
			current[k].shoot(randomDelay(random));
			if (used % 16 == 0)
				nap(50 * Measure.US);
		}
		for (Shot shot : current)
			if (shot != null)
				shot.cancel();
	}

	private static void many() {
		Thread[] threads = new Thread[THREADS];
		Shot[][] shots = new Shot[THREADS][];

		for (int i = 0; i < THREADS; i++) {
			final int mine = i;
			shots[i] = shots(SHOTS);
			threads[i] = Threads.start(
				() -> thread(mine, shots[mine]));
		}
		for (int i = 0; i < THREADS; i++)
			Threads.join(threads[i]);
		for (int i = 0; i < THREADS; i++)
			judge("threads", shots[i]);
	}

	/** A callback that schedules the next. */
	private static CountDownLatch startChain() {
		CountDownLatch left = new CountDownLatch(CHAIN);
		Callback next = new Callback() {
			@Override
			public void run() {
				left.countDown();
				if (left.getCount() > 0)
					Main.peer.schedule(Measure.now(),
							   Measure.MS, this);
			}
		};

		Main.peer.schedule(Measure.now(), Measure.MS, next);
		return left;
	}

	private static void chain() {
		try {
			if (!startChain().await(10, TimeUnit.SECONDS))
				fail("chain", "it broke");
		} catch (InterruptedException e) {
			Main.die(e);
		}
	}

	/** The same while far timers come and go. */
	private static void near() {
		Shot[] shots = shots(FEW);
		Random random = new Random(0);

		for (Shot shot : shots)
			shot.shoot(FAR + random.below(FAR));
		CountDownLatch left = startChain();
		long end = Measure.now() + 10 * Measure.S;
		for (int n = 0; left.getCount() > 0; n++) {
			Shot shot = shots[n % FEW];

			shot.cancel();
			shot.shoot(FAR + random.below(FAR));
			if (Measure.now() > end) {
				fail("near", "it broke");
				break;
			}
		}
		for (Shot shot : shots) {
			shot.cancel();
			if (shot.runs.get() != 0)
				fail("near", "a far timer ran");
		}
	}

	/** Nothing runs after that. */
	private static void stop() {
		Shot[] shots = shots(FEW);

		for (Shot shot : shots)
			shot.shoot(100 * Measure.MS);
		Main.peer.stop();
		nap(150 * Measure.MS + Main.info.resolution());
		for (Shot shot : shots)
			if (shot.runs.get() > 0 && shot.at < shot.earliest)
				fail("stop", "it ran");
	}

	static void work() {
		if (!Main.info.fires())
			Output.skip("nothing fires");
		run();
		cancel();
		move();
		many();
		chain();
		near();
		stop();
		Output.result("failed", failed ? 1 : 0);
	}
}
