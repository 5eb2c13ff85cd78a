/* SPDX-License-Identifier: MIT */
/*
 * What the actors did to each timer, and what they saw: written down while a
 * round goes on, read by the oracle when all its threads are over.
 *
 * Each call and each run of a callback is an event with a stamp before and
 * one behind it.  Where one event's end is before another's start the library
 * owes that order; where they overlap, either order is right.  Stamps are
 * times, not counts: a shared counter would put all calls in order, and hide
 * from ThreadSanitizer what the library itself leaves unordered.  For the same
 * reason nothing here is stronger than relaxed.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <timerthread.h>

enum {
	/* An account with so many events is crowded: it gets few more. */
	CROWDED = 48,
	MAX_EVENTS = 128,
	MAX_ACCOUNTS = 10000, /* an actor and round */
	MAX_DRAINS = 8,       /* the same */
	MAX_WORKERS = 6,
	MAX_RUNNERS = 3, /* threads that run callbacks */
	/* First the workers, then the runners; the main thread is the last. */
	MAX_ACTORS = MAX_WORKERS + MAX_RUNNERS + 1,
	MAIN_ACTOR = MAX_ACTORS - 1,
};

enum deed {
	RUN,
	MOVE,
	GET_DEADLINE,
	GET_NEXT,
	CANCEL,
	CANCEL_WAIT,
	CANCEL_TAKE,
	DRAIN,
};

struct event {
	struct event *next; /* of the same account, in no order */
	int64_t start;
	int64_t end;
	/*
	 * MOVE: the deadline, from value to high.  GET_DEADLINE: the deadline.
	 * GET_NEXT: what it gave, and high: the instance's clock behind it.
	 * RUN: that clock when it began, and high: the overrun.
	 * Another, by which the timer is over: the runs seen by then.
	 */
	int64_t value;
	int64_t high;
	/* RUN: the ones before and behind it on the same thread. */
	struct event *before;
	struct event *behind;
	/*
	 * RUN: -1: another one was running, -2: or its callback was not told
	 * what it is in.  CANCEL_TAKE: -1: the argument is not the timer's.
	 * DRAIN: -1: of something else.  GET_NEXT: -1: it was before now.
	 */
	int result;
	enum deed deed;
	bool inside;      /* from the timer's own callback */
	bool by_callback; /* from any callback */
};

/* One timer, or one that was refused. */
struct account {
	timerthread_id id; /* written by the library */
	timerthread_fn *fn;
	int64_t period; /* 0: it does not repeat */
	/* The schedule call.  Its deadline: from low to high. */
	int64_t low;
	int64_t high;
	int64_t start;
	int64_t end;
	int result;
	/* How often it ran: not atomic, so that the library must order it. */
	unsigned runs;
	_Atomic(struct event *) events;
	_Atomic unsigned n;
};

struct chunk;

/* A drain, of all that is pending. */
struct span {
	int64_t start;
	int64_t end;
};

struct actor {
	uint64_t rng;
	struct account *account; /* MAX_ACCOUNTS */
	_Atomic uint32_t n;      /* accounts in use */
	struct account *inside;  /* whose callback it is in */
	struct event *last_run;
	struct chunk *chunks;
	struct span drain[MAX_DRAINS];
	unsigned drains;
	_Atomic bool draining;
	bool shut_out;   /* its last schedule said -ESHUTDOWN */
	int64_t stopped; /* when a stop returned to it; INT64_MAX: none did */
};

/* What the oracle must know of a round beside the accounts. */
struct round {
	uint64_t seed;
	unsigned number;
	const char *driver;
	unsigned workers;
	unsigned runners; /* several: callbacks overlap */
	bool executor;    /* it runs them */
	unsigned actors;  /* that schedule: both of these */
	size_t cap;       /* 0: none */
	/* Stamps. */
	int64_t shut_start; /* the first stop */
	int64_t shut_end;
	int64_t thread_over; /* the first stop that returned 0 */
	int64_t drained_by;  /* INT64_MAX: by nobody */
	int64_t last_start;  /* the last timer; INT64_MIN: there was none */
	int64_t last_deadline;
};

extern struct timerthread *tt;
extern struct round round_now;
extern struct actor actors[MAX_ACTORS];

/* The time, on a clock that is the same for all instances. */
int64_t stamp(void);

void record_init(void);
void record_destroy(void);

/* Empties all accounts. */
void record_clear(void);

/* A new account; NULL: there is no room. */
struct account *account_open(struct actor *me);

/* From now on others may see it, whatever has become of it. */
void account_publish(struct actor *me);

bool account_crowded(const struct account *a);

/* An event that starts now. */
struct event *event_start(struct actor *me, struct account *a, enum deed deed);
void event_end(struct event *e, int result);

/* Is it a cancel, of whatever kind? */
bool event_cancels(const struct event *e);

/* Is the timer over, for who sees e? */
bool event_tells_over(const struct event *e);
