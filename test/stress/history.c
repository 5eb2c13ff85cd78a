/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Of one account the newest comes first. */
static void insert(struct history *h, const struct event *e)
{
	unsigned i = h->n++;

	for (; i > 0 && h->event[i - 1]->start >= e->start; i--)
		h->event[i] = h->event[i - 1];
	h->event[i] = e;
}

static bool gives_back(const struct event *e)
{
	return e->deed == DRAIN || (event_cancels(e) && e->result == 0);
}

/* What comes from inside is in the last run that started before it. */
static void follow(struct history *h, const struct event *e)
{
	if (e->deed == RUN) {
		h->rearm[h->runs] = NULL;
		h->run[h->runs++] = e;
	} else if (e->deed == MOVE && e->inside && e->result == 0 &&
		   h->runs > 0 && !h->rearm[h->runs - 1]) {
		h->rearm[h->runs - 1] = e;
	}
}

bool history_read(struct history *h, const struct account *a)
{
	h->account = a;
	h->n = h->runs = h->owners = 0;
	for (const struct event *e = a->events; e; e = e->next) {
		if (h->n == MAX_EVENTS)
			return false;
		insert(h, e);
		h->owners += gives_back(e);
	}
	for (unsigned i = 0; i < h->n; i++)
		follow(h, h->event[i]);
	return true;
}

int64_t run_not_before(const struct event *run)
{
	return run->before ? run->before->end : INT64_MIN;
}

int64_t run_over_by(const struct event *run)
{
	return run->behind ? run->behind->start : round_now.thread_over;
}

bool history_surely_over(const struct history *h, int64_t by)
{
	for (unsigned i = 0; i < h->n; i++) {
		if (event_tells_over(h->event[i]) && h->event[i]->end < by)
			return true;
	}
	return false;
}

static bool tells_ending(const struct event *e)
{
	return event_cancels(e) && e->result == 1;
}

bool history_surely_ending(const struct history *h, int64_t by)
{
	for (unsigned i = 0; i < h->n; i++) {
		if (tells_ending(h->event[i]) && h->event[i]->end < by)
			return true;
	}
	return false;
}

bool history_maybe_cancelled(const struct history *h, int64_t by)
{
	for (unsigned i = 0; i < h->n; i++) {
		if (gives_back(h->event[i]) && h->event[i]->start <= by)
			return true;
	}
	return false;
}

bool history_maybe_ending(const struct history *h, int64_t by)
{
	for (unsigned i = 0; i < h->n; i++) {
		if (tells_ending(h->event[i]) && h->event[i]->start <= by)
			return true;
	}
	return false;
}

bool history_surely_begun(const struct history *h, int64_t start, int64_t end)
{
	if (h->account->period)
		return false;
	for (unsigned i = 0; i < h->runs; i++) {
		const struct event *rearm = h->rearm[i];

		if (h->run[i]->start < start && (!rearm || end < rearm->start))
			return true;
	}
	return false;
}

bool history_maybe_begun(const struct history *h, int64_t start, int64_t end)
{
	if (h->account->period)
		return false;
	for (unsigned i = 0; i < h->runs; i++) {
		const struct event *rearm = h->rearm[i];

		if (run_not_before(h->run[i]) <= end &&
		    (!rearm || start <= rearm->end))
			return true;
	}
	return false;
}

/* Not in a run, and not over for having run. */
static bool surely_waits(const struct history *h, int64_t start, int64_t end)
{
	for (unsigned i = 0; i < h->runs; i++) {
		bool again = h->account->period || h->rearm[i];

		if (run_not_before(h->run[i]) <= end &&
		    (!again || run_over_by(h->run[i]) >= start))
			return false;
	}
	return true;
}

bool history_surely_pending(const struct history *h, int64_t start, int64_t end)
{
	return h->account->end < start && surely_waits(h, start, end) &&
	       !history_maybe_cancelled(h, end) &&
	       !history_maybe_ending(h, end);
}

static void show_event(const struct event *e, int64_t zero)
{
	static const char *const names[] = {
		[RUN] = "run",
		[MOVE] = "reschedule",
		[GET_DEADLINE] = "get_deadline",
		[GET_NEXT] = "get_next_deadline",
		[CANCEL] = "cancel",
		[CANCEL_WAIT] = "cancel_wait",
		[CANCEL_TAKE] = "cancel_take",
		[DRAIN] = "drain",
	};

	fprintf(stderr,
		"  %12" PRId64 " to %12" PRId64 " %s%s, value %" PRId64
		", high %" PRId64 ": %d\n",
		e->start - zero, e->end - zero, names[e->deed],
		e->inside        ? " (inside)"
		: e->by_callback ? " (in another)"
				 : "",
		e->value, e->high, e->result);
	if (e->deed == RUN)
		fprintf(stderr, "  %12" PRId64 " at the earliest\n",
			run_not_before(e) == INT64_MIN
				? 0
				: run_not_before(e) - zero);
}

void complain(const struct history *h, const struct event *e, const char *why)
{
	const struct account *a = h->account;

	fprintf(stderr,
		"stress: %s (TT_SEED=%" PRIu64 ", round %u, %s, %u runners)\n",
		why, round_now.seed, round_now.number, round_now.driver,
		round_now.runners);
	fprintf(stderr,
		"timer %" PRIx64 ", period %" PRId64 ", runs %u, scheduled "
		"in %" PRId64 " ns for %" PRId64 " to %" PRId64 ": %d\n",
		a->id, a->period, a->runs, a->end - a->start, a->low, a->high,
		a->result);
	for (unsigned i = 0; i < h->n; i++) {
		if (h->event[i] == e)
			fputs("this one:\n", stderr);
		show_event(h->event[i], a->start);
	}
	abort();
}
