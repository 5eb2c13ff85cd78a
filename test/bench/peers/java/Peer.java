// SPDX-License-Identifier: MIT

/**
 * A timer facility as the workloads see it.  What schedule returns is what a
 * user keeps in a request.
 */
interface Peer {
	/**
	 * The callback is to run delay nanoseconds after now, which the caller
	 * has just read from the clock, so that it costs each peer the same.
	 */
	Object schedule(long now, long delay, Callback callback);

	/**
	 * True if the callback will not run, false if it has begun; where a
	 * peer does not tell, true of one that has begun too.
	 */
	boolean cancel(Object timer);

	/** Neither facility can move a timer. */
	default Object reschedule(Object timer, long now, long delay,
				  Callback callback) {
		if (!cancel(timer))
			return null;
		return schedule(now, delay, callback);
	}

	void stop();
}
