/* SPDX-License-Identifier: MIT */
/*
 * test-your-timeouts: tests of code that waits, which do not wait.
 *
 *     cc test-your-timeouts.c retry.c -o test-your-timeouts \
 *         $(pkg-config --cflags --libs timerthread check) -pthread
 *
 * The code under test is retry.c, as it would be in a daemon: all that it
 * knows of time is an instance of timers.  Here that instance has a virtual
 * clock.  timerthread_advance advances it and runs the timers that expire, on
 * this thread, so that the tests can say to the nanosecond when something
 * happens, are over at once, and have the same result on the busiest machine.
 * timerthread_get_next_deadline tells how far to advance it: a test can go from
 * event to event, or see that there is none left.
 *
 * The last test gives the same code a real timer thread.
 */
#include "retry.h"
#include <check.h>
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

/* When the tests begin.  No code should mind what time it is. */
#define EPOCH (12345 * TIMERTHREAD_SEC + 6789)

/* How long Check lets a test run that hangs: no test needs that. */
enum { PATIENCE_S = 60 };

enum { ATTEMPTS = 32, SILENT = -1 };

/* Something to attempt, and what became of it, in times since EPOCH. */
struct call {
	int failures;  /* so many attempts fail, */
	int64_t takes; /* each after so long; if SILENT, it does not end */

	struct retry *retry; /* whose attempt has not ended yet */
	int n;
	int64_t at[ATTEMPTS]; /* the n attempts */
	int ended;            /* how often */
	int result;
	int64_t ended_at;
	sem_t *over;
};

static const struct retry_policy policy = {
	.first_pause = 100 * TIMERTHREAD_MSEC,
	.max_pause = TIMERTHREAD_SEC,
	.timeout = 5 * TIMERTHREAD_SEC,
};

static struct timerthread *tt;

static void answer(void *arg)
{
	struct call *c = arg;

	retry_report(c->retry, c->n > c->failures);
}

static void attempt(struct retry *r, void *ctx)
{
	struct call *c = ctx;

	if (c->n < ATTEMPTS)
		c->at[c->n] = timerthread_now(tt) - EPOCH;
	c->n++;
	c->retry = r;
	if (c->takes == 0)
		answer(c);
	else if (c->takes != SILENT)
		timerthread_schedule_after(tt, c->takes, answer, c, NULL);
}

static void done(void *ctx, int result)
{
	struct call *c = ctx;

	c->ended++;
	c->result = result;
	c->ended_at = timerthread_now(tt) - EPOCH;
	if (c->over)
		sem_post(c->over);
}

static const struct retry_ops ops = {.attempt = attempt, .done = done};

static void begin(struct call *c)
{
	ck_assert_int_eq(retry_start(tt, &policy, &ops, c), 0);
}

static void advance(int64_t ns)
{
	ck_assert_int_ge(timerthread_advance(tt, ns), 0);
}

/* When the next timer expires; TIMERTHREAD_NEVER: none is pending. */
static int64_t next_deadline(void)
{
	int64_t next;

	ck_assert_int_eq(timerthread_get_next_deadline(tt, &next), 0);
	return next;
}

/* To the next event, and not a nanosecond further.  False: there is none. */
static bool step(void)
{
	int64_t next = next_deadline();

	if (next == TIMERTHREAD_NEVER)
		return false;
	advance(next - timerthread_now(tt));
	return true;
}

static void run_to_the_end(void)
{
	while (step())
		continue;
}

/* The attempts were at these times, in milliseconds, and there were no more. */
#define ck_assert_attempts(c, ...)                                             \
	do {                                                                   \
		const int64_t at_[] = {__VA_ARGS__};                           \
		const int n_ = (int)(sizeof(at_) / sizeof(at_[0]));            \
                                                                               \
		ck_assert_int_eq((c)->n, n_);                                  \
		for (int i_ = 0; i_ < n_; i_++)                                \
			ck_assert_int_eq((c)->at[i_],                          \
					 at_[i_] * TIMERTHREAD_MSEC);          \
	} while (0)

static void assert_ended(const struct call *c, int result, int64_t at)
{
	ck_assert_int_eq(c->ended, 1);
	ck_assert_int_eq(c->result, result);
	ck_assert_int_eq(c->ended_at, at);
}

/* No timer is left that would run, be it in a hundred years. */
static void assert_quiet(void)
{
	ck_assert_int_eq(next_deadline(), TIMERTHREAD_NEVER);
}

static void setup(void)
{
	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, EPOCH), 0);
}

static void teardown(void)
{
	timerthread_destroy(tt);
}

/* The tests. */

START_TEST(success_at_once_leaves_no_timer)
{
	struct call c = {.failures = 0};

	begin(&c);
	ck_assert_attempts(&c, 0);
	assert_ended(&c, 0, 0);
	assert_quiet();
}
END_TEST

START_TEST(pauses_double_up_to_the_longest)
{
	struct call c = {.failures = 6};

	begin(&c);
	advance(4 * TIMERTHREAD_SEC);
	ck_assert_attempts(&c, 0, 100, 300, 700, 1500, 2500, 3500);
	assert_ended(&c, 0, 3500 * TIMERTHREAD_MSEC);
	assert_quiet();
}
END_TEST

START_TEST(an_attempt_is_not_a_nanosecond_early)
{
	struct call c = {.failures = 1};

	begin(&c);
	advance(100 * TIMERTHREAD_MSEC - 1);
	ck_assert_attempts(&c, 0);
	advance(1);
	ck_assert_attempts(&c, 0, 100);
}
END_TEST

/* The events are the attempts and nothing else: no timer runs in vain. */
START_TEST(each_event_is_an_attempt)
{
	static const int pauses[] = {100, 200, 400, 800, 1000, 1000};
	struct call c = {.failures = 6};

	begin(&c);
	for (int i = 0; i < c.failures; i++) {
		int64_t begun = timerthread_now(tt);

		ck_assert_int_eq(c.n, i + 1);
		ck_assert(step());
		ck_assert_int_eq(timerthread_now(tt) - begun,
				 pauses[i] * TIMERTHREAD_MSEC);
	}
	ck_assert_int_eq(c.n, c.failures + 1);
	assert_quiet();
}
END_TEST

START_TEST(pauses_begin_when_an_attempt_has_failed)
{
	struct call c = {.failures = 3, .takes = 30 * TIMERTHREAD_MSEC};

	begin(&c);
	advance(4 * TIMERTHREAD_SEC);
	ck_assert_attempts(&c, 0, 130, 360, 790);
	assert_ended(&c, 0, 820 * TIMERTHREAD_MSEC);
	assert_quiet();
}
END_TEST

START_TEST(the_deadline_ends_it_in_a_pause)
{
	struct call c = {.failures = ATTEMPTS};

	begin(&c);
	run_to_the_end();
	ck_assert_attempts(&c, 0, 100, 300, 700, 1500, 2500, 3500, 4500);
	assert_ended(&c, -ETIMEDOUT, policy.timeout);
}
END_TEST

/* The report that comes too late changes nothing, and frees the memory. */
START_TEST(the_deadline_ends_it_in_an_attempt)
{
	for (int success = 0; success < 2; success++) {
		struct call c = {.takes = SILENT};
		int64_t begun = timerthread_now(tt) - EPOCH;

		begin(&c);
		advance(policy.timeout - 1);
		ck_assert_int_eq(c.ended, 0);
		advance(1);
		assert_ended(&c, -ETIMEDOUT, begun + policy.timeout);
		retry_report(c.retry, success);
		assert_ended(&c, -ETIMEDOUT, begun + policy.timeout);
		ck_assert_int_eq(c.n, 1);
		assert_quiet();
	}
}
END_TEST

START_TEST(success_just_before_the_deadline_counts)
{
	struct call c = {.takes = policy.timeout - 1};

	begin(&c);
	run_to_the_end();
	assert_ended(&c, 0, policy.timeout - 1);
}
END_TEST

/* The pause that the last failure asks for ends with the deadline, or after. */
START_TEST(no_attempt_at_the_deadline)
{
	for (int64_t late = 0; late < 2; late++) {
		int64_t begun = timerthread_now(tt) - EPOCH;
		struct call c = {.failures = ATTEMPTS,
				 .takes = policy.timeout -
					  100 * TIMERTHREAD_MSEC + late};

		begin(&c);
		run_to_the_end();
		ck_assert_int_eq(c.n, 1);
		assert_ended(&c, -ETIMEDOUT, begun + policy.timeout);
	}
}
END_TEST

/* However the time goes by, what happens is the same, at the same times. */
START_TEST(steps_do_not_matter)
{
	static const int64_t steps[] = {1 * TIMERTHREAD_MSEC,
					7 * TIMERTHREAD_MSEC + 3,
					TIMERTHREAD_SEC, 10 * TIMERTHREAD_SEC};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct call c = {.failures = 4, .takes = 50 * TIMERTHREAD_MSEC};

		setup();
		begin(&c);
		while (timerthread_now(tt) < EPOCH + policy.timeout)
			advance(steps[i]);
		ck_assert_attempts(&c, 0, 150, 400, 850, 1700);
		assert_ended(&c, 0, 1750 * TIMERTHREAD_MSEC);
		teardown();
	}
}
END_TEST

/* All of them begin at the same time, and some end at the same time. */
START_TEST(many_at_once_do_not_mix)
{
	static struct call calls[500];
	const int n = sizeof(calls) / sizeof(calls[0]);

	for (int i = 0; i < n; i++) {
		calls[i] = (struct call){.failures = i % 12};
		begin(&calls[i]);
	}
	run_to_the_end();
	for (int i = 0; i < n; i++) {
		const struct call *c = &calls[i];

		if (c->failures < 8) {
			ck_assert_int_eq(c->n, c->failures + 1);
			assert_ended(c, 0, c->at[c->failures]);
		} else {
			ck_assert_int_eq(c->n, 8);
			assert_ended(c, -ETIMEDOUT, policy.timeout);
		}
	}
}
END_TEST

START_TEST(no_timer_to_be_had)
{
	struct call c = {.failures = 1}, second = {.failures = 1};

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_set_max_timers(tt, 1), 0);
	ck_assert_int_eq(timerthread_start_virtual(tt, EPOCH), 0);
	/* The deadline's timer fills the cap: there is none for the pause. */
	begin(&c);
	assert_ended(&c, -EAGAIN, 0);
	/* The deadline's was cancelled: one more can be scheduled. */
	c = (struct call){.takes = SILENT};
	begin(&c);
	ck_assert_int_eq(retry_start(tt, &policy, &ops, &second), -EAGAIN);
	ck_assert_int_eq(second.n + second.ended, 0);
	retry_report(c.retry, true);
	assert_ended(&c, 0, 0);
	teardown();
}
END_TEST

START_TEST(shutdown_ends_it)
{
	struct call waits = {.failures = 1}, runs = {.takes = SILENT};

	begin(&waits);
	begin(&runs);
	advance(50 * TIMERTHREAD_MSEC);
	ck_assert_int_eq(timerthread_stop(tt), 0);
	/* The timers do not run any more, but an attempt still reports. */
	retry_report(runs.retry, false);
	assert_ended(&runs, -ESHUTDOWN, 50 * TIMERTHREAD_MSEC);
	ck_assert_int_ge(timerthread_cancel_all(tt, retry_abandon, NULL), 1);
	assert_ended(&waits, -ECANCELED, 50 * TIMERTHREAD_MSEC);
	ck_assert_int_eq(runs.ended, 1);
}
END_TEST

/* On real time the test only checks that nothing was too early. */
START_TEST(the_same_code_on_a_timer_thread)
{
	static const struct retry_policy quick = {
		.first_pause = TIMERTHREAD_MSEC,
		.max_pause = TIMERTHREAD_SEC,
		.timeout = 3600 * TIMERTHREAD_SEC,
	};
	struct call c = {.failures = 3};
	int64_t begun;
	sem_t over;

	ck_assert_int_eq(timerthread_create(&tt), 0);
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	sem_init(&over, 0, 0);
	c.over = &over;
	begun = timerthread_now(tt);
	ck_assert_int_eq(retry_start(tt, &quick, &ops, &c), 0);
	while (sem_wait(&over) < 0 && errno == EINTR)
		continue; /* a signal handler ran */
	teardown();
	sem_destroy(&over);
	ck_assert_int_eq(c.n, 4);
	ck_assert_int_eq(c.ended, 1);
	ck_assert_int_eq(c.result, 0);
	ck_assert_int_ge(c.ended_at, begun - EPOCH + 7 * TIMERTHREAD_MSEC);
}
END_TEST

static TCase *on_virtual_time(void)
{
	TCase *tcase = tcase_create("on virtual time");

	tcase_set_timeout(tcase, PATIENCE_S);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, success_at_once_leaves_no_timer);
	tcase_add_test(tcase, pauses_double_up_to_the_longest);
	tcase_add_test(tcase, an_attempt_is_not_a_nanosecond_early);
	tcase_add_test(tcase, each_event_is_an_attempt);
	tcase_add_test(tcase, pauses_begin_when_an_attempt_has_failed);
	tcase_add_test(tcase, the_deadline_ends_it_in_a_pause);
	tcase_add_test(tcase, the_deadline_ends_it_in_an_attempt);
	tcase_add_test(tcase, success_just_before_the_deadline_counts);
	tcase_add_test(tcase, no_attempt_at_the_deadline);
	tcase_add_test(tcase, many_at_once_do_not_mix);
	tcase_add_test(tcase, shutdown_ends_it);
	return tcase;
}

/* These make their own instance. */
static TCase *on_other_instances(void)
{
	TCase *tcase = tcase_create("on other instances");

	tcase_set_timeout(tcase, PATIENCE_S);
	tcase_add_test(tcase, steps_do_not_matter);
	tcase_add_test(tcase, no_timer_to_be_had);
	tcase_add_test(tcase, the_same_code_on_a_timer_thread);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("retry");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, on_virtual_time());
	suite_add_tcase(suite, on_other_instances());
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
