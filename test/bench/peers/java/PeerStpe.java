// SPDX-License-Identifier: MIT

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Java's own ScheduledThreadPoolExecutor with one thread: a binary heap under
 * a lock.  What is cancelled leaves the heap at once; by default it would stay
 * until it is due.
 */
final class PeerStpe implements Peer {
	private final ScheduledThreadPoolExecutor executor =
		new ScheduledThreadPoolExecutor(1, Threads.DAEMONS);

	PeerStpe() {
		executor.setRemoveOnCancelPolicy(true);
		executor.prestartAllCoreThreads();
	}

	@Override
	public Object schedule(long now, long delay, Callback callback) {
		return executor.schedule((Runnable)callback, delay,
					 TimeUnit.NANOSECONDS);
	}

	@Override
	public boolean cancel(Object future) {
		return ((Future<?>)future).cancel(false);
	}

	@Override
	public void stop() {
		executor.shutdownNow();
	}
}
