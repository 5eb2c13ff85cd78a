/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "census.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_TIMERS = MAX_ACCOUNTS * (MAX_WORKERS + MAX_RUNNERS) };

/* From this time on there are so many more. */
struct change {
	int64_t time;
	int by;
};

struct changes {
	struct change of[2 * MAX_TIMERS];
	size_t n;
};

/* Timers that there surely were, and those that there may have been. */
static struct changes sure, possible;
static const struct account *timers[MAX_TIMERS];
static size_t timers_n;
static const struct account *refused[MAX_TIMERS];
static size_t refused_n;

void census_begin(void)
{
	sure.n = possible.n = timers_n = refused_n = 0;
}

static void add(struct changes *c, int64_t from, int64_t to)
{
	if (from > to)
		return;
	c->of[c->n++] = (struct change){from, 1};
	c->of[c->n++] = (struct change){to, -1};
}

/* When its place may have been given back; the stop changes nothing. */
static int64_t first_give(const struct history *h)
{
	int64_t first = INT64_MAX;

	if (h->owners == 0)
		return h->run[h->runs - 1]->end;
	for (unsigned i = 0; i < h->n; i++) {
		const struct event *e = h->event[i];

		if ((e->deed == DRAIN || event_cancels(e)) && e->result == 0)
			first = e->start;
	}
	return first;
}

/* By when it was given back: who sees that it is over can count on that. */
static int64_t last_give(const struct history *h)
{
	int64_t last = INT64_MAX;

	if (h->owners == 0)
		last = run_over_by(h->run[h->runs - 1]);
	for (unsigned i = 0; i < h->n; i++) {
		const struct event *e = h->event[i];

		if (event_tells_over(e) && (e->result == 0 || h->owners == 0) &&
		    e->end < last)
			last = e->end;
	}
	return last;
}

void census_add(const struct history *h)
{
	const struct account *a = h->account;

	timers[timers_n++] = a;
	if (round_now.cap == 0)
		return;
	add(&sure, a->end, first_give(h));
	add(&possible, a->start, last_give(h));
}

void census_add_refused(const struct account *a)
{
	if (round_now.cap == 0)
		return;
	if (a->result == -EAGAIN)
		refused[refused_n++] = a;
	else
		add(&possible, a->start, a->end);
}

static _Noreturn void complain_of(const struct account *a, const char *why)
{
	static struct history h;

	history_read(&h, a);
	complain(&h, NULL, why);
}

static int by_id(const void *a, const void *b)
{
	timerthread_id x = (*(const struct account *const *)a)->id;
	timerthread_id y = (*(const struct account *const *)b)->id;

	return (x > y) - (x < y);
}

static void check_ids(void)
{
	qsort(timers, timers_n, sizeof(timers[0]), by_id);
	for (size_t i = 1; i < timers_n; i++) {
		if (timers[i]->id == timers[i - 1]->id)
			complain_of(timers[i], "another had the same id");
	}
}

/* The fewest at any time, and the most, where times are the same. */
static int fewest_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

static int most_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->time != y->time ? fewest_first(a, b) : fewest_first(b, a);
}

static void check_never_more(void)
{
	long n = 0;

	qsort(sure.of, sure.n, sizeof(sure.of[0]), fewest_first);
	for (size_t i = 0; i < sure.n; i++) {
		n += sure.of[i].by;
		if (n > (long)round_now.cap)
			complain_of(timers[0], "more timers than the cap");
	}
}

/* The first change at this time or later. */
static size_t find(const struct changes *c, int64_t time)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->of[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* count[i]: how many there were before change i. */
static void check_refused(const struct account *a, const int *count)
{
	size_t i = find(&possible, a->start);
	long n = count[i];

	for (; i < possible.n && possible.of[i].time <= a->end; i++) {
		if (n >= (long)round_now.cap)
			return;
		n += possible.of[i].by;
	}
	if (n < (long)round_now.cap)
		complain_of(a, "refused although there were fewer timers");
}

static void check_all_refused(void)
{
	static int count[2 * MAX_TIMERS + 1];

	qsort(possible.of, possible.n, sizeof(possible.of[0]), most_first);
	for (size_t i = 0; i < possible.n; i++)
		count[i + 1] = count[i] + possible.of[i].by;
	for (size_t i = 0; i < refused_n; i++)
		check_refused(refused[i], count);
}

void census_end(void)
{
	if (round_now.cap > 0) {
		check_never_more();
		check_all_refused();
	}
	check_ids();
}
