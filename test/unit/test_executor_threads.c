/* SPDX-License-Identifier: MIT */
/*
 * Executors with threads: callbacks that run on other threads than the one that
 * submits them, and what waits for these.
 */
#include "config.h"

#define CPU_AT_FIRST SYSTEM

#include "cancellers.h"
#include "cpus.h"
#include "task_pool.h"

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

/* Each of the tasks on another CPU. */
static void *call_on_cpu(void *arg)
{
	struct caller *c = arg;

	cpu_now = (int)c->task;
	call_task(c->task);
	return NULL;
}

/*
 * The one that has been running the longest comes first, whichever CPU the
 * library looks at first.
 */
START_TEST(seen_in_order)
{
	struct caller c[POOL];
	int n = 0;

	start_with(OWN_THREAD, keep);
	for (int i = 0; i < POOL; i++) {
		in_order[i] = schedule(0, hold, &ran);
		submit_due(1);
		c[i].task = called++;
		ck_assert_int_eq(
			pthread_create(&c[i].thread, NULL, call_on_cpu, &c[i]),
			0);
		wait_for(&ran);
	}
	ck_assert_int_eq(timerthread_visit_running(tt, 0, check_order, &n),
			 POOL);
	ck_assert_int_eq(n, POOL);
	for (int i = 0; i < POOL; i++)
		sem_post(&go);
	for (int i = 0; i < POOL; i++)
		end_call(&c[i]);
	end();
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
			ck_assert_int_eq(timerthread_cancel(tt, id), 1);
			sem_post(&go);
			for (int k = 0; k < 3; k++)
				check_waiter(&w[k], 1, 1);
			ck_assert_int_eq(timerthread_cancel(tt, id), -ENOENT);
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
	if (timerthread_reschedule(tt, self, TIMERTHREAD_NEVER) != 0)
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
	ck_assert_int_eq(timerthread_reschedule(tt, self, 5), -ENOENT);
	ck_assert_int_eq(timerthread_reschedule(tt, self, -5), -ENOENT);
	check_not_pending(self);
	sem_post(&go);
	end_call(&c);
	ck_assert_int_eq(advance(100), 0);

	self = schedule(0, arm_and_hold, &ran);
	ck_assert_int_eq(advance(0), 1);
	start_call(&c, called++);
	wait_for(&ran);
	ck_assert_int_eq(deadline_of(self), TIMERTHREAD_NEVER);
	ck_assert_int_eq(timerthread_reschedule(tt, self, 150), 0);
	/* Due again, and not submitted before it has returned. */
	ck_assert_int_eq(advance(100), 0);
	sem_post(&go);
	end_call(&c);
	ck_assert_int_eq(advance(0), 1);
	ck_assert_int_eq(timerthread_cancel(tt, self), 0);
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
	ck_assert_int_eq(timerthread_cancel(tt, self), 1);
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
		int r = timerthread_reschedule(tt, self,
					       i % 2 ? 0 : timerthread_now(tt));

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
		cancelled += timerthread_cancel(tt, id[i]) == 0;
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
	    timerthread_reschedule(tt, u->id,
				   timerthread_now(tt) + u->a % 2 * 9000) == 0)
		atom32_add(&u->armed, 1);
	u->b--;
	atom32_add(&u->runs, 1);
	if (atom32_swap_acquire(&u->inside, 1, 0) != 1)
		atom32_store(&u->wrong, 3);
}

/* After cancel_wait it does not run, and what it has written is there. */
static void end_unit(struct unit *u, bool waits)
{
	int r = waits ? timerthread_cancel_wait(tt, u->id)
		      : timerthread_cancel(tt, u->id);

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
			r = timerthread_reschedule(
				tt, u->id,
				timerthread_now(tt) - 100000 +
					(int64_t)random_below(&rng, 250000));
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
	ck_assert_int_eq(timerthread_cancel(tt, u->id), -ENOENT);
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
		timerthread_cancel_all(tt, visit_unit, NULL);
		for (int i = 0; i < UNITS; i++)
			check_unit(&units[i]);
		for (uint32_t i = 0; i < tt->engine.intake->n; i++)
			bucket_check(&tt->engine.intake->bucket[i]);
		end();
		end_pool();
	}
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
		cancelled_while_it_begins,
		cancel_wait_then_free,
		random_by_threads,
	};

	return RUN_TESTS("executor_threads", tests);
}
