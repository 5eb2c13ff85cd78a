/* SPDX-License-Identifier: MIT */
/*
 * Moving timers: the entries and slots that it leaves, random steps, lack of
 * memory, and what another thread does in the midst of a move.
 */
#include "blocks.h"
#include "config.h"

#include "bare.h"
#include "begun.h"
#include "entries.h"
#include "fail_alloc.h"
#include "intake/arrival.h"
#include "intake/collect.h"
#include "timers.h"

/*
 * schedule.c again, under other names and with places to stop at: before or
 * behind one of its loads of a slot's state or ticket "another thread" does its
 * step; or when the timer is marked as moved, and has no other ticket yet.
 */
static void (*other_step)(void);
static void (*step_at_mark)(void);
static unsigned loads_until_step;
static bool step_is_behind;

static uint32_t load_and_step(const atom32 *a)
{
	void (*step)(void) = other_step;
	uint32_t value = atom32_load(a);

	if (!step || loads_until_step-- > 0)
		return value;
	other_step = NULL;
	step();
	return step_is_behind ? value : atom32_load(a);
}

static bool step_and_ask(const struct slot *s)
{
	void (*step)(void) = step_at_mark;
	bool before = slot_is_handed_over(s);

	step_at_mark = NULL;
	if (step)
		step();
	return step_is_behind ? before : slot_is_handed_over(s);
}

int stepped_schedule(struct bucket *b, struct wakeup *w, const struct timer *t,
		     uint64_t *ret_id);
int stepped_reschedule(struct bucket *b, struct wakeup *w, struct slot *s,
		       uint64_t id, int64_t deadline, bool inside);
int stepped_disarm(struct bucket *b, struct slot *s, uint64_t id, bool running,
		   uint32_t *ret_ticket);
int stepped_get_deadline(struct bucket *b, struct slot *s, uint64_t id,
			 int64_t *ret_deadline);

#define bucket_schedule     stepped_schedule
#define bucket_reschedule   stepped_reschedule
#define bucket_disarm       stepped_disarm
#define bucket_get_deadline stepped_get_deadline
#define atom32_load         load_and_step
#define slot_is_handed_over step_and_ask
#include "intake/schedule.c"
#undef bucket_schedule
#undef bucket_reschedule
#undef bucket_disarm
#undef bucket_get_deadline
#undef atom32_load
#undef slot_is_handed_over

/*
 * The inside, with the engine turned by hand: what is due is in the past,
 * what is not is an hour away, so that nothing depends on the time.
 */
static int64_t far;

static void hand_begin(void)
{
	bare_begin(2, CLOCK_MONOTONIC);
	far = clock_now(CLOCK_MONOTONIC) + HOUR;
}

static int hand_move(uint64_t id, int64_t deadline, bool inside)
{
	return bucket_reschedule(intake_bucket(engine.intake, slot_index(id)),
				 &engine.wakeup, intake_slot(engine.intake, id),
				 id, deadline, inside);
}

static int64_t hand_run(bool reclaim)
{
	if (reclaim)
		engine.reclaim.began -= HOUR; /* as if time had passed */
	return bare_turn();
}

/* What comes in while recycling skips, and a few; see test_recycle.c. */
#define RESTED (64 + 8)

/* To and fro, with one timer and with many, idle and while others run. */
START_TEST(to_and_fro_leaves_little)
{
	static const int live[] = {1, 10, 1000};
	static uint64_t ids[1000];
	uint64_t rng = test_seed();

	for (int w = 0; w < 6; w++) {
		int n = live[w % 3];
		size_t most = 0, used;

		hand_begin();
		for (int i = 0; i < n; i++)
			ids[i] = bare_schedule((uint32_t)i % 2, far, never,
					       NULL);
		used = bare_slots_used();
		for (int i = 0; i < 8000 + 10 * n; i++) {
			uint64_t id = ids[random_below(&rng, (uint64_t)n)];

			ck_assert_int_eq(hand_move(id, far - 1 - i, false), 0);
			ck_assert_int_eq(hand_move(id, far + i, false), 0);
			if (w >= 3 && i % 1000 == 0)
				hand_run(true);
			if (entries_of(&engine.pending) > most)
				most = entries_of(&engine.pending);
		}
		ck_assert_uint_le(most, 4 * (size_t)n + 4 * RESTED);
		ck_assert_uint_eq(bare_slots_used(), used);
		for (int i = 0; i < n; i++)
			ck_assert_int_eq(bare_cancel(ids[i]), 0);
		bare_end();
	}
}
END_TEST

START_TEST(later_makes_no_entry)
{
	uint32_t seq;
	size_t entries;
	uint64_t id;

	hand_begin();
	id = bare_schedule(0, far, never, NULL);
	for (int round = 0; round < 2; round++) {
		entries = entries_of(&engine.pending);
		ck_assert_uint_eq(entries, 1);
		seq = atom32_load(&engine.wakeup.seq);
		for (int i = 0; i < 1000; i++)
			ck_assert_int_eq(
				hand_move(id, far + round * 1000 + i, false),
				0);
		ck_assert_uint_eq(entries_of(&engine.pending), entries);
		ck_assert_uint_eq(atom32_load(&engine.wakeup.seq), seq);
		/* Then the same once the timer thread has it. */
		hand_run(true);
	}
	bare_end();
}
END_TEST

/*
 * Random steps against an array.
 */
enum { MODELLED = 150 };

static struct modelled {
	uint64_t id;
	int64_t deadline;
	int64_t turn; /* the order of the calls, if they are due at once */
	bool live, in_time;
	int rearms;
} model[MODELLED];

static int64_t turns;

static int modelled_runs;
static int64_t last_run;
static uint64_t model_rng;

static int64_t random_deadline(bool due)
{
	int64_t r = (int64_t)random_below(&model_rng, 500);

	return due ? r - 1000 : far + r;
}

static void run_modelled(void *arg)
{
	struct modelled *m = arg;

	m->in_time = m->live && m->deadline < 0 && m->turn > last_run;
	last_run = m->turn;
	m->live = false;
	modelled_runs++;
	if (m->rearms-- > 0) {
		m->deadline = random_deadline(false);
		m->turn = ++turns;
		m->live = hand_move(m->id, m->deadline, true) == 0;
	}
}

static void model_run(bool reclaim)
{
	int64_t next = INT64_MAX, slept;
	int due = 0;

	for (int i = 0; i < MODELLED; i++) {
		due += model[i].live && model[i].deadline < 0;
		model[i].in_time = true;
	}
	modelled_runs = 0;
	last_run = INT64_MIN;
	slept = hand_run(reclaim);
	ck_assert_int_eq(modelled_runs, due);
	for (int i = 0; i < MODELLED; i++) {
		ck_assert(model[i].in_time);
		if (model[i].live && model[i].deadline < next)
			next = model[i].deadline;
	}
	ck_assert_int_le(slept, next);
}

static void model_step(struct modelled *m, uint64_t dice)
{
	if (!m->live) {
		ck_assert_int_eq(m->id ? hand_move(m->id, 0, false) : -ENOENT,
				 -ENOENT);
		ck_assert_int_eq(m->id ? bare_cancel(m->id) : -ENOENT, -ENOENT);
		m->deadline = random_deadline(dice % 3 == 0);
		m->turn = ++turns;
		m->rearms = (int)(dice % 4) - 1;
		m->id = bare_schedule(dice % 2, m->deadline, run_modelled, m);
		m->live = true;
	} else if (dice < 85) {
		m->deadline = random_deadline(dice % 4 == 0);
		m->turn = ++turns;
		ck_assert_int_eq(hand_move(m->id, m->deadline, false), 0);
	} else {
		ck_assert_int_eq(bare_cancel(m->id), 0);
		m->live = false;
	}
}

START_TEST(random_against_array)
{
	enum { STEPS = 20000 };

	model_rng = test_seed();
	hand_begin();
	for (int step = 0; step < STEPS; step++) {
		/* At times few of them, at times many. */
		uint64_t some = step / 5000 % 2 ? MODELLED : 40;
		struct modelled *m = &model[random_below(&model_rng, some)];
		uint64_t dice = random_below(&model_rng, 100);
		int64_t deadline;

		if (random_below(&model_rng, 20) == 0)
			model_run(dice % 2);
		else
			model_step(m, dice);
		bare_check();
		ck_assert_uint_le(entries_of(&engine.pending), 12 * MODELLED);
		if (!m->id)
			continue;
		ck_assert_int_eq(
			bucket_get_deadline(
				intake_bucket(engine.intake, slot_index(m->id)),
				intake_slot(engine.intake, m->id), m->id,
				&deadline),
			m->live ? 0 : -ENOENT);
		if (m->live)
			ck_assert_int_eq(deadline, m->deadline);
	}
	for (int i = 0; i < MODELLED; i++) {
		if (!model[i].live)
			continue;
		model[i].rearms = 0;
		model[i].deadline = -1;
		model[i].turn = ++turns;
		ck_assert_int_eq(hand_move(model[i].id, -1, false), 0);
	}
	model_run(true);
	ck_assert_uint_le(bare_slots_used(), 4 * MODELLED);
	bare_end();
}
END_TEST

/*
 * Steps of another thread in the middle of a move to an earlier time.  What
 * is pending then is in the engine's heap.
 */
static uint64_t stepped_id;
static int stepped_runs, stepped_result;

static void stepped_callback(void *arg)
{
	(void)arg;
	stepped_runs++;
}

/* As the timer thread, coming upon the entry. */
static void step_expire(void)
{
	struct entry e = pending_take(&engine.pending);
	struct slot *s = intake_slot_of(engine.intake, &e);
	uint64_t overrun = 0;

	if (begin_entry(intake_bucket(engine.intake, e.index), s, &e, INT64_MAX,
			&overrun) != EXPIRY_RUN)
		return;
	stepped_callback(NULL);
	stepped_result = !expiry_end(s);
	intake_recycle(engine.intake, s);
}

static void step_cancel(void)
{
	stepped_result = bare_cancel(stepped_id);
}

/* And then the driver comes upon it. */
static void step_cancel_and_look(void)
{
	int64_t next;

	step_cancel();
	while (!pending_next(&engine.pending, far, &next))
		;
}

/* The driver has the entry of a timer that is then rescheduled. */
static void begin_step(void)
{
	struct visit v;
	int64_t next;

	hand_begin();
	stepped_id = bare_schedule(0, far, stepped_callback, NULL);
	visit_begin(&v, far, far);
	bucket_collect(&engine.intake->bucket[0], &engine.wakeup, &v);
	pending_add(&engine.pending, v.cursor.row[0]);
	while (!pending_next(&engine.pending, far, &next))
		;
	ck_assert_uint_eq(engine.pending.heap.n, 1);
	stepped_runs = 0;
	stepped_result = -1;
}

/* No slot is left, whatever came of it, and though none was swept. */
static void end_step(void)
{
	hand_run(false);
	bare_check();
	ck_assert_int_eq(bare_cancel(stepped_id), -ENOENT);
	ck_assert_uint_eq(bare_slots_used(), 0);
	bare_end();
}

static int move_stepped(void)
{
	return stepped_reschedule(&engine.intake->bucket[0], &engine.wakeup,
				  intake_slot(engine.intake, stepped_id),
				  stepped_id, -1, false);
}

/* False: there are not so many loads. */
static bool interrupted_at(void (*step)(void), unsigned load, bool behind)
{
	bool stepped;

	begin_step();
	other_step = step;
	loads_until_step = load;
	step_is_behind = behind;
	move_stepped();
	stepped = !other_step;
	other_step = NULL;
	if (stepped) {
		hand_run(false);
		ck_assert_int_ne(stepped_result, -1);
	}
	end_step();
	return stepped;
}

/* At each moment; how often it runs, and what the step must have come to. */
static void interrupted(void (*step)(void), int result, int runs)
{
	unsigned moments = 0;

	for (unsigned load = 0, behind = 0;
	     interrupted_at(step, load, behind > 0); moments++) {
		ck_assert_int_eq(stepped_result, result);
		ck_assert_int_eq(stepped_runs, runs);
		load += behind;
		behind = !behind;
	}
	ck_assert_uint_ge(moments, 4);
}

/* Begun just then: it runs once. */
START_TEST(moved_while_it_begins)
{
	interrupted(step_expire, true, 1);
}
END_TEST

/* Cancelled just then: it never runs. */
START_TEST(moved_while_it_is_cancelled)
{
	interrupted(step_cancel, 0, 0);
}
END_TEST

START_TEST(moved_while_it_is_cancelled_and_freed)
{
	interrupted(step_cancel_and_look, 0, 0);
}
END_TEST

/*
 * The driver frees the slot though the lock is held: no entry is made for it.
 */
START_TEST(freed_while_it_gets_an_entry)
{
	for (int behind = 0; behind < 2; behind++) {
		begin_step();
		step_at_mark = step_cancel_and_look;
		step_is_behind = behind;
		ck_assert_int_eq(move_stepped(), 0);
		ck_assert_ptr_null(step_at_mark);
		ck_assert_int_eq(stepped_result, 0);
		ck_assert_uint_eq(entries_of(&engine.pending), 0);
		hand_run(false);
		ck_assert_int_eq(stepped_runs, 0);
		end_step();
	}
}
END_TEST

/*
 * A slot whose tickets have begun again: two entries of its timer have the same
 * one, and are due.  Returns the timer's id.
 */
static uint64_t begin_worn(void)
{
	struct slot *s;
	uint64_t id;

	hand_begin();
	stepped_runs = 0;
	id = bare_schedule(0, far, stepped_callback, NULL);
	s = intake_slot(engine.intake, id);
	atom32_store(&s->ticket, TICKET_WORN - TICKET_STEP);
	ck_assert_int_eq(hand_move(id, -1, false), 0);
	ck_assert_uint_eq(atom32_load(&s->ticket), TICKET_WORN);
	atom32_store(&s->ticket, UINT32_MAX - TICKET_STEP + 1);
	ck_assert_int_eq(hand_move(id, -2, false), 0);
	ck_assert_uint_eq(atom32_load(&s->ticket), TICKET_WORN);
	return id;
}

/* The slot is not used again. */
static void end_worn(uint64_t id, int runs)
{
	uint32_t index = slot_index(id);

	hand_run(true);
	hand_run(true);
	ck_assert_int_eq(stepped_runs, runs);
	ck_assert_int_eq(bare_cancel(id), -ENOENT);
	for (int i = 0; i < 2 * (int)SLOT_FIRST_NUMBER; i++) {
		id = bare_schedule(0, far, never, NULL);
		ck_assert_uint_ne(slot_index(id), index);
		ck_assert_int_eq(bare_cancel(id), 0);
	}
	hand_run(true);
	ck_assert_uint_eq(bare_slots_used(), 1);
	bare_end();
}

START_TEST(worn_runs_once)
{
	end_worn(begin_worn(), 1);
}
END_TEST

START_TEST(worn_and_later)
{
	uint64_t id = begin_worn();

	ck_assert_int_eq(hand_move(id, far + 1, false), 0);
	hand_run(true);
	ck_assert_int_eq(stepped_runs, 0);
	ck_assert_int_eq(hand_move(id, -1, false), 0);
	end_worn(id, 1);
}
END_TEST

START_TEST(worn_and_cancelled)
{
	uint64_t id = begin_worn();

	ck_assert_int_eq(bare_cancel(id), 0);
	end_worn(id, 0);
}
END_TEST

START_TEST(worn_and_disarmed)
{
	uint64_t id = begin_worn();
	struct slot *s = intake_slot(engine.intake, id);

	ck_assert_int_eq(
		bucket_disarm(&engine.intake->bucket[0], s, id, true, NULL), 0);
	hand_run(true);
	ck_assert_int_eq(stepped_runs, 0);
	ck_assert_uint_eq(slot_state(atom32_load(&s->state)), SLOT_UNARMED);
	ck_assert_int_eq(hand_move(id, -1, false), 0);
	end_worn(id, 1);
}
END_TEST

#ifndef FAIL_ALLOC_UNAVAILABLE

/* A move needs no memory: what has no entry any more is unqueued. */
START_TEST(out_of_memory)
{
	enum { N = 1000 };
	static uint64_t ids[N];

	hand_begin();
	for (int i = 0; i < N; i++)
		ids[i] = bare_schedule(0, far + i, stepped_callback, NULL);
	no_block(&engine.intake->pool);
	fail_arm(0, UINT32_MAX);
	for (int i = 0; i < N; i++) {
		int64_t deadline, earlier = i % 2 ? -1 : far - N - i;

		ck_assert_int_eq(hand_move(ids[i], earlier, false), 0);
		ck_assert_int_eq(
			bucket_get_deadline(&engine.intake->bucket[0],
					    intake_slot(engine.intake, ids[i]),
					    ids[i], &deadline),
			0);
		ck_assert_int_eq(deadline, earlier);
	}
	ck_assert_uint_gt(fail_disarm(), 0);
	ck_assert_uint_ne(engine.intake->bucket[0].unqueued.first, 0);
	hand_run(true);
	ck_assert_int_eq(stepped_runs, N / 2);
	for (int i = 0; i < N; i += 2)
		ck_assert_int_eq(hand_move(ids[i], -1, false), 0);
	hand_run(true);
	ck_assert_int_eq(stepped_runs, N);
	bare_end();
}
END_TEST

#endif

int main(void)
{
	const TTest *const tests[] = {
		worn_runs_once,
		worn_and_later,
		worn_and_cancelled,
		worn_and_disarmed,
		to_and_fro_leaves_little,
		later_makes_no_entry,
		random_against_array,
		moved_while_it_begins,
		moved_while_it_is_cancelled,
		moved_while_it_is_cancelled_and_freed,
		freed_while_it_gets_an_entry,
#ifndef FAIL_ALLOC_UNAVAILABLE
		out_of_memory,
#endif
	};

	return RUN_TESTS("moved", tests);
}
