// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * One thread schedules and another cancels, some 1,000 later.  A place in the
 * ring between them says itself whether it is full, and each side looks at the
 * other once in a batch.
 */
final class Handover extends Team {
	private static final int RING = 2048;
	private static final int IN_FLIGHT = 1000;
	private static final int BATCH = 16;

	private final Object[] timers = new Object[RING];
	private final AtomicIntegerArray full = new AtomicIntegerArray(RING);
	/** Each used by one thread, which has a copy of it in its loop. */
	private int in, out;
	private long failed;

	private Handover() {
		super(2);
	}

	private boolean waitUntil(int place, int value) {
		for (int i = 0; full.getAcquire(place % RING) != value; i++) {
			if (over())
				return false;
			Thread.onSpinWait();
			if (i % 256 == 255)
				Thread.yield();
		}
		return true;
	}

	private void scheduleBatch(int first) {
		for (int place = first; place < first + BATCH; place++) {
			timers[place] = Main.peer.schedule(Measure.now(),
							   10 * Measure.S,
							   Callback.IGNORE);
			full.setRelease(place, 1);
		}
	}

	private long produce() {
		int next = in;
		long n = 0;

		for (; waitUntil(next + BATCH - 1, 0); n += BATCH) {
			scheduleBatch(next);
			next = (next + BATCH) % RING;
		}
		in = next;
		return n;
	}

	private void cancelBatch(int first) {
		for (int place = first; place < first + BATCH; place++) {
			if (!Main.peer.cancel(timers[place]))
				failed++;
			full.setRelease(place, 0);
		}
	}

	/** Stays behind.  The turns are the other's. */
	private long consume() {
		int next = out;

		while (waitUntil(next + IN_FLIGHT + BATCH - 1, 1)) {
			cancelBatch(next);
			next = (next + BATCH) % RING;
		}
		out = next;
		return 0;
	}

	@Override
	long turn(int i) {
		return i == 0 ? produce() : consume();
	}

	static void work() {
		Handover handover = new Handover();

		handover.run(Output.argumentNs("seconds", 0.5));
		Output.result("failed", handover.failed);
	}
}
