// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.LongAdder;

/**
 * Connections with an idle timeout of a minute: now this one, now that one has
 * a packet, and its timer is moved to a minute from now.
 */
final class Keepalive extends Team {
	private final Object[] timers;
	private final int threads;
	private final LongAdder failures = new LongAdder();

	private Keepalive(int count, int threads) {
		super(threads);
		this.threads = threads;
		timers = new Object[count];
	}

	/** Each thread has its own connections. */
	@Override
	void begin(int i) {
		for (int k = i; k < timers.length; k += threads)
			timers[k] = Main.peer.schedule(Measure.now(),
						       60 * Measure.S,
						       Callback.IGNORE);
	}

	@Override
	long turn(int i) {
		Random random = new Random(i);
		int mine = timers.length / threads;
		long n = 0, failed = 0;

		for (; !over(); n++) {
			int k = (int)random.below(mine) * threads + i;

			timers[k] = Main.peer.reschedule(timers[k],
							 Measure.now(),
							 60 * Measure.S,
							 Callback.IGNORE);
			if (timers[k] == null)
				failed++;
		}
		failures.add(failed);
		return n;
	}

	@Override
	void end(int i) {
		for (int k = i; k < timers.length; k += threads)
			Main.peer.cancel(timers[k]);
	}

	static void work() {
		int count = (int)Output.argument("count", 100000);
		int threads = (int)Output.argument("threads", 1);
		long ns = Output.argumentNs("seconds", 0.5);
		Keepalive keepalive = new Keepalive(count, threads);

		keepalive.run(ns);
		Output.result("failed", keepalive.failures.sum());
	}
}
