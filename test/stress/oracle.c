/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "oracle.h"

#include "census.h"
#include "deadlines.h"
#include "history.h"

#include <errno.h>
#include <stddef.h>

/* The callbacks of a timer. */
static void check_runs(const struct history *h)
{
	for (unsigned i = 0; i < h->runs; i++) {
		const struct event *run = h->run[i];

		if (run->result == -2)
			complain(h, run, "it is told of another run");
		if (run->result != 0)
			complain(h, run, "two callbacks at the same time");
		if (!h->account->period && run->high != 0)
			complain(h, run, "an overrun, and it runs once");
		if (i == 0)
			continue;
		if (run->start < h->run[i - 1]->end)
			complain(h, run, "it ran twice at the same time");
		if (!h->account->period && !h->rearm[i - 1])
			complain(h, run, "it ran twice for one arming");
	}
	if (h->runs > 0 && h->run[h->runs - 1]->end > round_now.thread_over)
		complain(h, NULL, "it ran after the stop");
	if (h->runs != h->account->runs)
		complain(h, NULL, "a callback that left no trace");
}

/* Whoever learned that the timer is over must find it so. */
static void check_over(const struct history *h, const struct event *e)
{
	if (h->runs > 0 && h->run[h->runs - 1]->end > e->end)
		complain(h, e, "it ran, or was running, when it was over");
	if ((unsigned)e->value != h->runs)
		complain(h, e, "what the callback wrote could not be seen");
}

/* 1: it was running, for the last time. */
static void check_ending(const struct history *h, const struct event *e)
{
	const struct event *last = h->runs > 0 ? h->run[h->runs - 1] : NULL;

	if (!last || run_not_before(last) > e->end ||
	    run_over_by(last) < e->start)
		complain(h, e, "cancel says it was running, and it was not");
	if (h->runs > 1 && h->run[h->runs - 2]->end > e->end)
		complain(h, e, "it ran again after the run it was ended in");
	if (e->by_callback && !e->inside && round_now.runners == 1)
		complain(h, e, "another callback cannot have been running");
	if (history_surely_over(h, e->start))
		complain(h, e, "it was over before");
}

/* -ENOENT from a cancel: it had been cancelled, or run for the last time. */
static void check_missing(const struct history *h, const struct event *e)
{
	if (e->inside)
		complain(h, e, "cancel does not find the timer it runs in");
	if (h->owners == 0 && h->runs > 0)
		return; /* check_over sees that this was all */
	if (!history_maybe_cancelled(h, e->end))
		complain(h, e, "cancel does not find a timer that is there");
}

static void check_cancel(const struct history *h, const struct event *e)
{
	bool wait = e->deed == CANCEL_WAIT;

	if (wait && e->inside) {
		if (e->result != -EDEADLK)
			complain(h, e, "it cannot wait for itself");
		return;
	}
	if (event_tells_over(e))
		check_over(h, e);
	switch (e->result) {
	case 0:
		if (e->inside || history_surely_ending(h, e->start))
			complain(h, e, "cancelled although it was running");
		if (e->start > round_now.drained_by)
			complain(h, e, "the drain has left it behind");
		break;
	case 1:
		check_ending(h, e);
		break;
	case -ENOENT:
		check_missing(h, e);
		break;
	case -1:
		complain(h, e, "that is not the argument of this timer");
	default:
		complain(h, e, "cancel must not return this");
	}
}

/* What a move or a look at the deadline may return for this timer. */
static void check_found(const struct history *h, const struct event *e)
{
	bool moves_inside = e->deed == MOVE && e->inside;

	if (e->result == 0) {
		if (history_surely_over(h, e->start) ||
		    history_surely_ending(h, e->start))
			complain(h, e, "the timer was cancelled before");
		if (!moves_inside && history_surely_begun(h, e->start, e->end))
			complain(h, e, "the callback had begun before");
		return;
	}
	if (history_maybe_cancelled(h, e->end) ||
	    history_maybe_ending(h, e->end))
		return;
	if (moves_inside || !history_maybe_begun(h, e->start, e->end))
		complain(h, e, "it does not find a timer that is there");
}

static void check_move(const struct history *h, const struct event *e)
{
	switch (e->result) {
	case 0:
		if (e->start > round_now.shut_end)
			complain(h, e, "moved after the stop");
		check_found(h, e);
		break;
	case -ENOENT:
		check_found(h, e);
		break;
	case -ESHUTDOWN:
		if (e->end < round_now.shut_start)
			complain(h, e, "-ESHUTDOWN before the stop");
		break;
	default:
		complain(h, e, "reschedule must not return this");
	}
}

/* Whether it is too late, see deadlines.h. */
static void check_next(const struct history *h, const struct event *e)
{
	switch (e->result) {
	case 0:
		if (e->start > round_now.shut_end)
			complain(h, e, "a next deadline after the stop");
		break;
	case -1:
		complain(h, e, "the next deadline is over");
	case -ESHUTDOWN:
		if (e->end < round_now.shut_start)
			complain(h, e, "-ESHUTDOWN before the stop");
		break;
	default:
		complain(h, e, "get_next_deadline must not return this");
	}
}

static void check_event(const struct history *h, const struct event *e)
{
	switch (e->deed) {
	case RUN:
		break;
	case MOVE:
		check_move(h, e);
		break;
	case GET_DEADLINE:
		if (e->result != 0 && e->result != -ENOENT)
			complain(h, e, "get_deadline must not return this");
		check_found(h, e);
		break;
	case GET_NEXT:
		check_next(h, e);
		break;
	case CANCEL:
	case CANCEL_WAIT:
	case CANCEL_TAKE:
		check_cancel(h, e);
		break;
	case DRAIN:
		if (e->result != 0)
			complain(h, e, "drain handed back something else");
		check_over(h, e);
		break;
	}
}

/* Each drain takes back all that is pending. */
static void check_drains(const struct history *h, const struct actor *actor)
{
	for (unsigned i = 0; i < actor->drains; i++) {
		if (history_surely_pending(h, actor->drain[i].start,
					   actor->drain[i].end))
			complain(h, NULL, "a drain has overlooked it");
	}
}

/*
 * At the end each timer was cancelled by somebody who got a 0, or drained, or
 * has run for the last time; exactly one of the three.
 */
static void check_outcome(const struct history *h)
{
	const struct event *last = h->runs > 0 ? h->run[h->runs - 1] : NULL;
	bool ended = history_maybe_ending(h, INT64_MAX);
	bool runs_again =
		h->runs == 0 || h->account->period || h->rearm[h->runs - 1];

	if (h->owners > 1)
		complain(h, NULL, "it was handed back twice");
	if (h->owners == 1 && (ended || !runs_again))
		complain(h, last, "it had its last run, and was handed back");
	if (h->owners == 0 && !ended && runs_again)
		complain(h, last, "it was lost");
}

static void check_schedule(const struct history *h)
{
	const struct account *a = h->account;

	if (a->result == 0 && a->id == 0)
		complain(h, NULL, "0 names no timer");
	if (a->result == 0 && a->start > round_now.shut_end)
		complain(h, NULL, "scheduled after the stop");
	if (a->result == -ESHUTDOWN && a->end < round_now.shut_start)
		complain(h, NULL, "-ESHUTDOWN before the stop");
	if (a->result != 0 && a->result != -ESHUTDOWN &&
	    (a->result != -EAGAIN || round_now.cap == 0))
		complain(h, NULL, "schedule must not return this");
	if (a->result != 0 && h->n > 0)
		complain(h, h->event[0], "there is no such timer");
}

static void count(struct totals *t, const struct history *h)
{
	t->timers += h->account->result == 0;
	t->refused += h->account->result == -EAGAIN;
	t->runs += h->runs;
	for (unsigned i = 0; i < h->n; i++) {
		const struct event *e = h->event[i];
		bool cancel = event_cancels(e);

		t->moved += e->deed == MOVE && e->result == 0;
		t->cancelled += cancel && e->result == 0;
		t->ending += cancel && e->result == 1;
		t->waited += e->deed == CANCEL_WAIT && e->result == 1;
		t->drained += e->deed == DRAIN;
	}
}

static void judge(const struct account *a, struct totals *totals)
{
	static struct history h;

	if (!history_read(&h, a))
		complain(&h, NULL, "more events than there is room for");
	check_schedule(&h);
	count(totals, &h);
	if (a->result != 0) {
		census_add_refused(a);
		return;
	}
	check_runs(&h);
	for (unsigned i = 0; i < h.n; i++)
		check_event(&h, h.event[i]);
	check_outcome(&h);
	for (unsigned i = 0; i < MAX_ACTORS; i++)
		check_drains(&h, &actors[i]);
	check_deadlines(&h);
	census_add(&h);
}

void oracle_judge(struct totals *totals)
{
	census_begin();
	for (unsigned i = 0; i < round_now.actors; i++) {
		for (uint32_t k = 0; k < actors[i].n; k++)
			judge(&actors[i].account[k], totals);
	}
	census_end();
	for (unsigned i = 0; i < MAX_ACTORS; i++)
		totals->drains += actors[i].drains;
}
