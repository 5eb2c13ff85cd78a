/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "deadlines.h"

struct setter {
	/* It was set between these two. */
	int64_t start;
	int64_t end;
	/* To low, low + step, and so on, up to high. */
	int64_t low;
	int64_t high;
	int64_t step;
};

struct setters {
	struct setter of[MAX_EVENTS + 1];
	unsigned n;
};

static void add(struct setters *s, struct setter one)
{
	s->of[s->n++] = one;
}

/* The schedule call was over when the timer began to run, as for setting. */
static void add_schedule(struct setters *s, const struct history *h)
{
	const struct account *a = h->account;
	int64_t end = a->end;

	if (h->runs > 0 && h->run[0]->start < end)
		end = h->run[0]->start;
	add(s, (struct setter){a->start, end, a->low, a->high, 1});
}

static void add_moves(struct setters *s, const struct history *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct event *e = h->event[i];

		if (e->deed == MOVE && e->result == 0)
			add(s, (struct setter){e->start, e->end, e->value,
					       e->high, 1});
	}
}

/* What was set behind another one's end, and surely before this time, counts */
static int64_t latest_start(const struct setters *s, int64_t before)
{
	int64_t latest = INT64_MIN;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->of[i].end < before && s->of[i].start > latest)
			latest = s->of[i].start;
	}
	return latest;
}

/* Which may hold at some time from start to end: the next behind from. */
static const struct setter *next(const struct setters *s,
				 const struct setter *from, int64_t start,
				 int64_t end)
{
	int64_t latest = latest_start(s, start);
	const struct setter *one = from ? from + 1 : s->of;

	for (; one < s->of + s->n; one++) {
		if (one->start <= end && one->end >= latest)
			return one;
	}
	return NULL;
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The overrun says which of those that the step may have set it has set. */
static void check_overrun(const struct history *h, const struct event *run,
			  const struct setter *least, struct setter *s)
{
	uint64_t late = (uint64_t)run->value - (uint64_t)least->low;
	uint64_t period = (uint64_t)h->account->period;
	uint64_t skipped = (uint64_t)run->high;
	int64_t set;

	if (skipped > late / period)
		complain(h, run, "more were skipped than had passed");
	set = plus((int64_t)((uint64_t)least->low + skipped * period),
		   (int64_t)period);
	if (set < s->low)
		complain(h, run, "more had passed than were skipped");
	s->low = s->high = set;
}

/* The deadlines are multiples of the step apart if they come from one. */
static struct setter step(const struct history *h, const struct event *run,
			  const struct setter *least, bool only)
{
	int64_t period = h->account->period;
	int64_t passed = run->before ? run->before->value : INT64_MIN;
	bool exact = only && least->low == least->high;
	struct setter s = {
		.start = run_not_before(run),
		.end = run->start,
		.low = plus(least->low, period),
		.high = plus(run->value, period),
		.step = exact ? period : 1,
	};

	/* Those that had passed when the run began are skipped. */
	if (s.low <= passed) {
		uint64_t gap = (uint64_t)passed - (uint64_t)s.low;
		uint64_t skip = gap / (uint64_t)s.step + 1;

		s.low = plus((int64_t)((uint64_t)s.low +
				       (skip - 1) * (uint64_t)s.step),
			     s.step);
	}
	if (exact)
		check_overrun(h, run, least, &s);
	return s;
}

/*
 * A timer that does not repeat cannot be moved from when it has begun until it
 * is armed again: what was set before its callback counts.  One that repeats
 * can: what was set since the callback before may be for the next run.
 */
static void check_run(struct setters *s, const struct history *h,
		      const struct event *run)
{
	bool repeats = h->account->period != 0;
	int64_t start = repeats ? run_not_before(run) : run->start;
	const struct setter *one = NULL, *least = NULL;
	unsigned n = 0;

	while ((one = next(s, one, start, run->start)) != NULL) {
		n++;
		if (!least || one->low < least->low)
			least = one;
	}
	if (!least || run->value < least->low)
		complain(h, run, "a callback ran before its deadline");
	if (repeats)
		add(s, step(h, run, least, n == 1));
}

static bool may_be(const struct setter *one, int64_t deadline)
{
	return one->low <= deadline && deadline <= one->high &&
	       ((uint64_t)deadline - (uint64_t)one->low) %
			       (uint64_t)one->step ==
		       0;
}

static void check_seen(const struct setters *s, const struct history *h,
		       const struct event *e)
{
	const struct setter *one = NULL;

	while ((one = next(s, one, e->start, e->end)) != NULL) {
		if (may_be(one, e->value))
			return;
	}
	complain(h, e, "this deadline was never set, or no more");
}

/*
 * What is handed over to an executor comes back to the driver only when it is
 * called, also if it was moved to a later time.
 */
static void check_next(const struct setters *s, const struct history *h,
		       const struct event *e)
{
	const struct setter *one = NULL;
	int64_t latest = INT64_MIN;

	if (round_now.executor || !history_surely_pending(h, e->start, e->end))
		return;
	while ((one = next(s, one, e->start, e->end)) != NULL)
		latest = one->high > latest ? one->high : latest;
	if (latest > e->high && e->value > latest)
		complain(h, e, "it is due before the next deadline");
}

/* e: seen after the stop. */
static void check_left(const struct setters *s, const struct history *h,
		       const struct event *e)
{
	int64_t settled = h->account->end;

	for (unsigned i = 0; i < s->n; i++)
		settled = s->of[i].end > settled ? s->of[i].end : settled;
	if (h->runs > 0 && h->run[h->runs - 1]->end > settled)
		settled = h->run[h->runs - 1]->end;
	if (settled < round_now.last_start &&
	    e->value < round_now.last_deadline)
		complain(h, e, "due before the last timer ran, and left");
}

void check_deadlines(const struct history *h)
{
	struct setters s = {.n = 0};

	add_schedule(&s, h);
	add_moves(&s, h);
	for (unsigned i = 0; i < h->runs; i++)
		check_run(&s, h, h->run[i]);
	for (unsigned i = 0; i < h->n; i++) {
		const struct event *e = h->event[i];

		if (e->deed == GET_NEXT && e->result == 0)
			check_next(&s, h, e);
		if (e->deed != GET_DEADLINE || e->result != 0)
			continue;
		check_seen(&s, h, e);
		if (e->start > round_now.thread_over)
			check_left(&s, h, e);
	}
}
