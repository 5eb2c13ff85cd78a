// SPDX-License-Identifier: MIT

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** The command line's keys, and the one line of JSON that is printed. */
final class Output {
	private static final Map<String, String> keys = new HashMap<>();
	private static final StringBuilder line = new StringBuilder();

	static void key(String name, String value) {
		keys.put(name, value);
	}

	static String text(String key, String otherwise) {
		return keys.getOrDefault(key, otherwise);
	}

	private static double number(String key, double otherwise) {
		String text = keys.get(key);

		if (text == null)
			return otherwise;
		double x = Double.parseDouble(text);
		if (!(x >= 0 && x <= 1e12))
			throw new NumberFormatException(text);
		return x;
	}

	/** The value of key=value; else what is given here. */
	static long argument(String key, long otherwise) {
		long value = (long)number(key, otherwise);

		result(key, value);
		return value;
	}

	/** Seconds, given as nanoseconds. */
	static long argumentNs(String key, double otherwise) {
		double value = number(key, otherwise);

		result(key, value);
		return (long)(value * 1e9);
	}

	private static String format(double value) {
		if (value == Math.rint(value) && Math.abs(value) < 1e15)
			return Long.toString((long)value);
		return new BigDecimal(value).round(new MathContext(10))
			.stripTrailingZeros().toString();
	}

	/** One member of the JSON object. */
	static void result(String key, double value) {
		line.append(", \"").append(key).append("\": ")
			.append(format(value));
	}

	private static void member(String key, String value) {
		line.append(", \"").append(key).append("\": \"")
			.append(value).append('"');
	}

	/** Which of these words it is; the first if it is not given. */
	static String argumentWord(String key, String... words) {
		String word = text(key, words[0]);

		if (!Arrays.asList(words).contains(word))
			throw new IllegalArgumentException(word);
		member(key, word);
		return word;
	}

	/** p50, p99, p99.9 and the most of these, in nanoseconds. */
	static void percentiles(String prefix, long[] values) {
		long[] sorted = Measure.sorted(values);

		result(prefix + "p50", Measure.percentile(sorted, 0.5));
		result(prefix + "p99", Measure.percentile(sorted, 0.99));
		result(prefix + "p999", Measure.percentile(sorted, 0.999));
		result(prefix + "max", Measure.percentile(sorted, 1));
	}

	static void begin(PeerInfo peer, String work) {
		line.append("{\"peer\": \"").append(peer.name()).append('"');
		member("version", peer.version());
		member("clock", "monotonic");
		result("resolution", peer.resolution());
		member("notes", peer.notes());
		member("work", work);
	}

	static void end() {
		System.out.println(line.append('}'));
	}

	/** Ends the program, as one that cannot do this. */
	static void skip(String why) {
		member("skipped", why);
		end();
		System.exit(0);
	}
}
