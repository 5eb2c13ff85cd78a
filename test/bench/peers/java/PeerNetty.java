// SPDX-License-Identifier: MIT

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;

/**
 * Netty's HashedWheelTimer: a wheel of 512 lists, a thread that wakes at every
 * tick, and two queues to it, for new timers and for cancelled ones.
 *
 * A tick is 100 ms unless told otherwise, which is right for idle timeouts and
 * makes lateness meaningless; so here it is 1 ms, the least.  For it: a call
 * only adds to a queue, and all else is its thread's.  Against it: the thread wakes whether or not there are
 * timers, takes at most 100,000 new ones a tick, and at each tick walks past
 * all that share the list, also those of later rounds.
 */
final class PeerNetty implements Peer {
	static final int TICK_MS = 1;
	private static final int TICKS_PER_WHEEL = 512;

	private final HashedWheelTimer timer;

	PeerNetty() {
		timer = new HashedWheelTimer(Threads.DAEMONS, TICK_MS,
					     TimeUnit.MILLISECONDS,
					     TICKS_PER_WHEEL);
		timer.start();
	}

	@Override
	public Object schedule(long now, long delay, Callback callback) {
		return timer.newTimeout(callback, delay, TimeUnit.NANOSECONDS);
	}

	@Override
	public boolean cancel(Object timeout) {
		return ((Timeout)timeout).cancel();
	}

	@Override
	public void stop() {
		timer.stop();
	}
}
