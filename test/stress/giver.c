/* SPDX-License-Identifier: MIT */
#include "config.h"

/* First: what is called "tt" in it would hide that of record.h. */
#include "api/instance.h"

#include "giver.h"
#include "intake/sweep.h"
#include "record.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_t thread;
static atomic_bool over;
static unsigned long given;

/* One thread at a time may take a step: the giver, or the driver. */
static pthread_mutex_t stepping = PTHREAD_MUTEX_INITIALIZER;

bool __real_sweep_step(struct bucket *b, struct sweeping *s);
bool __wrap_sweep_step(struct bucket *b, struct sweeping *s);
bool __wrap_sweep_step(struct bucket *b, struct sweeping *s)
{
	bool more;

	pthread_mutex_lock(&stepping);
	more = __real_sweep_step(b, s);
	pthread_mutex_unlock(&stepping);
	return more;
}

/* As if hardly any slot had been used for long. */
static void forget_peaks(struct bucket *b)
{
	lock_acquire(&b->lock);
	b->slots.least = 0;
	b->slots.peak = b->slots.before = 0;
	lock_release(&b->lock);
}

static void give_from(struct bucket *b)
{
	struct sweeping s = {0};
	bool more;

	do {
		s.gave = false;
		forget_peaks(b);
		more = sweep_step(b, &s);
		given += s.gave;
	} while (more);
}

static void give_from_all(void)
{
	struct intake *in = tt->engine.intake;
	struct bucket_set used = intake_used(in);
	struct bucket *b;

	while ((b = intake_take(in, &used)) != NULL)
		give_from(b);
}

static void *give(void *arg)
{
	while (!atomic_load(&over)) {
		give_from_all();
		sched_yield();
	}
	return arg;
}

void giver_start(void)
{
	given = 0;
	atomic_store(&over, false);
	if (pthread_create(&thread, NULL, give, NULL) != 0)
		abort();
}

unsigned long giver_end(void)
{
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	give_from_all();
	return given;
}
