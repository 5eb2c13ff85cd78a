/* SPDX-License-Identifier: MIT */
/*
 * The slots of a bucket: which one is taken, and how the table grows.
 */
#include "bare_slots.h"

#include <sys/mman.h>

START_TEST(looks_up_any_number)
{
	struct slots t;

	init(&t, 0, 0);
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
	ck_assert_uint_eq(t.used, 1000 - SLOT_FIRST_NUMBER);
	ck_assert_ptr_null(slots_at(&t, t.end << SLOT_WORD_LOG2));
	ck_assert_ptr_nonnull(slots_at(&t, (t.end << SLOT_WORD_LOG2) - 1));
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

START_TEST(chunk_that_comes_late)
{
	struct slots t;
	void *late;

	init(&t, 0, 0);
	late = slots_chunk_alloc(0);
	add_chunk(&t);
	ck_assert(!slots_add_chunk(&t, 0, late));
	slots_chunk_free(0, late);
	ck_assert_uint_eq(slots_words(&t), 1);
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

START_TEST(limit)
{
	struct slots t;
	uint32_t index = 0;

	init(&t, 1023, 10);
	while (slots_next_chunk(&t) >= 0)
		add_chunk(&t);
	ck_assert_uint_gt(room(&t), 4000000);
	ck_assert_uint_eq(t.end, UINT32_C(1) << 16);
	ck_assert_ptr_nonnull(slots_at(&t, (t.end << SLOT_WORD_LOG2) - 1));
	ck_assert_ptr_null(slots_at(&t, t.end << SLOT_WORD_LOG2));
	/* As if all but those of the last word were taken. */
	t.enough = (uint32_t)room(&t);
	t.fresh = t.end - 1;
	t.used = (t.end - 2) << SLOT_WORD_LOG2;
	*t.at = 0;
	*slots_word(&t, t.fresh) = UINT64_MAX;
	for (uint32_t i = 0; i < SLOT_FIRST_NUMBER; i++) {
		ck_assert(slots_any(&t));
		index = slots_take(&t)->index;
	}
	ck_assert_uint_eq(index, UINT32_MAX);
	ck_assert(!slots_any(&t));
	slots_destroy(&t);

	for (uint32_t shift = 0; shift <= 10; shift++) {
		init(&t, 0, shift);
		t.end = UINT32_C(1) << 15;
		ck_assert_int_eq(slots_next_chunk(&t), 15);
		t.end = UINT32_C(1) << (SLOT_CHUNKS - 1);
		ck_assert_int_eq(slots_next_chunk(&t), -1);
		slots_destroy(&t);
	}
}
END_TEST

/* Memory is touched not long before it is needed. */
START_TEST(touched_when_all_are_used)
{
	struct slots t;

	init(&t, 0, 0);
	ck_assert_uint_eq(vacancy_next(&t), 0);
	while (room(&t) < 10000)
		add_chunk(&t);
	ck_assert_uint_eq(slots_words(&t), 1);
	for (unsigned i = 0; i < 8000; i++) {
		ck_assert_uint_eq(number_of(&t, take(&t)),
				  SLOT_FIRST_NUMBER + i);
		ck_assert_uint_eq(slots_words(&t), i / 64 + 1);
		ck_assert_uint_eq(vacancy_next(&t), i / 64 + 2);
	}
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

/* Two were added, and then a slot became free elsewhere. */
START_TEST(a_word_that_was_never_used_is_found)
{
	struct slot *s = NULL;
	struct slots t;

	init(&t, 0, 0);
	for (int i = 0; i < 100 * (int)SLOT_FIRST_NUMBER; i++)
		s = take_dead(&t);
	ck_assert(!slots_any(&t));
	grow(&t);
	grow(&t);
	for (unsigned i = 0; i < SLOT_FIRST_NUMBER; i++) {
		ck_assert(slots_any(&t));
		take_dead(&t);
	}
	recycle(&t, s);
	ck_assert(slots_any(&t));
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

/* Those that were used and are free again: a few are left, as long as it is. */
START_TEST(a_few_are_left_free)
{
	/* Far from the end of a chunk. */
	enum { N = 6400 };
	static struct slot *all[N];
	struct slots t;
	size_t n = 0;

	init(&t, 0, 0);
	for (int i = 0; i < N; i++)
		all[i] = take_dead(&t);
	ck_assert_uint_gt(vacancy_next(&t), 0);
	while (slots_any(&t))
		take_dead(&t);
	for (int i = 0; i < N; i += 4)
		recycle(&t, all[i]);
	for (; slots_any(&t); n++)
		take_dead(&t);
	ck_assert_uint_gt(n, N / 16);
	ck_assert_uint_lt(t.used, N - N / 16);
	fill_all(&t);
	while (slots_any(&t))
		take_dead(&t);
	ck_assert_uint_eq(t.used, room(&t));
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

/*
 * Two threads have a vacant word each, and the one that took the second adds it
 * first; meanwhile a slot of another word comes back, and is taken.
 */
START_TEST(vacant_words_come_in_another_order)
{
	struct words first, second;
	struct slot *s = NULL;
	struct slots t;

	init(&t, 0, 0);
	for (unsigned i = 0; i < SLOT_FIRST_NUMBER; i++)
		s = take_dead(&t);
	while (room(&t) < 4 * SLOT_FIRST_NUMBER)
		add_chunk(&t);
	first = vacancy_take(&t);
	second = vacancy_take(&t);
	ck_assert_uint_lt(first.first, second.first);
	vacancy_fill(&t, second);
	vacancy_add(&t, second);
	recycle(&t, s);
	ck_assert_ptr_eq(take_dead(&t), s);
	for (unsigned i = 0; i < SLOT_FIRST_NUMBER && slots_any(&t); i++)
		ck_assert_uint_eq(number_of(&t, take_dead(&t)) >>
					  SLOT_WORD_LOG2,
				  second.first);
	vacancy_fill(&t, first);
	vacancy_add(&t, first);
	while (t.used < 3 * SLOT_FIRST_NUMBER)
		take_dead(&t);
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

/* All that there are can be taken, whatever came back and how. */
START_TEST(full)
{
	enum { N = 64 + 128 + 256 };
	static struct slot *all[N];
	struct slot_batch back = {0};
	struct slots t;

	init(&t, 3, 2);
	for (int i = 0; i < N; i++)
		all[i] = take_dead(&t);
	ck_assert_uint_eq(room(&t), N);
	fill_all(&t);
	/* So that all may be taken. */
	t.enough = N;
	for (int n = 0; n < N; n += 1 + n / 4) {
		ck_assert(!slots_any(&t));
		ck_assert_uint_eq(t.used, N);
		for (int i = 0; i < n; i += 2)
			recycle(&t, all[(i * 5 + n) % N]);
		for (int i = 1; i < n; i += 2) {
			if (add_dead(&back, all[(i * 5 + n) % N]))
				slots_add_free(&t, &back);
		}
		slots_add_free(&t, &back);
		ck_assert_uint_eq(t.used, N - n);
		slots_check(&t);
		for (int i = 0; i < n; i++) {
			ck_assert(slots_any(&t));
			take_dead(&t);
		}
		ck_assert_uint_eq(room(&t), N);
	}
	slots_check(&t);
	slots_destroy(&t);
}
END_TEST

enum way { RECYCLE, BATCH };

static void give_back(struct slots *t, struct slot *s, enum way way)
{
	struct slot_batch back = {0};

	if (way == RECYCLE) {
		recycle(t, s);
		return;
	}
	add_dead(&back, s);
	slots_add_free(t, &back);
}

/* Slots in flight, the oldest of which goes for each that comes. */
struct window {
	struct slot *ring[2048];
	uint32_t size;
	uint32_t next;
};

static void open_window(struct slots *t, struct window *w, uint32_t size)
{
	w->size = size;
	w->next = 0;
	for (uint32_t i = 0; i < size; i++)
		w->ring[i] = take_dead(t);
}

static struct slot *roll(struct slots *t, struct window *w, enum way way)
{
	struct slot **s = &w->ring[w->next++ % w->size];

	give_back(t, *s, way);
	*s = take_dead(t);
	return *s;
}

/* How often the next slot is more than a word away. */
static int count_jumps(struct slots *t, struct window *w, int steps,
		       enum way way)
{
	uint32_t last = number_of(t, roll(t, w, way));
	int jumps = 0;

	for (int i = 1; i < steps; i++) {
		uint32_t number = number_of(t, roll(t, w, way));

		jumps += number > last + SLOT_FIRST_NUMBER ||
			 number + SLOT_FIRST_NUMBER < last;
		last = number;
	}
	return jumps;
}

/* In laps, which are about as long as there are slots in flight. */
START_TEST(in_the_order_of_addresses)
{
	enum { STEPS = 50000 };
	static const uint32_t sizes[] = {300, 1000, 2000};
	static struct window w;

	for (int i = 0; i < 6; i++) {
		uint32_t size = sizes[i / 2];
		struct slots t;

		init(&t, 0, 0);
		open_window(&t, &w, size);
		ck_assert_int_le(
			count_jumps(&t, &w, STEPS, i % 2 ? BATCH : RECYCLE),
			2 * STEPS / (int)size);
		/* And no more of them than that. */
		ck_assert_uint_le(t.fresh, size / SLOT_FIRST_NUMBER + 4);
		slots_check(&t);
		slots_destroy(&t);
	}
}
END_TEST

/* Some that live for long hold up neither. */
START_TEST(among_others_that_live_for_long)
{
	enum { LONG = 300, SIZE = 500, STEPS = 50000 };
	static struct window w;
	struct slots t;

	for (int i = 0; i < 2; i++) {
		init(&t, 0, 0);
		for (int j = 0; j < LONG; j++)
			take(&t);
		open_window(&t, &w, SIZE);
		ck_assert_int_le(
			count_jumps(&t, &w, STEPS, i % 2 ? BATCH : RECYCLE),
			4 * STEPS / SIZE);
		ck_assert_uint_le(t.fresh,
				  2 * (LONG + SIZE) / SLOT_FIRST_NUMBER + 8);
		slots_check(&t);
		slots_destroy(&t);
	}
}
END_TEST

static void shuffle(struct slot **s, size_t n, uint64_t *rng)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(rng, i);
		struct slot *t = s[i - 1];

		s[i - 1] = s[k];
		s[k] = t;
	}
}

/* As many as one peak has taken, all free again. */
static void rise_and_fall(struct slots *t, bool in_order, enum way way)
{
	enum { PEAK = 20000 };
	static struct slot *peak[PEAK];
	uint64_t rng = test_seed();

	for (int i = 0; i < PEAK; i++)
		peak[i] = take_dead(t);
	if (!in_order)
		shuffle(peak, PEAK, &rng);
	for (int i = 0; i < PEAK; i++)
		give_back(t, peak[i], way);
	ck_assert_uint_eq(t->used, 0);
}

static size_t count_touched(struct slots *t, struct window *w, enum way way)
{
	enum { STEPS = 20000 };
	static bool touched[1 << 16];
	size_t n = 0;

	memset(touched, 0, sizeof(touched));
	for (int i = 0; i < STEPS; i++) {
		uint32_t number = number_of(t, roll(t, w, way));

		n += !touched[number];
		touched[number] = true;
	}
	return n;
}

START_TEST(few_are_touched_after_a_peak)
{
	static const uint32_t sizes[] = {1, 10, 200, 500, 1000};
	static struct window w;

	for (int i = 0; i < 20; i++) {
		enum way way = i & 1 ? BATCH : RECYCLE;
		uint32_t size = sizes[i / 4];
		struct slots t;

		init(&t, 0, 0);
		rise_and_fall(&t, i & 2, way);
		open_window(&t, &w, size);
		ck_assert_uint_le(count_touched(&t, &w, way),
				  size + 4 * SLOT_FIRST_NUMBER);
		slots_check(&t);
		slots_destroy(&t);
	}
}
END_TEST

/*
 * Any order, against a model: which are taken, by number.
 */
enum { MODEL_MAX = 300 };

struct lives {
	struct slots t;
	struct slot_batch back;
	uint64_t ids[MODEL_MAX];
	size_t n;
	bool taken[1024];
};

static void live_one(struct lives *l, int64_t deadline)
{
	struct slot *s;
	bool room_left = room(&l->t) > l->n + l->back.n;

	ck_assert_uint_eq(l->t.used, l->n + l->back.n);
	ck_assert(!slots_any(&l->t) || room_left);
	ck_assert(slots_any(&l->t) || !room_left || vacancy_next(&l->t));
	s = take(&l->t);
	ck_assert_uint_eq(s->index & 3, 2);
	ck_assert_ptr_eq(slots_of(&l->t, s->index), s);
	ck_assert(!l->taken[number_of(&l->t, s)]);
	l->taken[number_of(&l->t, s)] = true;
	l->ids[l->n] = arm(s, deadline, &l->t);
	for (size_t i = 0; i < l->n; i++)
		ck_assert_uint_ne(l->ids[i], l->ids[l->n]);
	l->n++;
}

static void die_one(struct lives *l, size_t i, bool cancelled)
{
	uint64_t id = l->ids[i];
	struct slot *s = slots_of(&l->t, slot_index(id));

	l->taken[number_of(&l->t, s)] = false;
	if (cancelled) {
		ck_assert_int_eq(slot_cancel(s, id), 0);
		recycle(&l->t, s);
	} else {
		ck_assert(begin(s));
		ck_assert_ptr_eq(slot_arg(s), &l->t);
		finish(s);
		if (add_dead(&l->back, s))
			slots_add_free(&l->t, &l->back);
	}
	ck_assert_int_eq(slot_cancel(s, id), -ENOENT);
	l->n--;
	memmove(&l->ids[i], &l->ids[i + 1], (l->n - i) * sizeof(l->ids[0]));
}

/* The oldest, the youngest, or any. */
static size_t which(const struct lives *l, int step, uint64_t *rng)
{
	switch (step / 2000 % 3) {
	case 0:
		return 0;
	case 1:
		return l->n - 1;
	default:
		return random_below(rng, l->n);
	}
}

START_TEST(random_lives)
{
	enum { STEPS = 30000 };
	static struct lives l;
	uint64_t rng = test_seed();

	init(&l.t, 2, 2);
	for (int step = 0; step < STEPS; step++) {
		uint64_t dice = random_below(&rng, 100);

		if (l.n < MODEL_MAX && (l.n == 0 || dice < 50))
			live_one(&l, step);
		else
			die_one(&l, which(&l, step, &rng), dice < 80);
		if (dice >= 95)
			slots_add_free(&l.t, &l.back);
		slots_check(&l.t);
	}
	slots_add_free(&l.t, &l.back);
	ck_assert_uint_eq(l.back.n, 0);
	ck_assert_uint_eq(l.t.used, l.n);
	slots_check(&l.t);
	ck_assert_uint_le(room(&l.t), 4 * MODEL_MAX);
	slots_destroy(&l.t);
}
END_TEST

/*
 * After a peak: half of the table is vacant.  The bits of vacant words cannot
 * be read here.
 */
START_TEST(vacant_words_are_passed)
{
	enum { WORDS = 8192 };
	struct slot *s = NULL;
	struct slots t;
	void *bits;

	init(&t, 0, 0);
	for (int i = 0; i < 10 * (int)SLOT_FIRST_NUMBER; i++)
		s = take_dead(&t);
	while (t.end < 2 * WORDS)
		add_chunk(&t);
	while (vacancy_next(&t) < WORDS)
		grow(&t);
	t.fresh = t.end;
	for (uint32_t i = 1; i < WORDS; i++)
		*slots_word(&t, i) = 0;
	t.used = (uint32_t)slots_room(&t);
	recycle(&t, s);
	t.last = 1;
	bits = slots_word(&t, WORDS);
	ck_assert_int_eq(mprotect(bits, WORDS * sizeof(uint64_t), PROT_NONE),
			 0);
	/* Behind the word that slots are taken from, and from the first on. */
	t.word = 20;
	t.at = slots_word(&t, 20);
	ck_assert_ptr_eq(slots_take(&t), s);
	slots_destroy(&t);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		looks_up_any_number,
		chunk_that_comes_late,
		limit,
		touched_when_all_are_used,
		a_word_that_was_never_used_is_found,
		a_few_are_left_free,
		vacant_words_come_in_another_order,
		full,
		in_the_order_of_addresses,
		among_others_that_live_for_long,
		few_are_touched_after_a_peak,
		vacant_words_are_passed,
		random_lives,
	};

	return RUN_TESTS("slots", tests);
}
