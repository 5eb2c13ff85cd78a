// SPDX-License-Identifier: MIT

import java.util.concurrent.ThreadFactory;

/** Threads that do not keep the program alive. */
final class Threads {
	/** 400 of them need no more. */
	private static final long STACK = 256 * 1024;

	static final ThreadFactory DAEMONS = Threads::make;

	private static Thread make(Runnable run) {
		Thread thread = new Thread(null, run, "bench", STACK);

		thread.setDaemon(true);
		thread.setUncaughtExceptionHandler((t, e) -> Main.die(e));
		return thread;
	}

	static Thread start(Runnable run) {
		Thread thread = make(run);

		thread.start();
		return thread;
	}

	static void join(Thread thread) {
		try {
			thread.join();
		} catch (InterruptedException e) {
			Main.die(e);
		}
	}
}
