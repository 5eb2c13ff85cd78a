/* SPDX-License-Identifier: MIT */
/*
 * bench-structure [--rounds N]: what the driver holds pending timers in,
 * alone: entries are added, and come out in the order in which they are due.
 * All of them refer to one timer that is never over, so that what a timer's own
 * memory costs is left out.  The yardstick is the heap alone.  A million are
 * due in each second.
 */
#include "config.h"

#include "bench.h"
#include "pending/pending.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wakeup wakeup;
static struct intake *intake;
static struct entry always; /* of a timer that is never over */

static void ignore(void *arg)
{
	(void)arg;
}

/* Takes what the bucket got, and keeps the entry. */
static struct entry fetch_entry(void)
{
	struct block *spares = NULL;
	struct slot *rearmed;
	struct chain c = bucket_collect(&intake->bucket[0], &spares, &rearmed);
	struct entry e = c.first->entry[0];

	block_free_all(c.first);
	block_free_all(spares);
	return e;
}

static void set_up(void)
{
	const struct timer t = {INT64_MAX, 0, ignore, NULL};
	uint64_t id;

	wakeup_init(&wakeup);
	intake = intake_create(1);
	if (!intake)
		check(-ENOMEM, "intake_create");
	intake_open(intake);
	check(bucket_schedule(&intake->bucket[0], &wakeup, &t, &id),
	      "bucket_schedule");
	always = fetch_entry();
}

/* n entries, in no order. */
static struct chain make_entries(size_t n)
{
	struct chain c = {NULL, INT64_MAX};
	uint64_t rng = 88172645463325252u;
	struct block *b = NULL;

	for (size_t i = 0; i < n; i++) {
		struct entry e = always;

		e.deadline = (int64_t)(next_random(&rng) % (n * BENCH_US));
		if (!b || b->n == BLOCK_ENTRIES) {
			b = block_alloc();
			if (!b)
				check(-ENOMEM, "block_alloc");
			b->n = 0;
			b->nearest = INT64_MAX;
			block_push(&c.first, b);
		}
		b->entry[b->n++] = e;
		b->nearest = e.deadline < b->nearest ? e.deadline : b->nearest;
		c.nearest = b->nearest < c.nearest ? b->nearest : c.nearest;
	}
	return c;
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

static struct costs measure_pending(size_t n)
{
	struct chain c = make_entries(n);
	int64_t last = INT64_MIN, deadline, start, added;
	static struct pending p;
	size_t ran = 0;

	if (!pending_init(&p, intake))
		check(-ENOMEM, "pending_init");
	start = process_cpu_ns();
	pending_prepare(&p, 0);
	pending_add(&p, c);
	while (pending_file_block(&p))
		;
	added = process_cpu_ns();
	while (ran < n) {
		enum pending_next found = pending_next(&p, &deadline);

		if (found == PENDING_FAR) {
			pending_open(&p);
		} else if (found == PENDING_FIRST) {
			check_order(&last, pending_take(&p).deadline);
			ran++;
		}
	}
	deadline = process_cpu_ns();
	pending_destroy(&p);
	return (struct costs){(double)(added - start) / (double)n,
			      (double)(deadline - added) / (double)n};
}

static struct costs measure_heap(size_t n)
{
	struct chain c = make_entries(n);
	int64_t last = INT64_MIN, start, added, end;
	struct block *b;
	struct heap h;

	heap_init(&h);
	start = process_cpu_ns();
	while ((b = block_pop(&c.first)) != NULL) {
		for (uint32_t i = 0; i < b->n; i++) {
			if (!heap_make_room(&h))
				check(-ENOMEM, "heap_make_room");
			heap_push(&h, b->entry[i]);
		}
		b->next = NULL;
		block_free_all(b);
	}
	added = process_cpu_ns();
	while (h.n > 0) {
		check_order(&last, heap_at(&h, 0)->deadline);
		heap_remove(&h, 0);
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

int main(int argc, char **argv)
{
	int rounds =
		argc > 2 && !strcmp(argv[1], "--rounds") ? atoi(argv[2]) : 5;
	double few, many = 0, heap;

	if (rounds < 1 || rounds > BENCH_MAX || (argc > 1 && argc != 3)) {
		fprintf(stderr, "usage: bench-structure [--rounds N]\n");
		return 2;
	}
	set_up();
	printf("structure: what the timer thread keeps timers in, alone\n");
	few = with(10000, rounds * 10 > BENCH_MAX ? BENCH_MAX : rounds * 10,
		   &heap);
	with(100000, rounds, &heap);
	with(1000000, rounds, &heap);
	many = with(10000000, rounds, &heap);
	print_figure("10,000,000 / 10,000: add + run", many / few, "x", 2);
	print_figure("heap alone / this, with 10,000,000", heap / many, "x",
		     BENCH_NO_TARGET);
	intake_destroy(intake);
	return 0;
}
