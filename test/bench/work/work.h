/* SPDX-License-Identifier: MIT */
/*
 * What the workloads share.  Each is a function that puts one instance of the
 * facility that the program is linked with to work, and says what it cost.
 */
#pragma once

#include "measure.h"
#include "peer.h"

#include <stdatomic.h>

/* The value of key=value on the command line; else what is given here. */
int64_t argument(const char *key, int64_t otherwise);
int64_t argument_ns(const char *key, double otherwise_s);

/* Which of these words (and NULL) it is; the first if it is not given. */
int argument_word(const char *key, const char *const *words);

/* One member of the JSON object that the program prints. */
void result(const char *key, double value);

/* p50, p99, p99.9 and the most of these, in nanoseconds; sorts them. */
void result_percentiles(const char *prefix, int64_t *values, size_t n);

/* Ends the program, as one that cannot do this. */
_Noreturn void skip(const char *why);

/*
 * Starts the facility for so many threads and timers that are pending, nearly
 * all with this timeout if it is not 0; or ends the program, if that is more
 * than it can have.
 */
void start_peer(int threads, size_t pending, int64_t timeout);

/* How many timers may be pending; 0: no limit. */
size_t most_timers(void);

/* n timers' memory, zero, already written to. */
struct timers {
	char *memory;
	size_t n;
};
struct timers timers_new(size_t n);
void timers_free(struct timers *t);

static inline void *timer_at(const struct timers *t, size_t i)
{
	return t->memory + i * peer.timer_size;
}

/* As peer_schedule; a failure ends the program. */
void must_schedule(void *timer, int64_t now, int64_t delay, peer_fn *fn,
		   void *arg);

/* A callback. */
void ignore(void *arg);

/*
 * Threads that turn a loop together for a time, each kept on one CPU, the
 * first quarter of it unmeasured.
 */
struct team {
	int threads;
	int64_t ns;
	void (*begin)(int i);
	long (*turn)(int i); /* until team_over; how many turns */
	void (*end)(int i);
};

/* A turn's, all threads' turns counted. */
struct cost {
	double cpu_ns, wall_ns, turns;
};

struct cost team_run(const struct team *t);
bool team_over(void);

/* cpu_ns, wall_ns and turns. */
void result_cost(const struct cost *c);

/*
 * The rest of a work: runs the team, prints its cost and how many calls have
 * failed, stops the facility and frees the timers.  0.
 */
int team_work(const struct team *t, struct timers *timers,
	      const _Atomic long *failures);

/*
 * So many timers in flight a thread, the oldest cancelled and a new one
 * scheduled each turn; a timeout is evenly at random between the two.
 */
struct window {
	int threads;
	size_t size;
	int64_t least, most;
	int64_t ns; /* that it is measured for */

	/* Of what goes on beside: its timers, and calls before and after. */
	size_t beside;
	void (*begin)(void);
	void (*end)(void);

	/* By one thread, as its turns begin and as they end. */
	void (*watch)(void);
};

/* The whole of a work; prints cpu_ns, wall_ns, turns and failed. */
int window_run(const struct window *window);

/* The workloads.  0, or 1 if something is wrong. */
int work_armed(void);
int work_burst(void);
int work_capacity(void);
int work_check(void);
int work_counted(void);
int work_earlier(void);
int work_fire(void);
int work_handover(void);
int work_keepalive(void);
int work_mixed(void);
int work_opening(void);
int work_paced(void);
int work_pair(void);
int work_peak(void);
int work_pending(void);
int work_rmw(void);
int work_sleeps(void);
int work_sparse(void);
int work_spread(void);
int work_tail(void);
