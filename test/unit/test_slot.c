/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "intake/slot.h"

#include <errno.h>

static void fn(void *arg)
{
	(void)arg;
}

static void grow(struct slots *t)
{
	int chunk = slots_next_chunk(t);

	ck_assert_int_ge(chunk, 0);
	ck_assert(slots_add_chunk(t, chunk, slots_chunk_alloc(chunk)));
}

static uint64_t arm(struct slot *s, int64_t deadline, void *arg)
{
	return slot_arm(s, &(struct timer){deadline, 0, fn, arg});
}

/* As if the entry that slot_arm made had come up. */
static bool begin(struct slot *s)
{
	const struct entry e = slot_entry(s);

	return slot_begin(s, &e);
}

static void finish(struct slot *s)
{
	uint32_t word = atom32_load(&s->state);

	ck_assert(slot_change(s, &word, SLOT_DEAD));
}

static struct slot *take(struct slots *t)
{
	if (!slots_any(t))
		grow(t);
	return slots_take(t);
}

START_TEST(looks_up_any_number)
{
	struct slots t;

	slots_init(&t, 0, 0);
	ck_assert(!slots_any(&t));
	for (uint32_t i = 0; i < 32; i++) {
		ck_assert_ptr_null(slots_at(&t, UINT32_C(1) << i));
		ck_assert_ptr_null(slots_at(&t, UINT32_MAX - i));
	}
	for (uint32_t i = 0; i < SLOT_FIRST_NUMBER; i++)
		ck_assert_ptr_null(slots_at(&t, i));
	for (uint32_t i = SLOT_FIRST_NUMBER; i < 1000; i++) {
		struct slot *s = take(&t);

		ck_assert_uint_eq((uintptr_t)s % TT_CACHE_LINE, 0);
		ck_assert_ptr_eq(slots_at(&t, i), s);
	}
	ck_assert_ptr_null(slots_at(&t, t.end));
	ck_assert_ptr_nonnull(slots_at(&t, t.end - 1));
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

START_TEST(one_life)
{
	struct slots t;
	struct slot *s;
	uint64_t id, next;

	slots_init(&t, 5, 4);
	s = take(&t);
	id = arm(s, 7, &t);
	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(slot_index(id) & 15, 5);
	ck_assert_ptr_eq(slots_of(&t, slot_index(id)), s);
	ck_assert(!slot_is_dead(s));
	ck_assert(begin(s));
	ck_assert(!begin(s));
	ck_assert_int_eq(slot_cancel(s, id), 1);
	ck_assert_int_eq(slot_cancel(s, id), 1);
	finish(s);
	ck_assert(slot_is_dead(s));
	ck_assert_int_eq(slot_cancel(s, id), -ENOENT);
	slots_recycle(&t, s);
	ck_assert_int_eq(slot_cancel(s, id), -ENOENT);

	ck_assert_ptr_eq(take(&t), s);
	next = arm(s, 7, &t);
	ck_assert_uint_ne(next, id);
	ck_assert_int_eq(slot_cancel(s, id), -ENOENT);
	ck_assert_int_eq(slot_cancel(s, next), 0);
	ck_assert_int_eq(slot_cancel(s, next), -ENOENT);
	ck_assert(!begin(s));
	ck_assert(slot_is_dead(s));
	slots_destroy(&t);
}
END_TEST

/* A stale id, while a later timer in its slot runs. */
START_TEST(stale_id_of_a_running_slot)
{
	uint64_t stale, running;
	struct slots t;
	struct slot *s;

	slots_init(&t, 0, 0);
	s = take(&t);
	stale = arm(s, 0, NULL);
	ck_assert_int_eq(slot_cancel(s, stale), 0);
	slots_recycle(&t, s);
	ck_assert_ptr_eq(take(&t), s);
	running = arm(s, 0, NULL);
	ck_assert(begin(s));
	ck_assert_int_eq(slot_cancel(s, stale), -ENOENT);
	ck_assert_int_eq(slot_cancel(s, running), 1);
	slots_destroy(&t);
}
END_TEST

/* Of the entries that a slot has had, the last one counts. */
START_TEST(stale_entries)
{
	struct entry first, second;
	struct slots t;
	struct slot *s;
	uint64_t id;

	slots_init(&t, 0, 0);
	s = take(&t);
	id = arm(s, 1, NULL);
	first = slot_entry(s);
	ck_assert(slot_owns(s, &first));
	ck_assert_int_eq(slot_cancel(s, id), 0);
	slots_recycle(&t, s);
	ck_assert_ptr_eq(take(&t), s);
	id = arm(s, 1, NULL);
	second = slot_entry(s);
	ck_assert(!slot_owns(s, &first));
	ck_assert(slot_owns(s, &second));
	ck_assert(!slot_begin(s, &first));
	ck_assert(slot_begin(s, &second));
	finish(s);
	slots_recycle(&t, s);

	ck_assert_ptr_eq(take(&t), s);
	slot_arm(s, &(struct timer){1, 7, fn, NULL});
	first = slot_entry(s);
	ck_assert(first.ticket & TICKET_REPEATS);
	ck_assert(!slot_owns(s, &second));
	ck_assert(!slot_begin(s, &first));
	slots_destroy(&t);
}
END_TEST

START_TEST(what_a_cancel_does)
{
	static const struct {
		enum slot_state from, to;
		int r;
	} cases[] = {
		{SLOT_FREE, SLOT_FREE, -ENOENT},
		{SLOT_ARMED, SLOT_DEAD, 0},
		{SLOT_MOVED, SLOT_DEAD_MOVED, 0},
		{SLOT_RUNNING, SLOT_ENDING, 1},
		{SLOT_REPEATING, SLOT_ENDING, 1},
		{SLOT_ENDING, SLOT_ENDING, 1},
		{SLOT_DEAD, SLOT_DEAD, -ENOENT},
		{SLOT_DEAD_MOVED, SLOT_DEAD_MOVED, -ENOENT},
	};
	struct slots t;
	struct slot *s;
	uint64_t id;

	slots_init(&t, 0, 0);
	s = take(&t);
	id = arm(s, 0, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t word = slot_in(slot_word(id), cases[i].from);
		uint32_t other = word + SLOT_GENERATION;

		atom32_store(&s->state, word);
		ck_assert_int_eq(slot_cancel(s, id), cases[i].r);
		ck_assert_int_eq(slot_state(atom32_load(&s->state)),
				 cases[i].to);
		ck_assert(slot_id(s, atom32_load(&s->state)) == id);
		atom32_store(&s->state, other);
		ck_assert_int_eq(slot_cancel(s, id), -ENOENT);
		ck_assert_uint_eq(atom32_load(&s->state), other);
	}
	slots_destroy(&t);
}
END_TEST

/* Whatever the high half of a made-up id says, it finds nothing. */
START_TEST(made_up_words)
{
	struct slots t;
	struct slot *s;
	uint64_t id;

	slots_init(&t, 0, 0);
	grow(&t);
	for (uint64_t word = 0; word < 64; word++) {
		for (uint32_t i = SLOT_FIRST_NUMBER; i < t.end; i++) {
			int r = slot_cancel(slots_at(&t, i), word << 32 | i);

			ck_assert_int_eq(r, -ENOENT);
		}
	}
	s = take(&t);
	id = arm(s, 0, NULL);
	for (uint64_t word = 0; word < 64; word++) {
		uint64_t made_up = word << 32 | slot_index(id);

		if (made_up != id)
			ck_assert_int_eq(slot_cancel(s, made_up), -ENOENT);
	}
	ck_assert_int_eq(slot_cancel(s, id), 0);
	slots_destroy(&t);
}
END_TEST

START_TEST(generations_run_out)
{
	const uint32_t last = ~SLOT_STATE_MASK;
	struct slots t;
	struct slot *s, *other;
	uint64_t id;

	slots_init(&t, 0, 0);
	s = take(&t);
	atom32_store(&s->state, last | SLOT_FREE);
	id = arm(s, 0, NULL);
	ck_assert_int_eq(slot_cancel(s, id), 0);
	slots_recycle(&t, s);
	ck_assert_int_eq(slot_cancel(s, id), -ENOENT);
	for (uint64_t word = 0; word < 64; word++)
		ck_assert_int_eq(slot_cancel(s, word << 32), -ENOENT);
	while (slots_any(&t)) {
		other = slots_take(&t);
		ck_assert_ptr_ne(other, s);
	}
	slots_destroy(&t);
}
END_TEST

START_TEST(chunk_that_comes_late)
{
	struct slots t;
	void *late;

	slots_init(&t, 0, 0);
	late = slots_chunk_alloc(0);
	grow(&t);
	ck_assert(!slots_add_chunk(&t, 0, late));
	free(late);
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

START_TEST(limit)
{
	struct slots t;

	slots_init(&t, 1023, 10);
	while (slots_next_chunk(&t) >= 0)
		grow(&t);
	ck_assert_uint_gt(t.end - SLOT_FIRST_NUMBER, 4000000);
	ck_assert_uint_eq(t.end, UINT32_C(1) << 22);
	ck_assert_ptr_nonnull(slots_at(&t, t.end - 1));
	ck_assert_ptr_null(slots_at(&t, t.end));
	t.fresh = t.end - 1;
	ck_assert_uint_eq(slots_take(&t)->index, UINT32_MAX);
	ck_assert(!slots_any(&t));
	slots_destroy(&t);

	for (uint32_t shift = 0; shift <= 10; shift++) {
		slots_init(&t, 0, shift);
		ck_assert_int_ge(slots_max_chunks(&t), 16);
		ck_assert_int_lt(slots_max_chunks(&t), SLOT_CHUNKS);
		slots_destroy(&t);
	}
}
END_TEST

START_TEST(random_lives)
{
	enum { STEPS = 20000, MAX = 300 };
	uint64_t rng = test_seed(), ids[MAX];
	struct slot_list back = {NULL, NULL, 0};
	struct slots t;
	size_t n = 0;

	slots_init(&t, 2, 2);
	for (int step = 0; step < STEPS; step++) {
		uint64_t dice = random_below(&rng, 100);

		if (n < MAX && (n == 0 || dice < 50)) {
			ids[n] = arm(take(&t), step, &t);
			for (size_t i = 0; i < n; i++)
				ck_assert_uint_ne(ids[i], ids[n]);
			n++;
		} else {
			size_t i = random_below(&rng, n);
			uint64_t id = ids[i];
			struct slot *s = slots_of(&t, slot_index(id));

			if (dice < 80) {
				ck_assert_int_eq(slot_cancel(s, id), 0);
				slots_recycle(&t, s);
			} else {
				ck_assert(begin(s));
				ck_assert_ptr_eq(slot_arg(s), &t);
				finish(s);
				slot_list_add(&back, s);
			}
			ck_assert_int_eq(slot_cancel(s, id), -ENOENT);
			ids[i] = ids[--n];
		}
		if (dice == 99)
			slots_add_free(&t, &back);
		slots_check(&t);
	}
	slots_add_free(&t, &back);
	ck_assert_uint_eq(back.n, 0);
	slots_check(&t);
	ck_assert_uint_le(t.end, 4 * MAX);
	slots_destroy(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		looks_up_any_number,
		one_life,
		stale_id_of_a_running_slot,
		stale_entries,
		what_a_cancel_does,
		made_up_words,
		generations_run_out,
		chunk_that_comes_late,
		limit,
		random_lives,
	};

	return RUN_TESTS("slot", tests);
}
