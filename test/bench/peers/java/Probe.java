// SPDX-License-Identifier: MIT

import java.util.concurrent.Semaphore;

/** One timer at a time, and who waits for it. */
final class Probe extends Callback {
	private final Semaphore ran = new Semaphore(0);
	private long ranAt;

	Probe() {
		if (!Main.info.fires())
			Output.skip("nothing fires");
	}

	@Override
	public void run() {
		ranAt = Measure.now();
		ran.release();
	}

	/** How late it was. */
	long fireOne(long delay) {
		long now = Measure.now();

		Main.peer.schedule(now, delay, this);
		ran.acquireUninterruptibly();
		return ranAt - now - delay;
	}
}
