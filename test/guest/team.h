/* SPDX-License-Identifier: MIT */
/*
 * An executor.  Each of its threads has a queue and a mutex of its own, and
 * they get work in turn: so its mutexes do not order what two of them run one
 * after the other.
 */
#pragma once

#include "guest.h"

enum {
	TEAM = 3,
	TEAM_QUEUE = 256,
};

struct job {
	timerthread_fn *run;
	void *arg;
};

struct member {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	struct job job[TEAM_QUEUE];
	unsigned submitted, taken;
	bool ends;
};

struct team {
	struct member member[TEAM];
	unsigned next; /* the driver's alone */
};

/* What was accepted is called, also when it ends. */
static inline bool member_take(struct member *m, struct job *job)
{
	bool any;

	pthread_mutex_lock(&m->mutex);
	while (m->taken == m->submitted && !m->ends)
		pthread_cond_wait(&m->changed, &m->mutex);
	any = m->taken != m->submitted;
	if (any)
		*job = m->job[m->taken++ % TEAM_QUEUE];
	pthread_mutex_unlock(&m->mutex);
	return any;
}

static inline void *member_main(void *arg)
{
	struct job job;

	while (member_take(arg, &job))
		job.run(job.arg);
	return NULL;
}

/* Refuses where the queue is full. */
static inline int member_give(struct member *m, struct job job)
{
	bool room;

	pthread_mutex_lock(&m->mutex);
	room = m->submitted - m->taken < TEAM_QUEUE;
	if (room) {
		m->job[m->submitted++ % TEAM_QUEUE] = job;
		pthread_cond_signal(&m->changed);
	}
	pthread_mutex_unlock(&m->mutex);
	return room ? 0 : -1;
}

static inline int team_submit(void *ctx, timerthread_fn *run, void *arg)
{
	struct team *t = ctx;

	return member_give(&t->member[t->next++ % TEAM],
			   (struct job){run, arg});
}

static inline void team_open(struct team *t)
{
	t->next = 0;
	for (int i = 0; i < TEAM; i++) {
		struct member *m = &t->member[i];

		pthread_mutex_init(&m->mutex, NULL);
		pthread_cond_init(&m->changed, NULL);
		m->submitted = m->taken = 0;
		m->ends = false;
		m->thread = spawn(member_main, m);
	}
}

/*
 * Its mutexes are not destroyed: of one that a detached thread has unlocked
 * helgrind says that this is a race with what pthread_mutex_unlock wrote.
 */
static inline void team_close(struct team *t)
{
	for (int i = 0; i < TEAM; i++) {
		struct member *m = &t->member[i];

		pthread_mutex_lock(&m->mutex);
		m->ends = true;
		pthread_cond_signal(&m->changed);
		pthread_mutex_unlock(&m->mutex);
		join(m->thread);
	}
}

/* With a timer thread, and the team; or NULL: without. */
static inline struct timerthread *create_with(struct team *t)
{
	struct timerthread *tt = create();

	if (t)
		expect(timerthread_set_executor(tt, team_submit, t) == 0);
	expect(timerthread_start(tt, NULL) == 0);
	return tt;
}
