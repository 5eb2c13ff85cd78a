/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct member {
	const struct team *team;
	int i;
	long turns;
	pthread_t thread;
};

static pthread_barrier_t barrier;
static _Atomic bool over;

bool team_over(void)
{
	return atomic_load_explicit(&over, memory_order_relaxed);
}

/* Twice: the first time warms up. */
static void *take_part(void *arg)
{
	struct member *m = arg;

	pin(m->i);
	peer_enter();
	m->team->begin(m->i);
	for (int phase = 0; phase < 2; phase++) {
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		m->turns = m->team->turn(m->i);
		pthread_barrier_wait(&barrier);
	}
	m->team->end(m->i);
	peer_leave();
	return NULL;
}

/*
 * The clocks are read when all threads have come, and before the first goes on:
 * where there are many, this one may not get a CPU just behind a barrier.
 */
static void measure(struct cost *c, int64_t ns)
{
	int64_t cpu, wall;

	atomic_store(&over, false);
	pthread_barrier_wait(&barrier);
	cpu = process_cpu_ns();
	wall = now_ns();
	pthread_barrier_wait(&barrier);
	sleep_until_ns(wall + ns);
	atomic_store(&over, true);
	pthread_barrier_wait(&barrier);
	c->cpu_ns = (double)(process_cpu_ns() - cpu);
	c->wall_ns = (double)(now_ns() - wall);
}

static void start(struct member *m, const struct team *t, int i)
{
	pthread_attr_t attr;
	int r;

	*m = (struct member){.team = t, .i = i};
	pthread_attr_init(&attr);
	/* 400 of them need no more. */
	pthread_attr_setstacksize(&attr, 256 * 1024);
	r = pthread_create(&m->thread, &attr, take_part, m);
	if (r != 0)
		peer_die("a thread", r);
	pthread_attr_destroy(&attr);
}

struct cost team_run(const struct team *t)
{
	struct member *m = calloc((size_t)t->threads, sizeof(*m));
	struct cost c;

	if (!m)
		peer_die("memory for threads", ENOMEM);
	pthread_barrier_init(&barrier, NULL, (unsigned)t->threads + 1);
	for (int i = 0; i < t->threads; i++)
		start(&m[i], t, i);
	measure(&c, t->ns / 4);
	measure(&c, t->ns);
	c.turns = 0;
	for (int i = 0; i < t->threads; i++) {
		pthread_join(m[i].thread, NULL);
		c.turns += (double)m[i].turns;
	}
	pthread_barrier_destroy(&barrier);
	free(m);
	c.cpu_ns /= c.turns;
	c.wall_ns /= c.turns;
	return c;
}

void result_cost(const struct cost *c)
{
	result("cpu_ns", c->cpu_ns);
	result("wall_ns", c->wall_ns);
	result("turns", c->turns);
}

int team_work(const struct team *t, struct timers *timers,
	      const _Atomic long *failures)
{
	struct cost c = team_run(t);

	result_cost(&c);
	result("failed", (double)*failures);
	peer_stop();
	timers_free(timers);
	return 0;
}
