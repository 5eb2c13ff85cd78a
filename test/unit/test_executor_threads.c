/* SPDX-License-Identifier: MIT */
/*
 * Executors with threads: callbacks that run on other threads than the one
 * that submits them, what waits for these, and who frees the instance.
 */
#include "config.h"

#include "tasks.h"

#include "child.h"

/* A pool of threads, which takes so many as there is room for. */
enum { POOL = 3, ROOM_MAX = 4096 };

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct task ring[ROOM_MAX];
	size_t first, n, room;
	unsigned submits; /* that are going on */
	bool over;
	unsigned threads;
	pthread_t thread[POOL];
} pool = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

static int submit_to_pool(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	pthread_mutex_lock(&pool.mutex);
	pool.submits++;
	while (pool.n == pool.room)
		pthread_cond_wait(&pool.changed, &pool.mutex);
	pool.submits--;
	pool.ring[(pool.first + pool.n++) % ROOM_MAX] = (struct task){run, arg};
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.mutex);
	return 0;
}

/* False: there is no more to come. */
static bool take_task(struct task *t)
{
	bool any;

	pthread_mutex_lock(&pool.mutex);
	while (pool.n == 0 && !pool.over)
		pthread_cond_wait(&pool.changed, &pool.mutex);
	any = pool.n > 0;
	if (any) {
		*t = pool.ring[pool.first];
		pool.ring[pool.first] = (struct task){NULL, NULL};
		pool.first = (pool.first + 1) % ROOM_MAX;
		pool.n--;
	}
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.mutex);
	return any;
}

static void *pool_main(void *arg)
{
	struct task t;

	while (take_task(&t))
		t.run(t.arg);
	return arg;
}

static void start_pool(unsigned threads, size_t room)
{
	pthread_mutex_lock(&pool.mutex);
	pool.over = false;
	pool.room = room;
	pool.threads = threads;
	pthread_mutex_unlock(&pool.mutex);
	for (unsigned i = 0; i < threads; i++)
		ck_assert_int_eq(
			pthread_create(&pool.thread[i], NULL, pool_main, NULL),
			0);
}

/* All that it has taken is called by then, and what it is just given too. */
static void end_pool(void)
{
	pthread_mutex_lock(&pool.mutex);
	while (pool.submits > 0)
		pthread_cond_wait(&pool.changed, &pool.mutex);
	pool.over = true;
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.mutex);
	for (unsigned i = 0; i < pool.threads; i++)
		pthread_join(pool.thread[i], NULL);
}

static bool submit_blocks(void)
{
	bool blocks;

	pthread_mutex_lock(&pool.mutex);
	blocks = pool.n == pool.room && pool.submits > 0;
	pthread_mutex_unlock(&pool.mutex);
	return blocks;
}

static int cancel(timerthread_id id)
{
	return timerthread_cancel(tt, id);
}

static int reschedule(timerthread_id id, int64_t deadline)
{
	return timerthread_reschedule(tt, id, deadline);
}

START_TEST(several_at_a_time)
{
	start_pool(POOL, ROOM_MAX);
	start_with(OWN_THREAD, submit_to_pool);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < POOL; i++)
			schedule(i, hold, &ran);
		for (int i = 0; i < POOL; i++)
			wait_for(&ran);
		for (int i = 0; i < POOL; i++)
			sem_post(&go);
	}
	end();
	end_pool();
}
END_TEST

/* A thread that waits, for the end of a callback or of all. */
struct canceller {
	pthread_t thread;
	timerthread_id id;
	int result, seen;
};

static int written; /* by callbacks, with no lock */

static void hold_and_write(void *arg)
{
	hold(arg);
	written++;
}

static void *wait_in_thread(void *arg)
{
	struct canceller *w = arg;

	w->result = timerthread_cancel_wait(tt, w->id);
	w->seen = written;
	return NULL;
}

/* For a callback that writes nothing. */
static void *only_wait(void *arg)
{
	struct canceller *w = arg;

	w->result = timerthread_cancel_wait(tt, w->id);
	return NULL;
}

static void *stop_in_thread(void *arg)
{
	struct canceller *w = arg;

	w->result = timerthread_stop(tt);
	w->seen = written;
	return NULL;
}

static void *destroy_in_thread(void *arg)
{
	struct canceller *w = arg;

	timerthread_destroy(tt);
	w->seen = written;
	return NULL;
}

static void start_waiter(struct canceller *w, void *(*how)(void *))
{
	ck_assert_int_eq(pthread_create(&w->thread, NULL, how, w), 0);
}

/* It has come back only when the callback had written that. */
static void check_waiter(struct canceller *w, int result, int seen)
{
	pthread_join(w->thread, NULL);
	ck_assert_int_eq(w->result, result);
	ck_assert_int_eq(w->seen, seen);
}

/* Until the timer thread, or what stands in for it, is over. */
static void wait_for_driver(void)
{
	bool turning;

	do {
		sched_yield();
		pthread_mutex_lock(&tt->mutex);
		turning = tt->turning;
		pthread_mutex_unlock(&tt->mutex);
	} while (turning);
}

static timerthread_id in_order[POOL];

static void check_order(timerthread_id id, timerthread_fn *fn, void *arg,
			int64_t run_time, void *ctx)
{
	int *n = ctx;

	ck_assert_int_lt(*n, POOL);
	ck_assert_uint_eq(id, in_order[*n]);
	ck_assert_ptr_eq((void *)fn, (void *)hold);
	ck_assert_ptr_eq(arg, &ran);
	ck_assert_int_gt(run_time, 0);
	++*n;
}

/* The one that has been running the longest comes first. */
START_TEST(seen_in_order)
{
	timerthread_id id = 0;
	int n = 0;

	start_pool(POOL, ROOM_MAX);
	start_with(OWN_THREAD, submit_to_pool);
	for (int i = 0; i < POOL; i++) {
		in_order[i] = schedule(0, hold, &ran);
		wait_for(&ran);
	}
	ck_assert_int_eq(timerthread_get_running(tt, &id, NULL), 0);
	ck_assert_uint_eq(id, in_order[0]);
	ck_assert_int_eq(timerthread_visit_running(tt, 0, check_order, &n),
			 POOL);
	ck_assert_int_eq(n, POOL);
	for (int i = 0; i < POOL; i++)
		sem_post(&go);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	end();
	end_pool();
}
END_TEST

START_TEST(cancel_waits)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct canceller w[3];
		struct caller c;

		start_with(d, keep);
		for (int i = 1; i <= 30; i++) {
			timerthread_id id = schedule(0, hold_and_write, &ran);

			submit_due(1);
			written = 0;
			start_call(&c, called++);
			wait_for(&ran);
			for (int k = 0; k < 3; k++) {
				w[k].id = id;
				start_waiter(&w[k], wait_in_thread);
			}
			wait_for_cancellers(3);
			ck_assert_int_eq(cancel(id), 1);
			sem_post(&go);
			for (int k = 0; k < 3; k++)
				check_waiter(&w[k], 1, 1);
			ck_assert_int_eq(cancel(id), -ENOENT);
			end_call(&c);
		}
		end();
	}
}
END_TEST

static timerthread_id waited_for;
static int waited;

static int wait_and_keep(void *ctx, timerthread_fn *run, void *arg)
{
	if (waited_for)
		waited = timerthread_cancel_wait(tt, waited_for);
	return keep(ctx, run, arg);
}

/* In submit the driver is in no timer's callback, and may wait for one. */
START_TEST(submit_waits_for_a_callback)
{
	struct caller c;
	timerthread_id id;

	waited_for = 0;
	start_with(OWN_THREAD, wait_and_keep);
	id = schedule(0, hold, &ran);
	submit_due(1);
	start_call(&c, called++);
	wait_for(&ran);
	waited_for = id;
	schedule(0, post, &ran);
	wait_for_cancellers(1);
	sem_post(&go);
	submit_due(1);
	ck_assert_int_eq(waited, 1);
	end_call(&c);
	call_tasks();
	end();
}
END_TEST

/* One that repeats, and one that has armed itself again, are not rearmed. */
static timerthread_id self;

static void arm_and_hold(void *arg)
{
	if (reschedule(self, TIMERTHREAD_NEVER) != 0)
		abort();
	hold_and_write(arg);
}

START_TEST(cancel_waits_for_what_would_be_rearmed)
{
	struct canceller w;
	struct caller c;

	start_with(VIRTUAL, keep);
	for (int i = 0; i < 2; i++) {
		written = 0;
		self = i ? every(0, 1, hold_and_write, &ran)
			 : schedule(0, arm_and_hold, &ran);
		ck_assert_int_eq(advance(0), 1);
		start_call(&c, called++);
		wait_for(&ran);
		w.id = self;
		start_waiter(&w, wait_in_thread);
		wait_for_cancellers(1);
		check_not_pending(self);
		sem_post(&go);
		check_waiter(&w, 1, 1);
		end_call(&c);
		ck_assert_int_eq(advance(100), 0);
	}
	end();
}
END_TEST

/* While it runs, only its own callback can arm it; then everybody can. */
START_TEST(moved_from_elsewhere)
{
	struct caller c;

	start_with(VIRTUAL, keep);
	self = schedule(0, hold, &ran);
	ck_assert_int_eq(advance(0), 1);
	start_call(&c, called++);
	wait_for(&ran);
	ck_assert_int_eq(reschedule(self, 5), -ENOENT);
	ck_assert_int_eq(reschedule(self, -5), -ENOENT);
	check_not_pending(self);
	sem_post(&go);
	end_call(&c);
	ck_assert_int_eq(advance(100), 0);

	self = schedule(0, arm_and_hold, &ran);
	ck_assert_int_eq(advance(0), 1);
	start_call(&c, called++);
	wait_for(&ran);
	ck_assert_int_eq(deadline_of(self), TIMERTHREAD_NEVER);
	ck_assert_int_eq(reschedule(self, 150), 0);
	/* Due again, and not submitted before it has returned. */
	ck_assert_int_eq(advance(100), 0);
	sem_post(&go);
	end_call(&c);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(cancel(self), 0);
	call_tasks();
	end();
}
END_TEST

START_TEST(periodic_that_takes_its_time)
{
	struct caller c;

	start_with(VIRTUAL, keep);
	self = every(10, 10, hold, &ran);
	ck_assert_int_eq(advance(10), 1);
	start_call(&c, called++);
	wait_for(&ran);
	ck_assert_int_eq(deadline_of(self), 20);
	ck_assert_int_eq(advance(25), 0);
	sem_post(&go);
	end_call(&c);
	ck_assert_int_eq(deadline_of(self), 20);
	ck_assert_int_eq(advance(0), 1);
	start_call(&c, called++);
	wait_for(&ran);
	/* 30 had passed when it began. */
	ck_assert_int_eq(deadline_of(self), 40);
	ck_assert_int_eq(cancel(self), 1);
	sem_post(&go);
	end_call(&c);
	ck_assert_int_eq(advance(100), 0);
	end();
}
END_TEST

static atom32 inside, runs, twice;

static void run_alone(void *arg)
{
	(void)arg;
	if (atom32_swap_acquire(&inside, 0, 1) != 0)
		atom32_store(&twice, 1);
	for (int i = 0; i < 20; i++)
		sched_yield();
	atom32_add(&runs, 1);
	written++;
	atom32_store(&inside, 0);
}

START_TEST(never_twice_at_a_time)
{
	start_pool(POOL, ROOM_MAX);
	start_with(OWN_THREAD, submit_to_pool);
	timerthread_schedule_every(tt, 0, 1, run_alone, NULL, &self);
	for (int i = 0; i < 2000; i++) {
		int r = reschedule(self, i % 2 ? 0 : timerthread_now(tt));

		ck_assert_int_eq(r, 0);
		sched_yield();
	}
	while (atom32_load(&runs) < 2000)
		sched_yield();
	ck_assert_int_ge(timerthread_cancel_wait(tt, self), 0);
	ck_assert_uint_eq(atom32_load(&twice), 0);
	ck_assert_int_eq(written, (int)atom32_load(&runs));
	end();
	end_pool();
}
END_TEST

START_TEST(stop_waits)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct canceller w[2];
		struct caller c[2];
		timerthread_id left;

		start_with(d, keep);
		schedule(-3, hold_and_write, &ran);
		schedule(-2, hold, &ran);
		left = schedule(-1, never, NULL);
		submit_due(3);
		written = 0;
		for (int i = 0; i < 2; i++) {
			start_call(&c[i], called++);
			wait_for(&ran);
		}
		for (int i = 0; i < 2; i++)
			start_waiter(&w[i], stop_in_thread);
		wait_for_joiners(2);
		/* After stop no callback begins. */
		call_tasks();
		for (int i = 0; i < 2; i++)
			sem_post(&go);
		for (int i = 0; i < 2; i++)
			check_waiter(&w[i], 0, 1);
		for (int i = 0; i < 2; i++)
			end_call(&c[i]);
		ck_assert_int_eq(cancel(left), 0);
		end();
	}
}
END_TEST

static int stopped;

static void stop_inside(void *arg)
{
	hold(arg);
	stopped = timerthread_stop(tt);
	sem_post(arg);
}

static int drained;

static void count_drained(timerthread_id id, timerthread_fn *fn, void *arg,
			  void *ctx)
{
	(void)id;
	(void)arg;
	(void)ctx;
	drained += fn == never;
}

static void check_drained(int n)
{
	drained = 0;
	ck_assert_int_eq(timerthread_drain(tt, count_drained, NULL), n);
	ck_assert_int_eq(drained, n);
}

START_TEST(stopped_from_a_callback)
{
	for (int d = 0; d < DRIVERS; d++) {
		struct caller c;

		start_with(d, keep);
		schedule(-3, stop_inside, &ran);
		schedule(-2, never, NULL);
		submit_due(2);
		stopped = -77;
		start_call(&c, called++);
		wait_for(&ran);
		sem_post(&go);
		wait_for(&ran);
		call_tasks();
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(stopped, 1);
		end_call(&c);
		check_drained(1);
		end();
	}
}
END_TEST

/* The timer thread waits for room meanwhile. */
START_TEST(stopped_from_a_callback_while_submit_blocks)
{
	for (int i = 0; i < 20; i++) {
		start_pool(1, 1);
		start_with(OWN_THREAD, submit_to_pool);
		schedule(-3, stop_inside, &ran);
		wait_for(&ran);
		for (int k = 0; k < 5; k++)
			schedule(k, never, NULL);
		while (!submit_blocks())
			sched_yield();
		stopped = -77;
		sem_post(&go);
		wait_for(&ran);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		ck_assert_int_eq(stopped, 1);
		check_drained(5);
		end();
		end_pool();
	}
}
END_TEST

/* And another thread stops: it is let go when the pool has room. */
START_TEST(stopped_while_submit_blocks)
{
	for (int i = 0; i < 20; i++) {
		struct canceller w;

		start_pool(1, 1);
		start_with(OWN_THREAD, submit_to_pool);
		schedule(-3, hold_and_write, &ran);
		wait_for(&ran);
		for (int k = 0; k < 5; k++)
			schedule(k, never, NULL);
		while (!submit_blocks())
			sched_yield();
		written = 0;
		start_waiter(&w, stop_in_thread);
		wait_for_joiners(1);
		sem_post(&go);
		check_waiter(&w, 0, 1);
		check_drained(5);
		end();
		end_pool();
	}
}
END_TEST

/* A callback that destroys, once it is let go; and so does the test wait. */
static bool stops_first;

static void destroy_inside(void *arg)
{
	hold(arg);
	if (stops_first) {
		if (timerthread_stop(tt) != 1)
			abort();
		wait_for_driver();
	}
	timerthread_destroy(tt);
	written++;
	sem_post(arg);
}

/* With runs outstanding, or none; before the driver has ended, or after. */
START_TEST(destroyed_from_a_callback)
{
	for (int i = 0; i < 4 * DRIVERS; i++) {
		bool outstanding = i / DRIVERS % 2;
		struct caller c;

		start_with(i % DRIVERS, keep);
		stops_first = i / DRIVERS / 2;
		schedule(-3, destroy_inside, &ran);
		if (outstanding) {
			schedule(-2, never, NULL);
			every(-1, 1, never, NULL);
		}
		schedule(TIMERTHREAD_NEVER, never, NULL);
		submit_due(outstanding ? 3 : 1);
		start_call(&c, called++);
		wait_for(&ran);
		sem_post(&go);
		wait_for(&ran);
		tt = NULL;
		call_tasks();
		end_call(&c);
	}
}
END_TEST

START_TEST(destroyed_while_submit_blocks)
{
	for (int i = 0; i < 50; i++) {
		start_pool(1, 1);
		start_with(OWN_THREAD, submit_to_pool);
		stops_first = false;
		schedule(-3, destroy_inside, &ran);
		wait_for(&ran);
		for (int k = 0; k < 5; k++)
			schedule(k, never, NULL);
		while (!submit_blocks())
			sched_yield();
		sem_post(&go);
		wait_for(&ran);
		end_pool();
		tt = NULL;
	}
}
END_TEST

/* Those who wait, and another callback, have done with it first. */
START_TEST(destroyed_while_others_wait)
{
	for (int i = 0; i < 20 * DRIVERS; i++) {
		struct canceller w[3];
		bool outstanding = i / 2 % 2;
		struct caller c[2];

		start_with(i % DRIVERS, keep);
		stops_first = false;
		w[0].id = schedule(-3, destroy_inside, &ran);
		w[1].id = schedule(-2, hold, &ran);
		if (outstanding)
			schedule(-1, never, NULL);
		submit_due(2 + outstanding);
		written = 0;
		for (int k = 0; k < 2; k++) {
			start_call(&c[k], called++);
			wait_for(&ran);
		}
		start_waiter(&w[0], wait_in_thread);
		start_waiter(&w[1], only_wait);
		wait_for_cancellers(2);
		if (i % 2) {
			start_waiter(&w[2], stop_in_thread);
			wait_for_joiners(1);
		}
		sem_post(&go);
		sem_post(&go);
		wait_for(&ran);
		for (int k = 0; k < 2 + i % 2; k++)
			pthread_join(w[k].thread, NULL);
		ck_assert_int_eq(w[0].result, 1);
		ck_assert_int_eq(w[1].result, 1);
		ck_assert_int_eq(w[0].seen, 1);
		ck_assert(i % 2 == 0 || w[2].seen == 1);
		call_tasks();
		for (int k = 0; k < 2; k++)
			end_call(&c[k]);
		tt = NULL;
	}
}
END_TEST

/* One stops, one destroys, and meanwhile the runs are called. */
START_TEST(stop_and_destroy_at_once)
{
	for (int i = 0; i < 50 * DRIVERS; i++) {
		struct canceller w[2];
		struct caller c, outstanding[4];

		start_with(i % DRIVERS, keep);
		schedule(-9, hold_and_write, &ran);
		for (int k = 0; k < 4; k++)
			schedule(k - 4, never, NULL);
		submit_due(5);
		written = 0;
		start_call(&c, called++);
		wait_for(&ran);
		start_waiter(&w[0], stop_in_thread);
		wait_for_joiners(1);
		start_waiter(&w[1], destroy_in_thread);
		if (i % 2)
			wait_for_joiners(2);
		sem_post(&go);
		for (int k = 0; k < 4; k++)
			start_call(&outstanding[k], called++);
		check_waiter(&w[0], 0, 1);
		pthread_join(w[1].thread, NULL);
		ck_assert_int_eq(w[1].seen, 1);
		end_call(&c);
		for (int k = 0; k < 4; k++)
			end_call(&outstanding[k]);
		tt = NULL;
	}
}
END_TEST

/* Which comes last is open: the destroy, or a run. */
START_TEST(destroyed_while_runs_are_called)
{
	for (int i = 0; i < 300; i++) {
		start_pool(POOL, ROOM_MAX);
		start_with(OWN_THREAD, submit_to_pool);
		for (int k = 0; k < i % 40; k++)
			schedule(k, post, &ran);
		for (int k = 0; k < i % 17; k++)
			sched_yield();
		timerthread_destroy(tt);
		tt = NULL;
		end_pool();
		sem_destroy(&ran);
	}
}
END_TEST

/* Each runs, or is drained, or cancelled: while its run is called. */
START_TEST(drained_while_runs_are_called)
{
	enum { N = 200 };
	timerthread_id id[N];

	for (int i = 0; i < 100; i++) {
		int sum = 0, ended;

		start_pool(POOL, ROOM_MAX);
		start_with(OWN_THREAD, submit_to_pool);
		for (int k = 0; k < N; k++)
			id[k] = schedule(k, post, &ran);
		for (int k = 0; k < i; k++)
			sched_yield();
		ck_assert_int_eq(timerthread_stop(tt), 0);
		for (int k = 0; k < N / 2; k++)
			sum += cancel(id[k]) == 0;
		sum += timerthread_drain(tt, count_drained, NULL);
		sem_getvalue(&ran, &ended);
		ck_assert_int_eq(sum + ended, N);
		end();
		end_pool();
	}
}
END_TEST

/* A run and a cancel at the same moment: one of them has it. */
enum { MEETINGS = 20000 };

static atom32 meeting;

static void *call_each(void *arg)
{
	for (uint32_t i = 0; i < MEETINGS; i++) {
		while (atom32_load_acquire(&meeting) < i)
			;
		call_task(i);
	}
	return arg;
}

START_TEST(cancelled_while_it_begins)
{
	static timerthread_id id[MEETINGS];
	uint64_t rng = test_seed();
	int cancelled = 0, ended;
	pthread_t t;

	start_with(VIRTUAL, keep);
	for (int i = 0; i < MEETINGS; i++)
		id[i] = schedule(i, post, &ran);
	ck_assert_int_eq(advance(MEETINGS), MEETINGS);
	ck_assert_int_eq(pthread_create(&t, NULL, call_each, NULL), 0);
	for (int i = 0; i < MEETINGS; i++) {
		atom32_store_release(&meeting, (uint32_t)i);
		for (uint64_t n = random_below(&rng, 40); n > 0; n--)
			(void)atom32_load(&meeting);
		cancelled += cancel(id[i]) == 0;
	}
	pthread_join(t, NULL);
	sem_getvalue(&ran, &ended);
	ck_assert_int_eq(cancelled + ended, MEETINGS);
	check_inside();
	end();
}
END_TEST

/*
 * Whoever has returned from cancel_wait may free what the callback works on.
 */
struct used {
	int64_t a, b;
};

static void use(void *arg)
{
	struct used *u = arg;

	u->a++;
	u->b--;
}

enum { USES = 3000, USERS = 2 };

static void *use_and_free(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;
	void *wrong = NULL;

	for (int i = 0; i < USES; i++) {
		int64_t delay = (int64_t)random_below(&rng, 20000) - 9000;
		struct used *u = calloc(1, sizeof(*u));
		timerthread_id id = 0;
		int r, kind = i % 3;

		if (kind == 0)
			timerthread_schedule_every(tt,
						   timerthread_now(tt) + delay,
						   5000, use, u, &id);
		else
			timerthread_schedule_after(tt, delay, use, u, &id);
		for (uint64_t n = random_below(&rng, 60); n > 0; n--)
			timerthread_now(tt);
		if (kind == 2)
			timerthread_reschedule(tt, id,
					       timerthread_now(tt) + delay / 2);
		r = timerthread_cancel_wait(tt, id);
		if ((r != 0 && r != 1 && r != -ENOENT) || u->a + u->b != 0 ||
		    (kind && u->a != (r != 0)))
			wrong = arg;
		free(u);
	}
	return wrong;
}

START_TEST(cancel_wait_then_free)
{
	pthread_t t[USERS];
	void *wrong;

	start_pool(POOL, 8);
	start_with(OWN_THREAD, submit_to_pool);
	for (uintptr_t i = 0; i < USERS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, use_and_free,
						(void *)(i + 1)),
				 0);
	for (int i = 0; i < USERS; i++) {
		pthread_join(t[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
	end();
	end_pool();
}
END_TEST

/*
 * Threads that do anything with the same timers, while a pool runs them.
 */
enum { UNITS = 120, KINDS = 3 };

enum kind { ONCE, AGAIN, PERIODIC };

static struct unit {
	timerthread_id id;
	enum kind kind;
	int64_t a, b; /* written by the callback, with no lock */
	atom32 inside, armed, runs, cancelled, while_running, drained, wrong;
} units[UNITS];

static int submit_or_refuse(void *ctx, timerthread_fn *run, void *arg)
{
	static atom32 offers;

	atom32_add(&offers, 1);
	return atom32_load(&offers) % 11 ? submit_to_pool(ctx, run, arg) : -1;
}

static void run_unit(void *arg)
{
	struct unit *u = arg;

	if (atom32_swap_acquire(&u->inside, 0, 1) != 0)
		atom32_store(&u->wrong, 1);
	u->a++;
	if (timerthread_cancel_wait(tt, u->id) != -EDEADLK)
		atom32_store(&u->wrong, 2);
	if (u->kind == AGAIN && u->a % 3 &&
	    reschedule(u->id, timerthread_now(tt) + u->a % 2 * 9000) == 0)
		atom32_add(&u->armed, 1);
	u->b--;
	atom32_add(&u->runs, 1);
	if (atom32_swap_acquire(&u->inside, 1, 0) != 1)
		atom32_store(&u->wrong, 3);
}

/* After cancel_wait it does not run, and what it has written is there. */
static void end_unit(struct unit *u, bool waits)
{
	int r = waits ? timerthread_cancel_wait(tt, u->id) : cancel(u->id);

	if (r == 0)
		atom32_add(&u->cancelled, 1);
	else if (r == 1)
		atom32_store(&u->while_running, 1);
	else if (r != -ENOENT)
		atom32_store(&u->wrong, 4);
	if ((waits || r != 1) && u->a + u->b != 0)
		atom32_store(&u->wrong, 5);
}

static void *use_units(void *arg)
{
	uint64_t rng = test_seed() + (uintptr_t)arg;

	for (int i = 0; i < 10 * UNITS; i++) {
		struct unit *u = &units[random_below(&rng, UNITS)];
		uint64_t dice = random_below(&rng, 60);
		int64_t deadline;
		int r;

		if (dice < 4) {
			end_unit(u, dice % 2);
			continue;
		}
		r = timerthread_get_deadline(tt, u->id, &deadline);
		if (dice > 30)
			r = reschedule(u->id, timerthread_now(tt) - 100000 +
						      (int64_t)random_below(
							      &rng, 250000));
		if (r != 0 && r != -ENOENT && r != -ESHUTDOWN)
			atom32_store(&u->wrong, 6);
	}
	return arg;
}

static void visit_unit(timerthread_id id, timerthread_fn *fn, void *arg,
		       void *ctx)
{
	struct unit *u = arg;

	(void)ctx;
	if (id != u->id || fn != run_unit || u->a + u->b != 0)
		atom32_store(&u->wrong, 7);
	atom32_add(&u->drained, 1);
}

/* Each arming has one end; but a cancel may undo that of a callback. */
static void check_unit(const struct unit *u)
{
	uint32_t ends = atom32_load(&u->cancelled) + atom32_load(&u->drained);
	uint32_t over = ends + atom32_load(&u->runs);
	uint32_t armed = atom32_load(&u->armed);
	uint32_t stopped_inside = atom32_load(&u->while_running);

	ck_assert_uint_eq(atom32_load(&u->wrong), 0);
	ck_assert_int_eq(u->a + u->b, 0);
	ck_assert_int_eq(u->a, atom32_load(&u->runs));
	ck_assert_int_eq(cancel(u->id), -ENOENT);
	if (u->kind == PERIODIC)
		ck_assert_uint_eq(ends + stopped_inside, 1);
	else if (stopped_inside && armed > 1)
		ck_assert(over == armed || over + 1 == armed);
	else
		ck_assert_uint_eq(over, armed);
}

static void schedule_units(void)
{
	int64_t now = timerthread_now(tt);

	memset(units, 0, sizeof(units));
	for (int i = 0; i < UNITS; i++) {
		struct unit *u = &units[i];
		int64_t at = now + i % 40 * 8000;

		u->kind = (enum kind)(i % KINDS);
		atom32_store(&u->armed, 1);
		if (u->kind == PERIODIC)
			ck_assert_int_eq(
				timerthread_schedule_every(tt, at, 20000,
							   run_unit, u, &u->id),
				0);
		else
			ck_assert_int_eq(timerthread_schedule(tt, at, run_unit,
							      u, &u->id),
					 0);
	}
}

/* Stopped in the midst of it, or all is cancelled first. */
START_TEST(random_by_threads)
{
	for (int round = 0; round < 60; round++) {
		pthread_t t[USERS];

		start_pool(POOL, round % 3 ? ROOM_MAX : 4);
		start_with(OWN_THREAD, submit_or_refuse);
		schedule_units();
		for (uintptr_t i = 0; i < USERS; i++)
			ck_assert_int_eq(
				pthread_create(&t[i], NULL, use_units,
					       (void *)(i + 2 * round)),
				0);
		if (round % 2)
			timerthread_stop(tt);
		for (int i = 0; i < USERS; i++)
			pthread_join(t[i], NULL);
		for (int i = 0; round % 4 == 0 && i < UNITS; i++)
			end_unit(&units[i], true);
		ck_assert_int_eq(timerthread_stop(tt), 0);
		timerthread_drain(tt, visit_unit, NULL);
		for (int i = 0; i < UNITS; i++)
			check_unit(&units[i]);
		for (uint32_t i = 0; i < tt->engine.intake->n; i++)
			bucket_check(&tt->engine.intake->bucket[i]);
		end();
		end_pool();
	}
}
END_TEST

/*
 * Children of fork(2).
 */
static pid_t main_process, forked;

/*
 * LeakSanitizer asks this.  A child that does not end by _exit has lost what
 * pointed to the memory of its parent's threads.
 */
static int ends_by_exit;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return ends_by_exit;
}

static int (*answer)(void *ctx, timerthread_fn *run, void *arg);

static bool in_the_child(void)
{
	return getpid() != main_process;
}

static void fork_here(void *arg)
{
	(void)arg;
	prepare_fork();
	forked = fork();
	if (forked != 0)
		return;
	ends_by_exit = 1;
	limit_child();
}

static int fork_in_submit(void *ctx, timerthread_fn *run, void *arg)
{
	fork_here(NULL);
	/* What another thread was in the midst of is not for the child. */
	if (forked == 0 && driver == OWN_THREAD)
		return 0;
	return answer(ctx, run, arg);
}

static int refuse(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	(void)run;
	(void)arg;
	return -1;
}

static int call_inside(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	run(arg);
	return 0;
}

static void count_run(void *arg)
{
	(void)arg;
	written++;
}

/* The end of a child that has come out of the library again. */
static void end_child(int result)
{
	NEED(result == -ECHILD);
	NEED(written == 0);
	NEED(timerthread_stop(tt) == -ECHILD);
	timerthread_destroy(tt);
	_exit(EXIT_SUCCESS);
}

static int turn(void)
{
	return driver == POLLED ? timerthread_dispatch(tt) : advance(0);
}

START_TEST(fork_within_submit)
{
	int (*const answers[])(void *, timerthread_fn *,
			       void *) = {keep, refuse, call_inside};

	main_process = getpid();
	for (int i = 0; i < 6; i++) {
		int r;

		answer = answers[i % 3];
		written = 0;
		start_with(i < 3 ? VIRTUAL : POLLED, fork_in_submit);
		schedule(0, count_run, NULL);
		r = turn();
		if (in_the_child())
			end_child(r);
		ck_assert_int_eq(r, 1);
		ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
		call_tasks();
		ck_assert_int_eq(written, 1);
		end();
	}
}
END_TEST

/* On the thread that submits: nothing that is due behind it runs there. */
START_TEST(fork_in_a_refused_callback)
{
	main_process = getpid();
	for (int i = 0; i < 4; i++) {
		int r;

		start_with(i % 2 ? VIRTUAL : POLLED,
			   i < 2 ? refuse : call_inside);
		written = 0;
		schedule(-1, fork_here, NULL);
		schedule(0, count_run, NULL);
		r = turn();
		if (in_the_child())
			end_child(r);
		ck_assert_int_eq(r, 2);
		ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
		end();
	}
}
END_TEST

/* The timer thread's child ends where the submit returns. */
START_TEST(fork_within_submit_of_the_thread)
{
	answer = keep;
	start_with(OWN_THREAD, fork_in_submit);
	written = 0;
	schedule(0, count_run, NULL);
	submit_due(1);
	ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
	call_tasks();
	ck_assert_int_eq(written, 1);
	end();
}
END_TEST

static void call_in_child(void)
{
	int64_t deadline;

	call_tasks();
	NEED(timerthread_get_deadline(tt, self, &deadline) == -ECHILD);
	NEED(timerthread_cancel(tt, self) == -ECHILD);
	NEED(timerthread_cancel_wait(tt, self) == -ECHILD);
	NEED(timerthread_set_executor(tt, keep, NULL) == -ECHILD);
	NEED(written == 0);
	timerthread_destroy(tt);
}

/* In the child they do nothing; in the parent nothing has changed. */
START_TEST(runs_called_in_a_child)
{
	for (int d = 0; d < DRIVERS; d++) {
		start_with(d, keep);
		written = 0;
		for (int i = 0; i < 3; i++)
			self = schedule(i - 3, count_run, NULL);
		submit_due(3);
		ck_assert_int_eq(reschedule(self, TIMERTHREAD_NEVER), 0);
		in_child(call_in_child);
		call_tasks();
		ck_assert_int_eq(written, 2);
		ck_assert_int_eq(deadline_of(self), TIMERTHREAD_NEVER);
		end();
	}
}
END_TEST

static bool child_destroys;

static void fork_inside(void *arg)
{
	fork_here(arg);
	if (forked == 0 && child_destroys)
		timerthread_destroy(tt);
}

static void *call_and_end(void *arg)
{
	call_in_thread(arg);
	if (!in_the_child())
		return NULL;
	/* One that has destroyed it calls no more. */
	if (!child_destroys)
		call_in_child();
	_exit(EXIT_SUCCESS);
}

/* A callback that forks, and returns in the child too, as others do. */
START_TEST(fork_in_a_callback)
{
	main_process = getpid();
	for (int i = 0; i < 2 * DRIVERS; i++) {
		struct caller c = {.task = 0};

		start_with(i % DRIVERS, keep);
		child_destroys = i >= DRIVERS;
		written = 0;
		self = every(-2, HOUR, fork_inside, NULL);
		schedule(-1, count_run, NULL);
		submit_due(2);
		ck_assert_int_eq(
			pthread_create(&c.thread, NULL, call_and_end, &c), 0);
		end_call(&c);
		ck_assert_int_eq(end_of(forked), EXIT_SUCCESS);
		ck_assert_int_eq(cancel(self), 0);
		call_tasks();
		ck_assert_int_eq(written, 1);
		end();
	}
}
END_TEST

/*
 * A callback of one instance within one of another.
 */
static struct {
	struct timerthread *outer, *inner;
	int turned[2], waited, moved, stopped;
	bool destroys;
} nest;

static void at_the_bottom(void *arg)
{
	nest.turned[0] = timerthread_advance(nest.outer, 0);
	nest.turned[1] = timerthread_advance(nest.inner, 0);
	nest.waited = timerthread_cancel_wait(nest.outer, self);
	nest.moved =
		timerthread_reschedule(nest.outer, self, TIMERTHREAD_NEVER);
	nest.stopped = timerthread_stop(nest.outer);
	if (nest.destroys)
		timerthread_destroy(nest.outer);
	(void)arg;
}

static void turn_inner(void *arg)
{
	*(int *)arg = timerthread_advance(nest.inner, 0);
}

START_TEST(nested)
{
	for (int i = 0; i < 4; i++) {
		int turned = 0;
		struct caller c;

		start_with(VIRTUAL, i < 2 ? keep : call_inside);
		nest.outer = tt;
		nest.destroys = i % 2;
		ck_assert_int_eq(timerthread_create(&nest.inner), 0);
		ck_assert_int_eq(timerthread_start_virtual(nest.inner, 0), 0);
		ck_assert_int_eq(timerthread_schedule(nest.inner, 0,
						      at_the_bottom, NULL,
						      NULL),
				 0);
		self = schedule(0, turn_inner, &turned);
		ck_assert_int_eq(advance(0), 1);
		if (i < 2) {
			start_call(&c, called++);
			end_call(&c);
		}
		ck_assert_int_eq(turned, 1);
		ck_assert_int_eq(nest.turned[0], -EBUSY);
		ck_assert_int_eq(nest.turned[1], -EBUSY);
		ck_assert_int_eq(nest.waited, -EDEADLK);
		ck_assert_int_eq(nest.moved, 0);
		ck_assert_int_eq(nest.stopped, 1);
		if (!nest.destroys) {
			ck_assert_int_eq(timerthread_stop(tt), 0);
			ck_assert_int_eq(cancel(self), 0);
			end();
		}
		timerthread_destroy(nest.inner);
	}
}
END_TEST

/* The other way round a stop waits: the callback is of another instance. */
static void stop_another(void *arg)
{
	*(int *)arg = timerthread_stop(nest.outer);
}

START_TEST(stopped_from_a_callback_of_another)
{
	struct timerthread *other;
	struct caller c;
	int r = -77;

	start_with(VIRTUAL, keep);
	nest.outer = tt;
	schedule(0, hold_and_write, &ran);
	ck_assert_int_eq(advance(0), 1);
	written = 0;
	start_call(&c, called++);
	wait_for(&ran);
	ck_assert_int_eq(timerthread_create(&other), 0);
	ck_assert_int_eq(timerthread_start(other, NULL), 0);
	ck_assert_int_eq(timerthread_schedule(other, 0, stop_another, &r, NULL),
			 0);
	wait_for_joiners(1);
	sem_post(&go);
	timerthread_destroy(other);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(written, 1);
	end_call(&c);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		several_at_a_time,
		seen_in_order,
		cancel_waits,
		cancel_waits_for_what_would_be_rearmed,
		submit_waits_for_a_callback,
		moved_from_elsewhere,
		periodic_that_takes_its_time,
		never_twice_at_a_time,
		stop_waits,
		stopped_from_a_callback,
		stopped_from_a_callback_while_submit_blocks,
		stopped_while_submit_blocks,
		destroyed_from_a_callback,
		destroyed_while_submit_blocks,
		destroyed_while_others_wait,
		stop_and_destroy_at_once,
		destroyed_while_runs_are_called,
		drained_while_runs_are_called,
		cancelled_while_it_begins,
		cancel_wait_then_free,
		random_by_threads,
		fork_within_submit,
		fork_in_a_refused_callback,
		fork_within_submit_of_the_thread,
		runs_called_in_a_child,
		fork_in_a_callback,
		nested,
		stopped_from_a_callback_of_another,
	};

	return RUN_TESTS("executor_threads", tests);
}
