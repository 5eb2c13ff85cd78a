// SPDX-License-Identifier: MIT

/** 64 random bits (xorshift64, Marsaglia 2003), as the programs in C draw. */
final class Random {
	private long state;

	Random(int i) {
		state = 88172645463325252L + i;
	}

	private long next() {
		state ^= state << 13;
		state ^= state >>> 7;
		return state ^= state << 17;
	}

	long below(long n) {
		return Long.remainderUnsigned(next(), n);
	}
}
