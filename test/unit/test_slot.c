/* SPDX-License-Identifier: MIT */
/*
 * The states of a slot, and its generations.
 */
#include "bare_slots.h"

START_TEST(one_life)
{
	struct slots t;
	struct slot *s;
	uint64_t id, next;

	init(&t, 5, 4);
	s = take(&t);
	id = arm(s, 7, &t);
	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(slot_index(id) & 15, 5);
	ck_assert_ptr_eq(slots_of(&t, slot_index(id)), s);
	ck_assert(!slot_is_dead(atom32_load(&s->state)));
	ck_assert(begin(s));
	ck_assert(!begin(s));
	ck_assert_int_eq(cancel_slot(s, id), 1);
	ck_assert_int_eq(cancel_slot(s, id), 1);
	finish(s);
	ck_assert(slot_is_dead(atom32_load(&s->state)));
	ck_assert_int_eq(cancel_slot(s, id), -ENOENT);
	recycle(&t, s);
	ck_assert_int_eq(cancel_slot(s, id), -ENOENT);

	ck_assert_ptr_eq(take(&t), s);
	next = arm(s, 7, &t);
	ck_assert_uint_ne(next, id);
	ck_assert_int_eq(cancel_slot(s, id), -ENOENT);
	ck_assert_int_eq(cancel_slot(s, next), 0);
	ck_assert_int_eq(cancel_slot(s, next), -ENOENT);
	ck_assert(!begin(s));
	ck_assert(slot_is_dead(atom32_load(&s->state)));
	slots_destroy(&t);
}
END_TEST

/* A stale id, while a later timer in its slot runs. */
START_TEST(stale_id_of_a_running_slot)
{
	uint64_t stale, running;
	struct slots t;
	struct slot *s;

	init(&t, 0, 0);
	s = take(&t);
	stale = arm(s, 0, NULL);
	ck_assert_int_eq(cancel_slot(s, stale), 0);
	recycle(&t, s);
	ck_assert_ptr_eq(take(&t), s);
	running = arm(s, 0, NULL);
	ck_assert(begin(s));
	ck_assert_int_eq(cancel_slot(s, stale), -ENOENT);
	ck_assert_int_eq(cancel_slot(s, running), 1);
	slots_destroy(&t);
}
END_TEST

/* The entry may be due later than the timer's deadline says. */
START_TEST(entry_and_deadline)
{
	struct slots t;
	struct slot *s;

	init(&t, 0, 0);
	s = take(&t);
	arm_slot(s, &(struct timer){-7, 0, fn, NULL, 0}, 1000);
	ck_assert_int_eq(s->deadline, -7);
	ck_assert_int_eq(slot_entry(s).deadline, 1000);
	ck_assert_uint_eq(slot_entry(s).index, s->index);
	ck_assert(begin(s));
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

	init(&t, 0, 0);
	s = take(&t);
	id = arm(s, 1, NULL);
	first = slot_entry(s);
	ck_assert(slot_owns(s, &first));
	ck_assert_int_eq(cancel_slot(s, id), 0);
	recycle(&t, s);
	ck_assert_ptr_eq(take(&t), s);
	id = arm(s, 1, NULL);
	second = slot_entry(s);
	ck_assert(!slot_owns(s, &first));
	ck_assert(slot_owns(s, &second));
	ck_assert(!slot_hand_over(s, &first));
	ck_assert(!slot_is_handed_over(s));
	ck_assert(slot_hand_over(s, &second));
	ck_assert(slot_is_handed_over(s));
	ck_assert(slot_begin(s));
	finish(s);
	recycle(&t, s);

	ck_assert_ptr_eq(take(&t), s);
	arm_slot(s, &(struct timer){1, 7, fn, NULL, 0}, 1);
	first = slot_entry(s);
	ck_assert(first.ticket & TICKET_REPEATS);
	ck_assert(!slot_owns(s, &second));
	ck_assert(slot_hand_over(s, &first));
	ck_assert(!slot_begin(s));
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
		{SLOT_MOVED, SLOT_DEAD, 0},
		{SLOT_RUNNING, SLOT_ENDING, 1},
		{SLOT_REPEATING, SLOT_ENDING, 1},
		{SLOT_ENDING, SLOT_ENDING, 1},
		{SLOT_DEAD, SLOT_DEAD, -ENOENT},
		{SLOT_DISARMED, SLOT_DEAD, 0},
	};
	struct slots t;
	struct slot *s;
	uint64_t id;

	init(&t, 0, 0);
	s = take(&t);
	id = arm(s, 0, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t word = slot_in(slot_word(id), cases[i].from);
		uint32_t other = word + SLOT_GENERATION;

		atom32_store(&s->state, word);
		ck_assert_int_eq(cancel_slot(s, id), cases[i].r);
		ck_assert_int_eq(slot_state(atom32_load(&s->state)),
				 cases[i].to);
		ck_assert(slot_id(s, atom32_load(&s->state)) == id);
		atom32_store(&s->state, other);
		ck_assert_int_eq(cancel_slot(s, id), -ENOENT);
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

	init(&t, 0, 0);
	grow(&t);
	for (uint64_t word = 0; word < 64; word++) {
		for (uint32_t i = 0; i < room(&t); i++) {
			uint32_t number = SLOT_FIRST_NUMBER + i;
			int r = cancel_slot(slots_at(&t, number),
					    word << 32 | number);

			ck_assert_int_eq(r, -ENOENT);
		}
	}
	s = take(&t);
	id = arm(s, 0, NULL);
	for (uint64_t word = 0; word < 64; word++) {
		uint64_t made_up = word << 32 | slot_index(id);

		if (made_up != id)
			ck_assert_int_eq(cancel_slot(s, made_up), -ENOENT);
	}
	ck_assert_int_eq(cancel_slot(s, id), 0);
	slots_destroy(&t);
}
END_TEST

START_TEST(generations_run_out)
{
	const uint32_t last = ~SLOT_STATE_MASK;
	struct slots t;
	struct slot *s, *other;
	uint64_t id;

	init(&t, 0, 0);
	s = take(&t);
	atom32_store(&s->state, last | SLOT_FREE);
	id = arm(s, 0, NULL);
	ck_assert_int_eq(cancel_slot(s, id), 0);
	recycle(&t, s);
	ck_assert_int_eq(cancel_slot(s, id), -ENOENT);
	for (uint64_t word = 0; word < 64; word++)
		ck_assert_int_eq(cancel_slot(s, word << 32), -ENOENT);
	while (slots_any(&t)) {
		other = slots_take(&t);
		ck_assert_ptr_ne(other, s);
	}
	ck_assert_uint_eq(t.used, room(&t));
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

/* The same if the driver frees it. */
START_TEST(generations_run_out_in_a_batch)
{
	const uint32_t last = ~SLOT_STATE_MASK;
	struct slot_batch back = {.n = 0};
	struct slots t;
	struct slot *s;

	init(&t, 0, 0);
	s = take(&t);
	atom32_store(&s->state, last | SLOT_FREE);
	ck_assert_int_eq(cancel_slot(s, arm(s, 0, NULL)), 0);
	ck_assert(!add_dead(&back, s));
	slots_add_free(&t, &back);
	while (slots_any(&t))
		ck_assert_ptr_ne(slots_take(&t), s);
	ck_assert_uint_eq(t.used, room(&t));
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		one_life,
		stale_id_of_a_running_slot,
		entry_and_deadline,
		stale_entries,
		what_a_cancel_does,
		made_up_words,
		generations_run_out,
		generations_run_out_in_a_batch,
	};

	return RUN_TESTS("slot", tests);
}
