/* SPDX-License-Identifier: MIT */
/*
 * bench-structure [--quick | --rounds N]: what pending timers are held in,
 * alone: entries are added to a bucket's lanes, and come out in the order in
 * which they are due.  All of them refer to one timer that is never over, so
 * that what a timer's own memory costs is left out.  The yardstick is the heap
 * alone.  A million are due in each second, in no order.
 */
#include "config.h"

#include "bench.h"
#include "engine/turn.h"
#include "intake/collect.h"
#include "intake/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct engine engine;
static struct entry always; /* of a timer that is never over */

static void ignore(void *arg)
{
	(void)arg;
}

/* Takes what the bucket got, and keeps the entry. */
static struct entry fetch_entry(void)
{
	struct entry e;
	struct visit v;

	visit_begin(&v, INT64_MAX, 0);
	bucket_collect(&engine.intake->bucket[0], &engine.wakeup, &v);
	e = v.cursor.row[0].block->entry[0];
	block_free(v.cursor.row[0].block);
	return e;
}

static void set_up(void)
{
	const struct timer t = {INT64_MAX - 1, 0, ignore, NULL, 0};
	uint64_t id;

	engine_init(&engine, NULL);
	engine.watch = WATCH_VIRTUAL(0);
	check(engine_open(&engine, 1, 0, false), "engine_open");
	intake_set_open(engine.intake, true);
	intake_use(engine.intake, &engine.intake->bucket[0]);
	check(bucket_schedule(&engine.intake->bucket[0], &engine.wakeup, &t,
			      &id),
	      "bucket_schedule");
	always = fetch_entry();
}

/* n entries, in no order, in blocks. */
static struct block *make_entries(size_t n)
{
	struct block *chain = NULL, *b = NULL;
	uint64_t rng = 88172645463325252u;

	for (size_t i = 0; i < n; i++) {
		struct entry e = always;

		e.deadline = (int64_t)(next_random(&rng) % (n * BENCH_US));
		if (!b || b->n == BLOCK_ENTRIES) {
			b = block_pool_take(&engine.intake->pool);
			if (!b)
				check(-ENOMEM, "block_pool_take");
			b->n = 0;
			block_push(&chain, b);
		}
		b->entry[b->n++] = e;
	}
	return chain;
}

struct costs {
	double add, run; /* nanoseconds of CPU an entry */
};

static void check_order(int64_t *last, int64_t deadline)
{
	if (deadline < *last)
		check(-EPROTO, "the order");
	*last = deadline;
}

static void add_all(struct block *chain)
{
	struct block *b;

	while ((b = block_pop(&chain)) != NULL) {
		if (bucket_put(&engine.intake->bucket[0], &engine.wakeup,
			       b->entry, b->n) > 0)
			check(-ENOMEM, "bucket_put");
		block_free(b);
	}
}

static struct costs measure_pending(size_t n)
{
	struct block *chain = make_entries(n);
	int64_t last = INT64_MIN, start, added, end;

	watch_set(&engine.watch, 0);
	engine.intake->bucket[0].base = 0;
	start = process_cpu_ns();
	add_all(chain);
	added = process_cpu_ns();
	for (size_t ran = 0; ran < n; ran++) {
		int64_t next = engine_next(&engine, INT64_MAX);

		watch_set(&engine.watch, next);
		check_order(&last, next);
		pending_take(&engine.pending);
	}
	end = process_cpu_ns();
	return (struct costs){(double)(added - start) / (double)n,
			      (double)(end - added) / (double)n};
}

static struct costs measure_heap(size_t n)
{
	struct block *chain = make_entries(n), *b;
	int64_t last = INT64_MIN, start, added, end;
	struct heap h = {0};

	start = process_cpu_ns();
	while ((b = block_pop(&chain)) != NULL) {
		for (uint32_t i = 0; i < b->n; i++) {
			if (!heap_make_room(&h))
				check(-ENOMEM, "heap_make_room");
			heap_push(&h, b->entry[i]);
		}
		block_free(b);
	}
	added = process_cpu_ns();
	while (h.n > 0) {
		check_order(&last, heap_at(&h, 0)->deadline);
		heap_pop(&h);
	}
	end = process_cpu_ns();
	heap_destroy(&h);
	return (struct costs){(double)(added - start) / (double)n,
			      (double)(end - added) / (double)n};
}

static double with(size_t n, int rounds, double *ret_heap)
{
	struct series add = {.n = 0}, run = {.n = 0}, heap_add = {.n = 0},
		      heap_run = {.n = 0}, both = {.n = 0}, heap = {.n = 0};

	for (int i = 0; i < rounds; i++) {
		struct costs p = measure_pending(n), h = measure_heap(n);

		series_add(&add, p.add);
		series_add(&run, p.run);
		series_add(&both, p.add + p.run);
		series_add(&heap_add, h.add);
		series_add(&heap_run, h.run);
		series_add(&heap, h.add + h.run);
	}
	printf(" %zu entries\n", n);
	print_series("add", &add, "ns CPU");
	print_series("run", &run, "ns CPU");
	print_series("heap alone: add", &heap_add, "ns CPU");
	print_series("heap alone: run", &heap_run, "ns CPU");
	fflush(stdout);
	*ret_heap = series_median(&heap);
	return series_median(&both);
}

/* Ten times the rounds with few, which take little time. */
static void compare_all(int rounds)
{
	double few, many, heap;

	few = with(10000, rounds * 10 > BENCH_MAX ? BENCH_MAX : rounds * 10,
		   &heap);
	with(100000, rounds, &heap);
	with(1000000, rounds, &heap);
	many = with(10000000, rounds, &heap);
	print_figure("10,000,000 / 10,000: add + run", many / few, "x", 2);
	print_figure("heap alone / this, with 10,000,000", heap / many, "x",
		     BENCH_NO_TARGET);
}

int main(int argc, char **argv)
{
	bool quick = argc == 2 && !strcmp(argv[1], "--quick");
	int rounds =
		argc == 3 && !strcmp(argv[1], "--rounds") ? atoi(argv[2]) : 5;
	double heap;

	if (rounds < 1 || rounds > BENCH_MAX || (argc == 2 && !quick) ||
	    argc > 3) {
		fprintf(stderr,
			"usage: bench-structure [--quick | --rounds N]\n");
		return 2;
	}
	set_up();
	printf("structure: what timers are kept in, alone\n");
	if (quick)
		with(10000, rounds, &heap);
	else
		compare_all(rounds);
	engine_close(&engine, false);
	return 0;
}
