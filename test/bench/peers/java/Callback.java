// SPDX-License-Identifier: MIT

import io.netty.util.Timeout;
import io.netty.util.TimerTask;

/** What both facilities take, so that neither needs an object in between. */
abstract class Callback implements Runnable, TimerTask {
	static final Callback IGNORE = new Callback() {
		@Override
		public void run() {
		}
	};

	@Override
	public final void run(Timeout timeout) {
		run();
	}
}
