// SPDX-License-Identifier: MIT

import io.netty.util.Version;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What the output says of a peer.  Its callbacks run at all (fires); its cancel
 * is never true of a callback that has begun (tells).
 */
record PeerInfo(String name, String version, long resolution, String notes,
		boolean fires, boolean tells, Supplier<Peer> make) {
	private static final String BATCHED =
		"a cancelled timer is unlinked at the next tick; ";
	private static final String NO_WAIT = "cancel does not wait";
	private static final String NOR_TELL =
		", nor tell that the callback has begun";

	/** By the value of the key "peer"; null if there is none. */
	static PeerInfo find(String key) {
		switch (key) {
		case "netty":
			return netty();
		case "stpe":
			return new PeerInfo("java-stpe", java(), 1,
					    NO_WAIT + NOR_TELL, true, false,
					    PeerStpe::new);
		case "none":
			return new PeerInfo("java-loop", java(), 1,
					    "the loops alone, without timers",
					    false, true, PeerNone::new);
		}
		return null;
	}

	private static PeerInfo netty() {
		return new PeerInfo("netty", nettyVersion(),
				    TimeUnit.MILLISECONDS.toNanos(
					    PeerNetty.TICK_MS),
				    BATCHED + NO_WAIT, true, true,
				    PeerNetty::new);
	}

	private static String nettyVersion() {
		Version v = Version.identify().get("netty-common");

		return (v == null ? "" : v.artifactVersion() + ", ") + java();
	}

	/** With the flags, as the heap's size matters. */
	private static String java() {
		StringBuilder text = new StringBuilder("Java ");

		text.append(System.getProperty("java.version"));
		for (String flag : ManagementFactory.getRuntimeMXBean()
						    .getInputArguments())
			if (flag.startsWith("-X"))
				text.append(' ').append(flag);
		return text.toString();
	}
}
