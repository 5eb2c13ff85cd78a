// SPDX-License-Identifier: MIT

/** No timers: what the loops cost without them.  No callback ever runs. */
final class PeerNone implements Peer {
	private static final Object TIMER = new Object();

	@Override
	public Object schedule(long now, long delay, Callback callback) {
		return TIMER;
	}

	@Override
	public boolean cancel(Object timer) {
		return timer == TIMER;
	}

	@Override
	public void stop() {
	}
}
