/* SPDX-License-Identifier: MIT */
/*
 * What an adapter must do before its figures count.  Each schedule call is a
 * shot with a record of its own, which is the callback's argument: so a timer
 * whose memory was used again at once cannot hide a run that was one too many.
 * One instance serves all parts, as not every facility can be started twice.
 */
#include "work.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define US     INT64_C(1000)
#define MS     (1000 * US)
#define SECOND (1000 * MS)
#define FAR    (1000 * SECOND)

/* A timer that has not run this long after it was due is lost. */
#define LOST (10 * SECOND)

enum {
	THREADS = 4,   /* that call at a time, and the main thread */
	POOL = 64,     /* timers of each of them */
	TIMERS = 300,  /* where one thread has them all */
	CHAIN = 6,     /* times that a timer schedules itself */
	SHOTS = 40000, /* of each thread */
};

struct shot {
	atomic_int begun, over;
	atomic_llong earliest; /* that it may run */
	atomic_llong at;       /* when it ran */
	bool slow;             /* to return */
	bool kept;             /* until it has run */
	bool cancelled;        /* and the call returned 1 */
	bool given_up;         /* it may have run, or not */
	int moves;             /* that returned 0 */
};

struct mine {
	pthread_t thread;
	char *timers;
	struct shot *shots;
	struct shot *of[POOL]; /* what each timer stands for now */
	int pool, used;
	uint64_t random;
};

static atomic_bool failed, stopped;
static size_t timer_stride;

__attribute__((format(printf, 2, 3))) static void fail(const char *part,
						       const char *format, ...)
{
	va_list args;
	char text[200];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!atomic_exchange(&failed, true))
		fprintf(stderr, "%s: check: %s: %s\n", peer.name, part, text);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void nap(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};

	nanosleep(&t, NULL);
}

static int64_t draw(uint64_t *state, int64_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (int64_t)((*state >> 1) % (uint64_t)below);
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		peer_die("calloc", 12);
	return p;
}

static char *new_timers(int n)
{
	return zeroed((size_t)n, timer_stride);
}

static void *nth(char *timers, int i)
{
	return timers + (size_t)i * timer_stride;
}

/* How many of n timers may be pending, where so many share the limit. */
static int within_limit(int n, int sharers)
{
	size_t most = most_timers() / (size_t)sharers;

	if (!most_timers() || most >= (size_t)n)
		return n;
	return most ? (int)most : 1;
}

static void spin(int64_t ns)
{
	int64_t end = now() + ns;

	while (now() < end)
		;
}

static void run(void *arg)
{
	struct shot *s = arg;

	atomic_store(&s->at, now());
	if (atomic_load(&stopped))
		fail("stop", "a callback began after peer_stop");
	atomic_fetch_add(&s->begun, 1);
	if (s->slow)
		spin(30 * US);
	atomic_fetch_add(&s->over, 1);
}

static void shoot(const char *part, void *timer, struct shot *s, int64_t delay)
{
	int64_t t = now();
	int r;

	atomic_store(&s->earliest, t + delay);
	r = peer_schedule(timer, t, delay, run, s);
	if (r)
		fail(part, "peer_schedule: %d", r);
}

/* For as long as the move goes on, both deadlines are right. */
static int move(const char *part, void *timer, struct shot *s, int64_t delay)
{
	int64_t t = now();
	int64_t old = atomic_load(&s->earliest);
	int r;

	if (t + delay < old)
		atomic_store(&s->earliest, t + delay);
	r = peer_reschedule(timer, t, delay);
	if (r == 0) {
		atomic_store(&s->earliest, t + delay);
		s->moves++;
	} else if (r != 1) {
		fail(part, "peer_reschedule: %d", r);
	}
	return r;
}

/* Cancels and looks at once at what can be known at once. */
static int cancel(const char *part, void *timer, struct shot *s)
{
	int r = peer_cancel(timer);
	int begun = atomic_load(&s->begun);
	int over = atomic_load(&s->over);

	if (r != 1 && (r != 0 || !peer.cancel_tells))
		fail(part, "peer_cancel: %d", r);
	if (!peer.cancel_tells)
		s->given_up = true;
	else if (r == 1)
		s->cancelled = true;
	else if (!begun)
		fail(part, "peer_cancel returned 0, but it did not run");
	else if (!over)
		fail(part, "peer_cancel returned 0 before the callback's end");
	return r;
}

/* When all is over. */
static void judge(const char *part, struct shot *s)
{
	int begun = atomic_load(&s->begun);
	int most = 1 + (peer.cancel_tells ? 0 : s->moves);

	if (begun != atomic_load(&s->over))
		fail(part, "a callback has not returned");
	else if (begun && s->cancelled)
		fail(part, "it ran, and peer_cancel returned 1");
	else if (!begun && !s->cancelled && !s->given_up)
		fail(part, "it did not run");
	else if (begun > most)
		fail(part, "it ran %d times", begun);
}

/* Nanoseconds that it was early, or 0.  Only where nobody could move it. */
static int64_t early(struct shot *s)
{
	int64_t by = atomic_load(&s->earliest) - atomic_load(&s->at);

	return by > 0 && atomic_load(&s->begun) ? by : 0;
}

static void judge_early(const char *part, struct shot *s)
{
	int64_t most = peer.resolution > 1 ? peer.resolution : 0;

	if (early(s) > most)
		fail(part, "it ran %lld ns early", (long long)early(s));
}

/* Until all that were not cancelled have run, and a little for second runs. */
static void settle(const char *part, struct shot *shots, int n)
{
	int64_t end = now() + LOST;
	int i;

	for (i = 0; i < n; i++) {
		struct shot *s = &shots[i];

		while (!s->cancelled && !s->given_up &&
		       !atomic_load(&s->over) && now() < end && !failed)
			nap(MS);
	}
	nap(10 * MS);
	for (i = 0; i < n; i++)
		judge(part, &shots[i]);
}

/* Timers that have run may be cancelled, as any request does at its end. */
static void forget(const char *part, char *timers, struct shot *shots, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (cancel(part, nth(timers, i), &shots[i]) &&
		    peer.cancel_tells)
			fail(part, "peer_cancel returned 1 after it ran");
	}
}

static void all_run(char *timers, int n)
{
	struct shot *shots = zeroed((size_t)n, sizeof(*shots));
	uint64_t random = 88172645463325252;
	int64_t most = 0;
	int i, count = 0;

	for (i = 0; i < n; i++)
		shoot("run", nth(timers, i), &shots[i],
		      draw(&random, 50 * MS + 1));
	settle("run", shots, n);
	forget("run", timers, shots, n);
	for (i = 0; i < n; i++) {
		int64_t by = early(&shots[i]);

		count += by > 0;
		most = by > most ? by : most;
		if (peer.resolution <= 1)
			judge_early("run", &shots[i]);
	}
	/* Members of the JSON object that the program prints. */
	printf(", \"early\": %d, \"early_most\": %lld", count, (long long)most);
	if (!failed)
		free(shots);
}

/* Some are so far that a cancel must be in time, some would show themselves. */
static void cancelled_at_once(char *timers, int n)
{
	struct shot *shots = zeroed((size_t)n, sizeof(*shots));
	int i;

	for (i = 0; i < n; i++) {
		bool far = i % 2 == 0;
		void *timer = nth(timers, i);

		shoot("cancel", timer, &shots[i],
		      far ? FAR + i * SECOND : 100 * MS);
		if (!cancel("cancel", timer, &shots[i]) && far)
			fail("cancel", "a far timer was not pending");
	}
	nap(150 * MS + peer.resolution);
	settle("cancel", shots, n);
	for (i = 0; i < n; i += 2) {
		if (atomic_load(&shots[i].begun))
			fail("cancel", "a far timer ran");
	}
	if (!failed)
		free(shots);
}

static int64_t random_delay(uint64_t *random, bool kept)
{
	switch (draw(random, 8) | (kept ? 3 : 0)) {
	case 0:
		return 0;
	case 1:
		return FAR + draw(random, FAR);
	case 2:
		return draw(random, 300 * MS);
	default:
		return draw(random, 2 * MS);
	}
}

static void reload(struct mine *m, int i)
{
	struct shot *s = &m->shots[m->used++];

	m->of[i] = s;
	s->slow = draw(&m->random, 8) == 0;
	s->kept = draw(&m->random, 4) == 0;
	shoot("threads", nth(m->timers, i), s,
	      random_delay(&m->random, s->kept));
}

/* A cancel after which the same memory is used again, often at once. */
static void unload(struct mine *m, int i)
{
	bool late = atomic_load(&m->of[i]->over) > 0;

	if (cancel("threads", nth(m->timers, i), m->of[i]) && late &&
	    peer.cancel_tells)
		fail("threads", "peer_cancel returned 1 after it ran");
	m->of[i] = NULL;
	if (m->used < SHOTS && draw(&m->random, 2))
		reload(m, i);
}

/* Half of those that are kept are never moved: a move may heal. */
static void step(struct mine *m)
{
	int i = (int)draw(&m->random, m->pool);
	struct shot *s = m->of[i];
	bool over = s && atomic_load(&s->over);
	bool moves = s && (!s->kept || i % 2) && draw(&m->random, 3) == 0;

	if (!s)
		reload(m, i);
	else if (moves && move("threads", nth(m->timers, i), s,
			       random_delay(&m->random, s->kept)) == 0)
		return;
	else if (!s->kept || over)
		unload(m, i);
}

static void *threads_main(void *arg)
{
	struct mine *m = arg;
	int64_t end = now() + 500 * MS;
	int i;

	peer_enter();
	while (m->used < SHOTS && now() < end) {
		for (i = 0; i < 16 && m->used < SHOTS; i++)
			step(m);
		nap(50 * US);
	}
	for (i = 0; i < m->pool; i++) {
		if (m->of[i] && !m->of[i]->kept)
			cancel("threads", nth(m->timers, i), m->of[i]);
	}
	settle("threads", m->shots, m->used);
	for (i = 0; i < m->pool; i++) {
		if (m->of[i] && m->of[i]->kept)
			cancel("threads", nth(m->timers, i), m->of[i]);
	}
	peer_leave();
	return NULL;
}

static void start_thread(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	int r = pthread_create(thread, NULL, fn, arg);

	if (r)
		peer_die("pthread_create", r);
}

/* Each with timers of its own, that are often used again at once. */
static void many_threads(void)
{
	struct mine *all = zeroed(THREADS, sizeof(*all));
	int i, k;

	for (i = 0; i < THREADS; i++) {
		struct mine *m = &all[i];

		m->pool = within_limit(POOL, THREADS);
		m->timers = new_timers(m->pool);
		m->shots = zeroed(SHOTS, sizeof(*m->shots));
		m->random = 1181783497276652981 + (uint64_t)i;
		start_thread(&m->thread, threads_main, m);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(all[i].thread, NULL);
	for (i = 0; i < THREADS; i++) {
		for (k = 0; k < all[i].used; k++)
			judge("threads", &all[i].shots[k]);
		for (k = 0; k < all[i].used && peer.cancel_tells; k++)
			judge_early("threads", &all[i].shots[k]);
	}
	for (i = 0; i < THREADS && !failed; i++) {
		free(all[i].shots);
		free(all[i].timers);
	}
	if (!failed)
		free(all);
}

struct chain {
	const char *part;
	void *timer, *other;
	int64_t due;
	struct shot other_shot;
	atomic_int begun, over;
};

static void chain_run(void *arg);

static int chain_on(struct chain *c, int64_t delay)
{
	int64_t t = now();

	c->due = t + delay;
	return peer_schedule(c->timer, t, delay, chain_run, c);
}

/* Its own timer, and another one: callbacks may call too. */
static void chain_run(void *arg)
{
	struct chain *c = arg;
	int n = atomic_fetch_add(&c->begun, 1) + 1;
	int r;

	if (now() < c->due - (peer.resolution > 1 ? peer.resolution : 0))
		fail(c->part, "it ran early");
	if (n % 2 == 0 && peer_cancel(c->timer) && peer.cancel_tells)
		fail(c->part, "a callback that cancels itself got 1");
	if (n < CHAIN) {
		r = chain_on(c, n % 3 * MS);
		if (r)
			fail(c->part, "peer_schedule: %d", r);
	} else if (c->other) {
		shoot(c->part, c->other, &c->other_shot, FAR);
		if (!cancel(c->part, c->other, &c->other_shot))
			fail(c->part, "a far timer was not pending");
	}
	atomic_fetch_add(&c->over, 1);
}

static struct chain *chain_begin(const char *part, void *timer, void *other)
{
	struct chain *c = zeroed(1, sizeof(*c));
	int r;

	c->part = part;
	c->timer = timer;
	c->other = other;
	r = chain_on(c, MS);
	if (r)
		fail(part, "peer_schedule: %d", r);
	return c;
}

static bool chain_goes_on(struct chain *c, int64_t end)
{
	return atomic_load(&c->over) < CHAIN && now() < end;
}

static void chain_end(struct chain *c)
{
	nap(10 * MS);
	if (atomic_load(&c->over) != CHAIN)
		fail(c->part, "%d runs, not %d", atomic_load(&c->over), CHAIN);
	if (peer_cancel(c->timer) && peer.cancel_tells)
		fail(c->part, "peer_cancel returned 1 after it ran");
	if (!failed)
		free(c);
}

static void chained(char *timers, int n)
{
	int64_t end = now() + LOST;
	struct chain *c = chain_begin("chain", nth(timers, 0),
				      n > 1 ? nth(timers, 1) : NULL);

	while (chain_goes_on(c, end))
		nap(MS);
	chain_end(c);
}

static void shoot_far(void *timer, struct shot *s, uint64_t *random)
{
	shoot("near", timer, s, FAR + draw(random, FAR));
}

/* The last of n is near; the others are far, and come and go meanwhile. */
static void near_and_far(char *timers, int n)
{
	struct shot *shots = zeroed((size_t)n, sizeof(*shots));
	uint64_t random = 7809847782465536322;
	int64_t end = now() + LOST;
	struct chain *c;
	int i;

	for (i = 0; i < n - 1; i++)
		shoot_far(nth(timers, i), &shots[i], &random);
	/* By then the facility's thread sleeps until a far one. */
	nap(10 * MS);
	c = chain_begin("near", nth(timers, n - 1), NULL);
	for (i = 0; chain_goes_on(c, end); i = (i + 1) % n) {
		if (i >= n - 1)
			continue;
		if (!cancel("near", nth(timers, i), &shots[i]))
			fail("near", "a far timer was not pending");
		shoot_far(nth(timers, i), &shots[i], &random);
	}
	chain_end(c);
	for (i = 0; i < n - 1; i++) {
		cancel("near", nth(timers, i), &shots[i]);
		if (atomic_load(&shots[i].begun))
			fail("near", "a far timer ran");
	}
	if (!failed)
		free(shots);
}

struct other {
	pthread_t thread;
	char *timers;
	struct shot *shots;
	atomic_int scheduled;
	int n;
};

static void *other_main(void *arg)
{
	struct other *o = arg;
	int i;

	peer_enter();
	for (i = 0; i < o->n; i++) {
		while (atomic_load(&o->scheduled) <= i)
			sched_yield();
		if (i % 8 == 7)
			nap(500 * US);
		cancel("other", nth(o->timers, i), &o->shots[i]);
	}
	peer_leave();
	return NULL;
}

/* The main thread schedules what another one cancels. */
static void other_thread(char *timers, int n)
{
	struct other *o = zeroed(1, sizeof(*o));
	uint64_t random = 2685821657736338717;
	int i;

	o->timers = timers;
	o->shots = zeroed((size_t)n, sizeof(*o->shots));
	o->n = n;
	start_thread(&o->thread, other_main, o);
	for (i = 0; i < n; i++) {
		o->shots[i].slow = i % 8 == 0;
		shoot("other", nth(timers, i), &o->shots[i],
		      i % 4 ? draw(&random, 2 * MS) : FAR);
		atomic_fetch_add(&o->scheduled, 1);
	}
	pthread_join(o->thread, NULL);
	settle("other", o->shots, n);
	if (!failed) {
		free(o->shots);
		free(o);
	}
}

/* Half of them to later, half to earlier, some of both more than once. */
static void moved(char *timers, int n)
{
	struct shot *shots = zeroed((size_t)n, sizeof(*shots));
	int64_t later = 80 * MS + 2 * peer.resolution;
	int i, k;

	for (i = 0; i < n; i++)
		shoot("move", nth(timers, i), &shots[i],
		      i % 2 ? FAR : 30 * MS + peer.resolution);
	for (i = 0; i < n; i++) {
		for (k = i % 3; k >= 0; k--) {
			int64_t delay =
				i % 2 ? (20 + 3 * k) * MS : later - k * MS;

			/* Only a machine that stands still explains a 1. */
			if (!move("move", nth(timers, i), &shots[i], delay))
				continue;
			if (now() < atomic_load(&shots[i].earliest))
				fail("move", "a pending timer did not move");
			break;
		}
	}
	settle("move", shots, n);
	for (i = 0; i < n; i++)
		judge_early("move", &shots[i]);
	forget("move", timers, shots, n);
	if (!failed)
		free(shots);
}

/* Ends the instance. */
static void stop_pending(char *timers, int n)
{
	struct shot *shots = zeroed((size_t)n, sizeof(*shots));
	uint64_t random = 3935559000370003845;
	int i;

	for (i = 0; i < n; i++) {
		shots[i].slow = i % 4 == 0;
		shoot("stop", nth(timers, i), &shots[i],
		      i % 4 == 3 ? FAR : draw(&random, 100 * MS));
	}
	nap(20 * MS);
	peer_leave();
	peer_stop();
	atomic_store(&stopped, true);
	for (i = 0; i < n; i++) {
		if (atomic_load(&shots[i].begun) != atomic_load(&shots[i].over))
			fail("stop", "a callback outlived peer_stop");
	}
	nap(120 * MS + peer.resolution);
	for (i = 0; i < n; i++) {
		if (atomic_load(&shots[i].begun) > 1)
			fail("stop", "it ran %d times",
			     atomic_load(&shots[i].begun));
	}
	if (!failed)
		free(shots);
}

/* What follows a failure would only fail for the same reason. */
int work_check(void)
{
	struct peer_setup setup = {.threads = THREADS + 1,
				   .timers = THREADS * POOL + TIMERS};
	size_t align = _Alignof(max_align_t);
	int n = within_limit(TIMERS, 1);
	char *timers;

	timer_stride = (peer.timer_size + align) / align * align;
	timers = new_timers(n);
	peer_start(&setup);
	peer_enter();
	all_run(timers, n);
	if (!failed)
		cancelled_at_once(timers, n);
	if (!failed)
		many_threads();
	if (!failed)
		chained(timers, n);
	if (!failed)
		near_and_far(timers, n);
	if (!failed)
		other_thread(timers, n);
	if (!failed)
		moved(timers, n);
	if (!failed)
		stop_pending(timers, n);
	if (!failed)
		free(timers);
	return failed;
}
