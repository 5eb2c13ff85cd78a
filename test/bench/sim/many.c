/* SPDX-License-Identifier: MIT */
/*
 * What many threads get out of the library, each on a core of its own, in the
 * simulator (see README):
 *
 *	bench-simulated many what=pair threads=64
 *
 * A thread on a core beside those, which takes nothing from them, waits until
 * they run at full speed, and reads their counters twice.  Functions that are
 * BESIDE are not simulated: what they do costs nothing.
 *
 *	pair       each has so many timers in flight, a window, with a timeout
 *	           of a second; the oldest is cancelled and a new one scheduled
 *	cap        the same under a cap that is far away
 *	cap-short  the same under a cap that is too low by half a timer a thread
 *	earlier    as pair, but each deadline is earlier than the last
 *	handover   threads in pairs: one schedules, the other cancels
 *	fire       all expire, 100 to 200 us after they were scheduled
 *	executor   as fire, by 8 threads, with an executor of "pool" threads
 *	paced      a million timers a second of all together, which expire
 *	probe      as pair, with timeouts of 100 to 200 us; and beside them a
 *	           thread that waits for one timer at a time, 20 us ahead
 */
#include "config.h"

#include "cohsim.h"
#include "measure.h"

#include <timerthread.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BESIDE __attribute__((no_sanitize("thread"), noinline))

/* Of 64 bytes each, and neighbours are fetched too. */
#define APART __attribute__((aligned(128)))

enum {
	CORES = 72,          /* as in the settings below */
	FAR_CAP = 1000000,   /* timers */
	EXECUTOR_OF = 8,     /* threads that schedule for the executor */
	IN_FLIGHT = 1000,    /* of a thread, where all expire */
	RING = 2048,         /* places between two threads */
	BATCH = 16,          /* of those, looked at together */
	POOL_RING = 4096,    /* places before a thread of the pool */
	PROBES = 100000,     /* at most */
	PROBE_AHEAD = 20000, /* ns */
};

/*
 * More than 64, or the timer thread would have none.  Two costs that fit what a
 * pair takes on one real core.
 */
const char *const cohsim_settings = "cores=72,l1=0.2,func=0.25,report=0";

struct worker {
	/* Constant. */
	pthread_t thread;
	int core;
	timerthread_id *ids;
	int64_t least, most; /* how far ahead its timers are, in ns */
	_Atomic uint32_t *full;
	/* Its own. */
	uint64_t random;
	/* Not simulated. */
	uint64_t turns, calls;
	int64_t calls_ns;
	/* Written by callbacks. */
	_Atomic uint64_t fired APART;
} APART;

static struct {
	const char *what;
	long threads, pool, window, us;
} given = {"pair", 1, 0, 100, 0};

static struct timerthread *tt;
static struct worker *workers;
static int64_t begin_at;

static _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "bench-simulated: %s: %s\n", what, strerror(error));
	_exit(1);
}

static void check(int r, const char *what)
{
	if (r < 0)
		die(what, -r);
}

static void *new_array(size_t n, size_t size)
{
	void *p = aligned_alloc(128, (n * size + 127) & ~(size_t)127);

	if (!p)
		die("aligned_alloc", ENOMEM);
	return memset(p, 0, n * size);
}

/* All threads at once, when all are there. */
static void begin(int core)
{
	pin(core);
	sleep_until_ns(begin_at);
}

BESIDE static void count_turn(struct worker *w)
{
	w->turns++;
}

BESIDE static void count_call(struct worker *w, int64_t ns)
{
	w->calls++;
	w->calls_ns += ns;
}

BESIDE static int64_t choose(struct worker *w)
{
	const uint64_t range = (uint64_t)(w->most - w->least);

	if (range == 0)
		return w->least;
	return w->least + (int64_t)(next_random(&w->random) % (range + 1));
}

/* Nobody else writes the counter. */
static void count(void *arg)
{
	struct worker *w = arg;
	uint64_t n = atomic_load_explicit(&w->fired, memory_order_relaxed);

	atomic_store_explicit(&w->fired, n + 1, memory_order_relaxed);
}

/* Several threads of a pool may. */
static void count_shared(void *arg)
{
	struct worker *w = arg;

	atomic_fetch_add_explicit(&w->fired, 1, memory_order_relaxed);
}

/* Pairs: the oldest is cancelled and a new one scheduled. */

static bool is_earlier;
static bool may_refuse;

static void pair_one(struct worker *w, timerthread_id *id, int64_t deadline)
{
	int r;

	if (*id)
		timerthread_cancel(tt, *id);
	*id = 0;
	r = timerthread_schedule(tt, deadline, count, w, id);
	if (r == -EAGAIN && may_refuse)
		*id = 0;
	else
		check(r, "timerthread_schedule");
}

static void *pairs(void *arg)
{
	struct worker *w = arg;
	const int64_t base = begin_at + 7200 * BENCH_S;

	begin(w->core);
	for (int64_t n = 0, k = 0;; n++) {
		int64_t now = now_ns();

		pair_one(w, &w->ids[k],
			 is_earlier ? base - n : now + choose(w));
		k = k + 1 == given.window ? 0 : k + 1;
		count_turn(w);
	}
	return NULL;
}

/* Handover: places of a ring say themselves whether they are full. */

static void wait_until(struct worker *w, size_t place, uint32_t value)
{
	while (atomic_load_explicit(&w->full[place % RING],
				    memory_order_acquire) != value)
		relax();
}

static void set(struct worker *w, size_t place, uint32_t value)
{
	atomic_store_explicit(&w->full[place % RING], value,
			      memory_order_release);
}

static void *produce(void *arg)
{
	struct worker *w = arg;

	begin(w->core);
	for (size_t place = 0;; place++) {
		if (place % BATCH == 0)
			wait_until(w, place + BATCH - 1, 0);
		check(timerthread_schedule(tt, now_ns() + BENCH_S, count, w,
					   &w->ids[place % RING]),
		      "timerthread_schedule");
		set(w, place, 1);
		count_turn(w);
	}
	return NULL;
}

/* Stays a window behind. */
static void *consume(void *arg)
{
	struct worker *w = arg;

	begin(w->core + 1);
	for (size_t place = 0;; place++) {
		if (place % BATCH == 0)
			wait_until(w, place + (size_t)given.window + BATCH - 1,
				   1);
		timerthread_cancel(tt, w->ids[place % RING]);
		set(w, place, 0);
	}
	return NULL;
}

/* Timers that expire. */

static timerthread_fn *counter = count;

static void schedule_timed(struct worker *w)
{
	timerthread_id id;
	int64_t now = now_ns();

	check(timerthread_schedule(tt, now + choose(w), counter, w, &id),
	      "timerthread_schedule");
	count_call(w, now_ns() - now);
	count_turn(w);
}

static void *fires(void *arg)
{
	struct worker *w = arg;
	uint64_t fired = 0;

	begin(w->core);
	for (uint64_t n = 0;; n++) {
		while (n - fired >= IN_FLIGHT) {
			fired = atomic_load_explicit(&w->fired,
						     memory_order_relaxed);
			if (n - fired >= IN_FLIGHT)
				cohsim_work(2000);
		}
		schedule_timed(w);
	}
	return NULL;
}

/* Each thread one timer each so many us as there are threads. */
static void *paces(void *arg)
{
	struct worker *w = arg;
	int64_t next;

	begin(w->core);
	next = begin_at + w->core * BENCH_US;
	for (;; next += given.threads * BENCH_US) {
		int64_t left = next - now_ns();

		if (left > 0)
			cohsim_work((uint64_t)left);
		schedule_timed(w);
	}
	return NULL;
}

/*
 * An executor: each thread of the pool has a ring of its own, which they get
 * their share of in turn.
 */

struct call {
	timerthread_fn *run;
	void *arg;
};

struct ring {
	/* The driver's. */
	_Atomic uint32_t in APART;
	uint32_t seen_out;
	/* The thread's. */
	_Atomic uint32_t out APART;
	struct call calls[POOL_RING] APART;
};

static struct ring *rings;

static struct {
	uint32_t ring;
} APART turn;

static bool is_full(struct ring *q, uint32_t in)
{
	if (in - q->seen_out < POOL_RING)
		return false;
	q->seen_out = atomic_load_explicit(&q->out, memory_order_acquire);
	return in - q->seen_out >= POOL_RING;
}

static int submit(void *ctx, timerthread_fn *run, void *arg)
{
	struct ring *q = &rings[turn.ring];
	uint32_t in = atomic_load_explicit(&q->in, memory_order_relaxed);

	(void)ctx;
	turn.ring = turn.ring + 1 == given.pool ? 0 : turn.ring + 1;
	if (is_full(q, in))
		return -1;
	q->calls[in % POOL_RING] = (struct call){run, arg};
	atomic_store_explicit(&q->in, in + 1, memory_order_release);
	return 0;
}

static void *serve(void *arg)
{
	struct ring *q = arg;
	uint32_t in = 0;

	pin(EXECUTOR_OF + 1 + (int)(q - rings));
	for (uint32_t out = 0;;) {
		struct call c;

		while (in == out) {
			in = atomic_load_explicit(&q->in, memory_order_acquire);
			if (in == out)
				relax();
		}
		c = q->calls[out % POOL_RING];
		atomic_store_explicit(&q->out, ++out, memory_order_release);
		c.run(c.arg);
	}
	return NULL;
}

static void start_pool(void)
{
	rings = new_array((size_t)given.pool, sizeof(*rings));
	for (long i = 0; i < given.pool; i++) {
		pthread_t thread;

		check(-pthread_create(&thread, NULL, serve, &rings[i]),
		      "pthread_create");
	}
}

/* A probe: how late is a timer that somebody waits for? */

static struct {
	int64_t deadline;
	_Atomic bool ran APART;
	size_t n; /* not simulated, as what follows */
	int64_t late[PROBES];
} probe APART;

BESIDE static void record(int64_t late)
{
	if (probe.n < PROBES)
		probe.late[probe.n++] = late;
}

static void note_late(void *arg)
{
	(void)arg;
	record(now_ns() - probe.deadline);
	atomic_store_explicit(&probe.ran, true, memory_order_release);
}

static void *probes(void *arg)
{
	begin((int)given.threads);
	for (;;) {
		atomic_store_explicit(&probe.ran, false, memory_order_relaxed);
		probe.deadline = now_ns() + PROBE_AHEAD;
		check(timerthread_schedule(tt, probe.deadline, note_late, arg,
					   NULL),
		      "timerthread_schedule");
		while (!atomic_load_explicit(&probe.ran, memory_order_acquire))
			cohsim_work(200);
	}
	return NULL;
}

/* What can be asked for. */

static const struct what {
	const char *name;
	void *(*turns)(void *);
	void *(*beside)(void *); /* by another thread for each; or for all */
	int64_t least, most;     /* us */
	int64_t warm, us;        /* us */
	bool fires;
	bool has_window; /* it must be full before it is measured */
} whats[] = {
	{"pair", pairs, NULL, 1000000, 1000000, 150, 350, false, true},
	{"cap", pairs, NULL, 1000000, 1000000, 150, 350, false, true},
	{"cap-short", pairs, NULL, 1000000, 1000000, 150, 350, false, true},
	{"earlier", pairs, NULL, 0, 0, 150, 350, false, true},
	{"handover", produce, consume, 0, 0, 150, 350, false, true},
	{"fire", fires, NULL, 100, 200, 1000, 20000, true, false},
	{"executor", fires, NULL, 100, 200, 1000, 6000, true, false},
	{"paced", paces, NULL, 100, 5000, 6000, 4000, true, false},
	{"probe", pairs, probes, 100, 200, 200, 1600, false, true},
};

static const struct what *what;

static bool is(const char *name)
{
	return strcmp(what->name, name) == 0;
}

static size_t cap(void)
{
	if (is("cap"))
		return FAR_CAP;
	if (is("cap-short"))
		return (size_t)(given.threads * given.window -
				given.threads / 2);
	return 0;
}

static void start_library(void)
{
	check(timerthread_create(&tt), "timerthread_create");
	check(timerthread_set_max_timers(tt, cap()),
	      "timerthread_set_max_timers");
	if (given.pool > 0)
		check(timerthread_set_executor(tt, submit, NULL),
		      "timerthread_set_executor");
	check(timerthread_start(tt, NULL), "timerthread_start");
}

BESIDE static void prepare(struct worker *w, int i)
{
	const size_t most = given.window > RING ? (size_t)given.window : RING;

	w->core = is("handover") ? 2 * i : i;
	w->ids = new_array(most, sizeof(*w->ids));
	w->full = new_array(RING, sizeof(*w->full));
	w->least = what->least * BENCH_US;
	w->most = what->most * BENCH_US;
	w->random = 88172645463325252u + 7919u * (uint64_t)i;
}

static void start_thread(void *(*turns)(void *), struct worker *w)
{
	check(-pthread_create(&w->thread, NULL, turns, w), "pthread_create");
}

static void start_workers(void)
{
	const int n = (int)given.threads;

	workers = new_array((size_t)n, sizeof(*workers));
	for (int i = 0; i < n; i++)
		prepare(&workers[i], i);
	begin_at = now_ns() + 100 * BENCH_US + 50 * BENCH_US * n;
	if (given.pool > 0)
		start_pool();
	for (int i = 0; i < n; i++) {
		start_thread(what->turns, &workers[i]);
		if (what->beside && (is("handover") || i == 0))
			start_thread(what->beside, &workers[i]);
	}
}

/* How far they are. */

struct counts {
	uint64_t turns, fired, calls;
	int64_t calls_ns, at;
	size_t probes;
};

BESIDE static struct counts look(void)
{
	struct counts c = {.at = now_ns(), .probes = probe.n};

	for (long i = 0; i < given.threads; i++) {
		c.turns += workers[i].turns;
		c.fired += workers[i].fired;
		c.calls += workers[i].calls;
		c.calls_ns += workers[i].calls_ns;
	}
	return c;
}

BESIDE static bool windows_are_full(void)
{
	for (long i = 0; i < given.threads; i++) {
		if (workers[i].turns < 2 * (uint64_t)given.window)
			return false;
	}
	return true;
}

static void pass(int64_t us)
{
	sleep_until_ns(now_ns() + us * BENCH_US);
}

static void warm_up(void)
{
	sleep_until_ns(begin_at + what->warm * BENCH_US);
	for (int i = 0; what->has_window && !windows_are_full(); i++) {
		if (i == 2000)
			die("the threads do not come on", ETIMEDOUT);
		pass(200);
	}
}

BESIDE static void print(const struct counts *a, const struct counts *b)
{
	const double ns = (double)(b->at - a->at);
	const double n = what->fires ? (double)(b->fired - a->fired)
				     : (double)(b->turns - a->turns);
	const size_t n_late = b->probes - a->probes;

	printf("{\"peer\": \"simulated\", \"version\": \"%s\", "
	       "\"clock\": \"virtual\", \"resolution\": 1, "
	       "\"notes\": \"timerthread on %d simulated cores\", "
	       "\"work\": \"many\", \"what\": \"%s\", \"threads\": %ld, "
	       "\"pool\": %ld, \"window\": %ld, \"us\": %ld",
	       timerthread_version(), CORES, what->name, given.threads,
	       given.pool, given.window, given.us);
	printf(", \"mops\": %.6g", n * 1e3 / ns);
	if (n > 0)
		printf(", \"ns\": %.6g", ns * (double)given.threads / n);
	if (b->calls > a->calls)
		printf(", \"schedule_ns\": %.6g",
		       (double)(b->calls_ns - a->calls_ns) /
			       (double)(b->calls - a->calls));
	if (n_late > 0)
		printf(", \"late_p50\": %lld, \"late_p99\": %lld",
		       (long long)percentile(probe.late + a->probes, n_late,
					     0.5),
		       (long long)percentile(probe.late + a->probes, n_late,
					     0.99));
	printf("}\n");
}

/* What runs at the end is left as it is: to stop it would be simulated too. */
BESIDE static void measure(void)
{
	struct counts before, after;

	is_earlier = is("earlier");
	may_refuse = is("cap-short");
	if (given.pool > 0)
		counter = count_shared;
	start_library();
	cohsim_observer();
	pass(200);
	start_workers();
	warm_up();
	before = look();
	cohsim_begin();
	pass(given.us);
	after = look();
	cohsim_end(what->name, what->fires ? after.fired - before.fired
					   : after.turns - before.turns);
	print(&before, &after);
	fflush(stdout);
	_exit(0);
}

/* The command's arguments. */

static _Noreturn void usage(void)
{
	fprintf(stderr, "usage: bench-simulated WORK [key=value ...]\n"
			"  many  what threads pool window us\n"
			"what:");
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
		fprintf(stderr, " %s", whats[i].name);
	fprintf(stderr, "\n");
	_exit(2);
}

static long number(const char *s, long least, long most)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (*end || end == s || n < least || n > most)
		usage();
	return n;
}

static void take(const char *argument)
{
	const char *equals = strchr(argument, '=');
	const size_t n = equals ? (size_t)(equals - argument) : 0;

	if (n == 4 && strncmp(argument, "what", n) == 0)
		given.what = equals + 1;
	else if (n == 7 && strncmp(argument, "threads", n) == 0)
		given.threads = number(equals + 1, 1, CORES - 8);
	else if (n == 4 && strncmp(argument, "pool", n) == 0)
		given.pool = number(equals + 1, 0, 32);
	else if (n == 6 && strncmp(argument, "window", n) == 0)
		given.window = number(equals + 1, 1, 100000);
	else if (n == 2 && strncmp(argument, "us", n) == 0)
		given.us = number(equals + 1, 1, 10000000);
	else
		usage();
}

/* Some keys have a meaning with some works alone. */
static void settle(void)
{
	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		if (strcmp(whats[i].name, given.what) == 0)
			what = &whats[i];
	}
	if (!what || (given.pool > 0 && !is("executor")) ||
	    (is("handover") && (given.threads > (CORES - 8) / 2 ||
				given.window + 2 * BATCH > RING)))
		usage();
	if (is("executor"))
		given.threads = EXECUTOR_OF;
	if (given.us == 0)
		given.us = what->us;
}

int main(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "many") != 0)
		usage();
	for (int i = 2; i < argc; i++)
		take(argv[i]);
	settle();
	measure();
}
