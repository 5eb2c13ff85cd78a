/* SPDX-License-Identifier: MIT */
/*
 * With a reserve, the driver's heap is searched for entries that are no longer
 * of use before it takes memory: which entry is found, and when it is searched
 * again.
 */
#include "config.h"

#include "bare_pending.h"

enum { N = 1000, RESERVE = 2 * N, MANY = 5 * N };

static void begin(void)
{
	begin_pending(1);
	ck_assert(pending_reserve(&pending, N));
}

static void file_block(struct block *b)
{
	for (size_t i = 0; i < b->n; i++)
		pending_file(&pending, b->entry[i], NOW);
	b->next = NULL;
	block_free_all(b);
}

/* A timer that is near: all of the bucket's entries go to the heap. */
static uint64_t file(void)
{
	static int64_t deadline = NOW;
	struct bucket *b = &intake->bucket[0];
	struct visit v;
	uint64_t id = 0;
	bool more;

	deadline = NOW + 1 + (deadline + 1) % N;
	must(bucket_schedule(b, &wakeup,
			     &(struct timer){deadline, 0, nothing, NULL, NOW},
			     &id) == 0);
	visit_begin(&v, INT64_MAX, NOW);
	do {
		more = bucket_collect(b, &wakeup, &v);
		for (uint32_t i = 0; i < v.cursor.taken; i++)
			file_block(v.cursor.row[i].block);
	} while (more);
	return id;
}

static void file_up_to(size_t n)
{
	while (pending.heap.n < n)
		file();
}

/* Ends the timer of the entry at i. */
static void cancel_at(size_t i)
{
	const struct entry *e = heap_at(&pending.heap, i);
	struct slot *s = intake_slot_of(intake, e);

	must(slot_cancel(s, slot_id(s, atom32_load(&s->state))) == 0);
}

static void cancel_all(void)
{
	for (size_t i = 0; i < pending.heap.n; i++)
		cancel_at(i);
}

/* The only entry that is of no use, wherever the search begins. */
START_TEST(the_only_one_is_found)
{
	size_t from;

	begin();
	file_up_to(RESERVE);
	for (from = 0; from <= RESERVE; from++) {
		pending.purged = from;
		/* It is the last that is looked at. */
		cancel_at((from + RESERVE - 1) % RESERVE);
		file();
		ck_assert_uint_eq(pending.heap.n, RESERVE);
		ck_assert_uint_eq(pending.purge_at, RESERVE);
	}
	end_pending();
}
END_TEST

/* It is not searched before it is needed, nor longer than it must be. */
START_TEST(one_at_a_time)
{
	begin();
	file_up_to(RESERVE);
	cancel_all();
	ck_assert_uint_eq(pending.purged, 0);
	for (size_t i = 1; i <= N; i++) {
		file();
		ck_assert_uint_eq(pending.heap.n, RESERVE);
		ck_assert_uint_le(pending.purged, i + N);
	}
	end_pending();
}
END_TEST

/*
 * If there are more timers than the reserve is for, the heap grows without a
 * search until it is twice as large.  When it has become smaller, the reserve
 * counts again; and so each time.
 */
START_TEST(beyond_the_reserve_and_back)
{
	size_t kept;

	begin();
	kept = pending.heap.size;
	for (int round = 0; round < 3; round++) {
		file_up_to(RESERVE + 1);
		ck_assert_uint_eq(pending.purge_at, 2 * RESERVE);
		file_up_to(2 * RESERVE);
		ck_assert_uint_eq(pending.purge_at, 2 * RESERVE);
		file_up_to(2 * RESERVE + 1);
		ck_assert_uint_eq(pending.purge_at, 4 * RESERVE);
		while (pending.heap.n > RESERVE)
			pending_take(&pending);
		pending_tidy(&pending, now());
		ck_assert_uint_eq(pending.purge_at, 4 * RESERVE);
		pending_take(&pending);
		pending_tidy(&pending, now());
		ck_assert_uint_eq(pending.purge_at, RESERVE);
		/* No chunk is added for what is of no use. */
		for (int i = 0; i < MANY; i++) {
			cancel_at(pending.heap.n - 1);
			file();
			ck_assert_uint_le(pending.heap.n, RESERVE);
		}
		while (pending.heap.n > 0)
			pending_take(&pending);
		ck_assert_uint_eq(pending.heap.size, kept);
	}
	end_pending();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_only_one_is_found,
		one_at_a_time,
		beyond_the_reserve_and_back,
	};

	return RUN_TESTS("purge", tests);
}
