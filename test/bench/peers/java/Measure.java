// SPDX-License-Identifier: MIT

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/** Clocks, memory, percentiles. */
final class Measure {
	static final long US = 1000;
	static final long MS = 1000 * US;
	static final long S = 1000 * MS;

	private static final String TASKS = "/proc/self/task";
	private static final int PAGE = 4096;

	static long now() {
		return System.nanoTime();
	}

	private static String read(String path) {
		try {
			return Files.readString(Path.of(path));
		} catch (IOException e) {
			return "";
		}
	}

	private static String[] tasks() {
		String[] all = new File(TASKS).list();

		return all == null ? new String[0] : all;
	}

	/** Java's figure: in steps of 10 ms. */
	private static long coarseCpu() {
		return ((com.sun.management.OperatingSystemMXBean)
			ManagementFactory.getOperatingSystemMXBean())
			.getProcessCpuTime();
	}

	/**
	 * Of all threads that there are, the collector's and the compiler's
	 * too.  From the scheduler, as what Java tells goes in steps of 10 ms.
	 * No thread may end between two readings that belong together.  The
	 * caller yields, so that its own time is up to date there.
	 */
	static long processCpu() {
		long sum = 0;

		Thread.yield();
		for (String task : tasks()) {
			String text = read(TASKS + "/" + task + "/schedstat");
			int space = text.indexOf(' ');

			if (space > 0)
				sum += Long.parseLong(text.substring(0, space));
		}
		return sum > 0 ? sum : coarseCpu();
	}

	static void sleepUntil(long at) {
		for (;;) {
			long left = at - now();

			if (left <= 0)
				return;
			LockSupport.parkNanos(left);
		}
	}

	static long residentBytes() {
		String[] words = read("/proc/self/statm").split(" ");

		return words.length > 1 ? Long.parseLong(words[1]) * PAGE : 0;
	}

	/** Without garbage. */
	static long liveBytes() {
		MemoryMXBean memory = ManagementFactory.getMemoryMXBean();

		System.gc();
		return memory.getHeapMemoryUsage().getUsed();
	}

	private static long sleepsOf(String task) {
		String key = "voluntary_ctxt_switches:";

		for (String line : read(TASKS + "/" + task + "/status")
					   .split("\n"))
			if (line.startsWith(key))
				return Long.parseLong(
					line.substring(key.length()).trim());
		return 0;
	}

	/** How often threads other than the caller's went to sleep. */
	static long othersSleeps() {
		long n = 0;
		String self;

		try {
			self = Path.of("/proc/thread-self").toRealPath()
				       .getFileName().toString();
		} catch (IOException e) {
			return 0;
		}
		for (String task : tasks())
			if (!task.equals(self))
				n += sleepsOf(task);
		return n;
	}

	/** Of sorted values, the one that the share p are not above. */
	static long percentile(long[] sorted, double p) {
		int i = (int)(p * sorted.length);

		return sorted[Math.min(i, sorted.length - 1)];
	}

	static long[] sorted(long[] values) {
		long[] copy = values.clone();

		Arrays.sort(copy);
		return copy;
	}
}
