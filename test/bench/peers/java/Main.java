// SPDX-License-Identifier: MIT

/**
 * WORK peer=NAME [key=value ...]: does one of the workloads of test/bench/work
 * with a timer facility of Java, and prints what came out as the programs in C
 * do.  With peer=none, the same without the timers.
 */
final class Main {
	private record Work(String name, String keys, Runnable run) {
	}

	private static final Work[] WORKS = {
		new Work("check", "", Check::work),
		new Work("pair", "threads window timeout seconds", Pair::work),
		new Work("spread", "threads window least most seconds",
			 Spread::work),
		new Work("mixed", "threads window mode seconds", Mixed::work),
		new Work("handover", "seconds", Handover::work),
		new Work("paced", "rate timeout seconds", Paced::work),
		new Work("fire", "count threads", Fire::work),
		new Work("sparse", "count", Sparse::work),
		new Work("pending", "count seconds", Pending::work),
		new Work("earlier", "threads seconds", Earlier::work),
		new Work("burst", "count", Burst::work),
		new Work("keepalive", "count threads seconds",
			 Keepalive::work),
		new Work("tail", "threads window seconds", Tail::work),
	};

	static PeerInfo info;
	static Peer peer;

	static void die(Throwable e) {
		e.printStackTrace();
		Runtime.getRuntime().halt(1);
	}

	private static void usage() {
		System.err.println("usage: bench-java WORK " +
				   "peer=netty|stpe|none " +
				   "[key=value ...]");
		for (Work work : WORKS)
			System.err.println("  " + work.name + " " + work.keys);
		System.exit(2);
	}

	/** An unknown key would make a figure of something else. */
	private static void parse(String[] args, String known) {
		for (int i = 1; i < args.length; i++) {
			int equals = args[i].indexOf('=');
			String key = args[i].substring(0, Math.max(equals, 0));

			if (!(" peer " + known + " ").contains(" " + key + " "))
				usage();
			Output.key(key, args[i].substring(equals + 1));
		}
	}

	private static Work find(String name) {
		for (Work work : WORKS)
			if (work.name.equals(name))
				return work;
		return null;
	}

	public static void main(String[] args) {
		Work work = args.length > 0 ? find(args[0]) : null;

		if (work == null)
			usage();
		parse(args, work.keys);
		info = PeerInfo.find(Output.text("peer", "netty"));
		if (info == null)
			usage();
		peer = info.make().get();
		Output.begin(info, work.name);
		try {
			work.run.run();
		} catch (RuntimeException | Error e) {
			die(e);
		}
		Output.end();
		System.exit(Check.failed ? 1 : 0);
	}
}
