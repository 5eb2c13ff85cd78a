/* SPDX-License-Identifier: MIT */
/*
 * What is known of the instance under test without asking it.
 */
#pragma once

#include "choices.h"
#include "list.h"
#include "timerthread.h"

#include <stdbool.h>
#include <stdint.h>

/* So many runs of an advance choose calls; periodic timers end after them. */
enum { RUNS_MAX = 100 };

/* Of so many callbacks it is known how late they began. */
enum { LATE_MAX = 256 };

/* So many ids of timers that have ended are known. */
enum { OVER_MAX = 64 };

struct chosen {
	char name[16];
	uint64_t cap;     /* 0: none */
	uint64_t reserve; /* timers */
	bool hook;        /* each callback is slow */
};

struct counts {
	uint64_t scheduled;
	uint64_t cancelled; /* drained ones included */
	uint64_t drained;
	uint64_t fired;
	uint64_t rescheduled;
	uint64_t capped;
	uint64_t latest; /* the largest lateness */
};

struct model {
	struct timerthread *tt; /* NULL: destroyed */
	bool started;
	bool stopped;
	bool endless;
	int64_t now;
	struct chosen chosen;
	struct counts counts;
	struct list pending;
	struct list unarmed; /* in no order */
	size_t most;         /* of both, and the one that is running */
	uintptr_t last_key;
	timerthread_id over[OVER_MAX]; /* the last ones that ended, or 0 */
	uint64_t ended;

	uint64_t advances;
	bool advancing;
	uint64_t runs; /* in this advance */

	bool calling; /* a callback or the hook is running */
	struct listed running;
	uint64_t overrun;
	uint64_t lateness;
	bool again;     /* it will be pending again */
	bool cancelled; /* it will not, whatever it was before */

	uint64_t recycled; /* as was told last */
	struct timerthread_snapshot *before;
	uint64_t fired_before;  /* callbacks, when it was taken */
	int64_t late[LATE_MAX]; /* of those that came after it */
};

extern struct model *const model;

/* Where what was asked differs from what is known. */
#define agree(holds) agree_at((holds), #holds, __FILE__, __LINE__)
void agree_at(bool holds, const char *what, const char *file, int line);

/* a + b, or the nearest value that exists. */
int64_t model_add(int64_t a, int64_t b);

/* Timers that count for the cap. */
uint64_t model_timers(void);

/* One call, whichever it may be, and a look at what has come of it. */
void property_step(void);

/* Makes a timer pending, which has its id, key, deadline and period. */
void model_set(struct listed l);

/* Keeps a timer that is not armed, which has its id, key and period. */
void model_keep(struct listed l);

/* No call has this timer any more, nor will another get its id. */
void model_over(timerthread_id id);

/* One that was pending was cancelled, or drained. */
void model_cancelled(timerthread_id id);

timerthread_fn property_fired;
timerthread_slow_fn property_slow;

/* calls.c.  There is an instance. */
void do_schedule(void);
void do_burst(void);
void do_cancel(void);
void do_cancel_many(void);
void do_reschedule(void);
void do_stale(void);
void do_made_up(void);
void do_get_deadline(void);
void do_next(void);
void do_cancel_all(void);
void do_advance(void);
void advance_by(int64_t ns);
void do_stop(void);
void do_destroy(void);

/* What they have in common with those of unarmed.c. */
int64_t choose_deadline(void);
size_t choose_index_of(const struct list *l);
int model_reschedule(timerthread_id id, int64_t deadline);
void model_cancel(struct list *l, size_t i);
void *model_key(void);

/* The result of a call that makes a timer.  True: there is one more. */
bool model_scheduled(int r, timerthread_id id);

/* unarmed.c */
void do_add(void);
void do_arm(void);
void do_disarm(void);
void do_cancel_unarmed(void);
void do_cancel_matching(void);

/* callback.c */
void do_self(void);

/* ask.c and text.c */
void ask_stats(void);
void ask_running(void);
void ask_quantile(void);
void ask_metrics(void);
void ask_dump(void);

/* wrong.c */
void do_wrong(void);
