/* SPDX-License-Identifier: MIT */
/*
 * Words of free slots that give their memory back.
 */
#include "config.h"

#include "bare_slots.h"
#include "must.h"
#include "os/memory.h"
#include "store/vacancy.h"

#include <unistd.h>

enum {
	WORDS = 64,
	N = WORDS * SLOT_FIRST_NUMBER,
};

size_t __real_pages_size(void);
size_t __wrap_pages_size(void);

static size_t larger; /* 0: pages are as large as they are */

size_t __wrap_pages_size(void)
{
	return larger > 0 ? larger : __real_pages_size();
}

static struct slots t;
static struct slot *taken[N];
static int n_taken;

/* The slots of the first words are free, and were used once. */
static void begin_full(void)
{
	init(&t, 0, 0);
	for (n_taken = 0; n_taken < N; n_taken++) {
		taken[n_taken] = take(&t);
		arm(taken[n_taken], 0, NULL);
	}
}

static void free_last(void)
{
	struct slot *s = taken[--n_taken];

	finish(s);
	recycle(&t, s);
}

static void free_all(void)
{
	while (n_taken > 0)
		free_last();
}

static void pass_periods(void)
{
	vacancy_next_window(&t);
	vacancy_next_window(&t);
}

/* The word where the driver begins. */
static uint32_t from;

/* From *at on, as the driver does. */
static struct words choose(uint32_t *at)
{
	uint32_t n = (uint32_t)(pages_size() / sizeof(struct slot)) >>
		     SLOT_WORD_LOG2;

	while (*at < t.fresh && t.chosen.n < VACANCY_MOST) {
		struct words page = {*at, n};

		*at += n;
		if (!vacancy_choose(&t, page) && t.chosen.n > 0)
			break;
	}
	return t.chosen;
}

/* Returns how many words were given back, some of them once more. */
static uint32_t give(void)
{
	uint32_t n = 0;

	for (uint32_t at = from; at < t.fresh;) {
		struct words w = choose(&at);
		uint32_t stay;

		if (w.n == 0)
			continue;
		/* Nobody reads there from now on, and nobody takes it. */
		for (uint32_t k = 0; k < w.n; k++)
			must(vacancy_has(&t, w.first + k));
		must(vacancy_next(&t) - w.first >= w.n);
		stay = vacancy_empty(&t, w);
		n += stay == 0 ? w.n : 0;
		vacancy_keep(&t, w, stay);
		slots_check(&t);
	}
	return n;
}

/* It reads as zeros; each slot was used before. */
static bool has_memory(uint32_t word)
{
	const struct slot *s = slots_get(&t, word << SLOT_WORD_LOG2);

	for (uint32_t i = 0; i < SLOT_FIRST_NUMBER; i++) {
		if (atom32_load(&s[i].state) != 0 ||
		    atom32_load(&s[i].ticket) != 0)
			return true;
	}
	return false;
}

static void end(void)
{
	slots_check(&t);
	slots_destroy(&t);
}

START_TEST(not_while_the_peak_is_near)
{
	begin_full();
	pass_periods();
	ck_assert_uint_eq(give(), 0);
	free_all();
	/* The peak was in the window before. */
	vacancy_next_window(&t);
	ck_assert_uint_eq(vacancy_surplus(&t), 0);
	ck_assert_uint_gt(vacancy_surplus_later(&t), 0);
	ck_assert_uint_eq(give(), 0);
	vacancy_next_window(&t);
	ck_assert_uint_gt(vacancy_surplus(&t), 0);
	ck_assert_uint_gt(give(), 0);
	ck_assert_uint_eq(vacancy_surplus(&t), 0);
	ck_assert_uint_eq(slots_words(&t), SLOTS_LEAST);
	end();
}
END_TEST

/* However few there were at its beginning and are at its end. */
START_TEST(a_peak_in_the_middle_of_a_window)
{
	begin_full();
	free_all();
	pass_periods();
	ck_assert_uint_gt(vacancy_surplus(&t), 0);
	for (; n_taken < N / 4; n_taken++) {
		taken[n_taken] = take(&t);
		arm(taken[n_taken], 0, NULL);
	}
	free_all();
	ck_assert_uint_eq(vacancy_surplus(&t), 0);
	vacancy_next_window(&t);
	ck_assert_uint_eq(vacancy_surplus(&t), 0);
	vacancy_next_window(&t);
	ck_assert_uint_gt(vacancy_surplus(&t), 0);
	end();
}
END_TEST

START_TEST(as_many_times_as_were_used)
{
	begin_full();
	/* The peak will be a sixteenth: a quarter stays, and the least. */
	while (n_taken > N / 16)
		free_last();
	pass_periods();
	give();
	ck_assert_uint_eq(slots_words(&t), SLOTS_LEAST + WORDS / 4);
	free_all();
	end();
}
END_TEST

/* What is given back has no memory, and what is used keeps it. */
START_TEST(the_memory_is_gone)
{
	uint32_t last, gone = 0;

	begin_full();
	last = (number_of(&t, taken[N - 1]) >> SLOT_WORD_LOG2) - 1;
	ck_assert(has_memory(last));
	free_all();
	pass_periods();
	give();
	for (uint32_t i = 1; i <= last; i++)
		gone += !has_memory(i);
	ck_assert_uint_eq(gone, t.vacancies - (t.end - t.fresh));
	ck_assert(has_memory(1));
	ck_assert(!has_memory(2));
	end();
}
END_TEST

/* Else it would wear the others. */
static void half_used_up(uint32_t ticket, uint32_t generation)
{
	struct slot *s;
	uint32_t word, first;

	begin_full();
	t.least = 0;
	s = taken[N / 2 + 1];
	word = number_of(&t, s) >> SLOT_WORD_LOG2;
	first = atom32_load(&slots_get(&t, word << SLOT_WORD_LOG2)->ticket);
	atom32_store(&s->ticket, ticket);
	atom32_store(&s->state, generation | SLOT_ARMED);
	free_all();
	pass_periods();
	give();
	ck_assert_uint_gt(vacancy_surplus_later(&t), 0);
	/* It was tried with others, which go without it in the same window. */
	give();
	/* Also words 0 and 1, and the one that slots are taken from. */
	ck_assert_uint_eq(t.vacancies, t.end - 4);
	ck_assert(!vacancy_has(&t, word));
	/* From now on it is no surplus. */
	ck_assert_uint_eq(t.least, 1);
	ck_assert_uint_eq(
		atom32_load(&slots_get(&t, word << SLOT_WORD_LOG2)->ticket),
		first);
	end();
}

/* And the others of its page. */
START_TEST(what_is_half_used_up_keeps_its_page)
{
	struct slot *s;

	larger = 65536;
	begin_full();
	s = taken[N / 2 + 1];
	atom32_store(&s->ticket, TICKET_WORN / 2 + TICKET_STEP);
	free_all();
	pass_periods();
	give();
	give();
	ck_assert_uint_eq(t.least, 2 * SLOTS_LEAST);
	ck_assert_uint_eq(vacancy_surplus_later(&t), 0);
	end();
	larger = 0;
}
END_TEST

/* The highest, of which some words were never used. */
START_TEST(the_last_page_goes)
{
	larger = 65536;
	init(&t, 0, 0);
	for (n_taken = 0; t.word < WORDS / 2 + 3; n_taken++) {
		taken[n_taken] = take(&t);
		arm(taken[n_taken], 0, NULL);
	}
	free_all();
	/* From now on they are taken from another page that could go. */
	for (; t.word / (WORDS / 4) != 1; n_taken++) {
		taken[n_taken] = take(&t);
		arm(taken[n_taken], 0, NULL);
	}
	free_all();
	pass_periods();
	give();
	ck_assert(vacancy_has(&t, WORDS / 2));
	ck_assert_uint_eq(vacancy_surplus_later(&t), 0);
	end();
	larger = 0;
}
END_TEST

START_TEST(what_is_half_used_up_keeps_its_word)
{
	half_used_up(TICKET_WORN / 2 + TICKET_STEP, SLOT_GENERATION);
	half_used_up(TICKET_STEP, UINT32_C(1) << 31);
}
END_TEST

static void fill_one(void)
{
	struct words w = vacancy_take(&t);

	if (w.n == 0)
		return;
	vacancy_fill(&t, w);
	vacancy_add(&t, w);
}

static uint32_t lowest_vacant(void)
{
	uint32_t word = 2;

	while (word < t.end && !vacancy_has(&t, word))
		word++;
	return word;
}

/* Also after some were taken, and lower ones were given back. */
START_TEST(the_lowest_comes_back_first)
{
	begin_full();
	free_all();
	for (int round = 0; round < 3; round++) {
		pass_periods();
		ck_assert_uint_gt(give(), 0);
		for (; t.vacancies > 8; fill_one())
			ck_assert_uint_eq(vacancy_next(&t), lowest_vacant());
		slots_check(&t);
	}
	while (vacancy_next(&t) > 0)
		fill_one();
	ck_assert_uint_eq(t.vacancies, 0);
	end();
}
END_TEST

/* Whoever takes a word or two back has slots then, and need not take all. */
START_TEST(a_few_words_back_are_enough)
{
	begin_full();
	free_all();
	pass_periods();
	ck_assert_uint_gt(give(), 0);
	while (vacancy_next(&t) > 0 && vacancy_next(&t) < t.fresh) {
		while (slots_any(&t))
			arm(slots_take(&t), 0, NULL);
		fill_one();
		if (!slots_any(&t))
			fill_one();
		ck_assert(slots_any(&t));
	}
	end();
}
END_TEST

/* A word with one slot in use is not given back. */
START_TEST(a_timer_keeps_its_word)
{
	static struct slot *stays[WORDS];
	static uint64_t id[WORDS];
	int stay = 0;

	begin_full();
	while (n_taken > 0) {
		if (n_taken % SLOT_FIRST_NUMBER == 5) {
			stays[stay] = taken[--n_taken];
			id[stay] = slot_id(stays[stay],
					   atom32_load(&stays[stay]->state));
			stay++;
		} else {
			free_last();
		}
	}
	pass_periods();
	ck_assert_uint_gt(vacancy_surplus(&t), 0);
	ck_assert_uint_eq(give(), 0);
	for (int i = 0; i < stay; i++)
		ck_assert_int_eq(slot_cancel(stays[i], id[i]), 0);
	end();
}
END_TEST

/*
 * Locked memory stays, and is tried again later; what lies above it goes.  The
 * system call, because under a sanitizer mlock does nothing.
 */
START_TEST(the_system_keeps_it)
{
	void *p;

	begin_full();
	p = slots_get(&t, (WORDS / 2) << SLOT_WORD_LOG2);
	free_all();
	pass_periods();
	from = WORDS / 2;
	if (lock_memory(p, pages_size())) {
		ck_assert_uint_eq(give(), 0);
		ck_assert_uint_eq(vacancy_surplus(&t), 0);
		ck_assert_uint_eq(t.vacancies, t.end - t.fresh);
		pass_periods();
		from++;
		ck_assert_uint_gt(give(), 0);
		ck_assert(!vacancy_has(&t, WORDS / 2));
		ck_assert(unlock_memory(p, pages_size()));
		t.least = 0;
		pass_periods();
		from = 0;
		/* Once more, because a chunk begins there. */
		give();
		give();
		ck_assert(vacancy_has(&t, WORDS / 2));
	}
	end();
}
END_TEST

struct old {
	struct slot *slot;
	uint64_t id;
	struct entry entry;
};

/* No old id cancels, and no old entry counts. */
static void check_old(const struct old *old, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		must(slot_cancel(old[i].slot, old[i].id) == -ENOENT);
		must(!slot_owns(old[i].slot, &old[i].entry));
	}
}

/* Returns the timer's last id and entry; it may get several entries. */
static struct old use(struct slot *s, uint64_t *rng)
{
	struct old old = {s, arm(s, 0, NULL), {0, 0, 0}};

	old.entry = slot_entry(s);
	if (random_below(rng, 2))
		atom32_store(&s->ticket, atom32_load(&s->ticket) + TICKET_STEP);
	return old;
}

/*
 * A page in the middle of what is to go is locked.  Then the system says that
 * it keeps the memory, but has taken what lies before.
 */
START_TEST(the_system_keeps_a_part)
{
	static struct old old[N];
	void *p;

	begin_full();
	for (int i = 0; i < N; i++) {
		struct slot *s = taken[i];
		uint64_t id = slot_id(s, atom32_load(&s->state));

		old[i] = (struct old){s, id, slot_entry(s)};
	}
	free_all();
	pass_periods();
	from = WORDS - VACANCY_MOST;
	p = slots_get(&t, (WORDS - VACANCY_MOST / 2) << SLOT_WORD_LOG2);
	if (lock_memory(p, pages_size())) {
		ck_assert_uint_eq(give(), 0);
	}
	slots_check(&t);
	for (int i = 0; i < N; i++)
		arm(take(&t), 0, NULL);
	check_old(old, N);
	end();
}
END_TEST

/* Sanitizers are slow. */
#ifdef UNDER_SANITIZER
#define ROUNDS 60
#else
#define ROUNDS 300
#endif

START_TEST(old_ids_stay_refused)
{
	enum { OLD = 3000 };
	static struct old old[OLD];
	uint64_t rng = test_seed();
	size_t n_old = 0;
	uint32_t given = 0;

	init(&t, 0, 0);
	t.least = 0;
	for (int round = 0; round < ROUNDS; round++) {
		int peak = (int)random_below(&rng, N);

		for (n_taken = 0; n_taken < peak; n_taken++) {
			struct slot *s;

			while (!slots_any(&t)) {
				fill_one();
				if (!slots_any(&t) && vacancy_next(&t) == 0)
					grow(&t);
			}
			s = taken[n_taken] = slots_take(&t);
			old[random_below(&rng, OLD)] = use(s, &rng);
			n_old = OLD;
		}
		free_all();
		for (size_t i = 0; i < n_old; i++) {
			if (!old[i].slot)
				old[i] = old[0].slot ? old[0] : old[i];
		}
		pass_periods();
		given += give();
		slots_check(&t);
		/* The entry that counted last counts until the next timer. */
		for (size_t i = 0; i < n_old; i++)
			must(!old[i].slot ||
			     slot_cancel(old[i].slot, old[i].id) == -ENOENT);
	}
	ck_assert_uint_gt(given, ROUNDS);
	/* All slots are used once more: then no old entry counts. */
	for (;;) {
		while (vacancy_next(&t) > 0)
			fill_one();
		if (!slots_any(&t))
			break;
		taken[0] = slots_take(&t);
		arm(taken[0], 0, NULL);
	}
	for (size_t i = 0; i < n_old; i++) {
		if (old[i].slot && atom32_load(&old[i].slot->state) != 0)
			check_old(&old[i], 1);
	}
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		not_while_the_peak_is_near,
		a_peak_in_the_middle_of_a_window,
		as_many_times_as_were_used,
		what_is_half_used_up_keeps_its_word,
		what_is_half_used_up_keeps_its_page,
		the_last_page_goes,
		the_memory_is_gone,
		the_lowest_comes_back_first,
		a_few_words_back_are_enough,
		a_timer_keeps_its_word,
		the_system_keeps_it,
		the_system_keeps_a_part,
		old_ids_stay_refused,
	};

	return RUN_TESTS("vacancy", tests);
}
