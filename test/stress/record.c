/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK_EVENTS 1024

/* Events of one actor; they stay where they are for the round. */
struct chunk {
	struct chunk *next;
	unsigned n;
	struct event event[CHUNK_EVENTS];
};

struct timerthread *tt;
struct round round_now;
struct actor actors[MAX_ACTORS];

int64_t stamp(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *must_have(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void record_init(void)
{
	for (int i = 0; i < MAX_ACTORS; i++)
		actors[i].account =
			must_have(calloc(MAX_ACCOUNTS, sizeof(struct account)));
	record_clear();
}

void record_destroy(void)
{
	record_clear();
	for (int i = 0; i < MAX_ACTORS; i++)
		free(actors[i].account);
}

void record_clear(void)
{
	for (int i = 0; i < MAX_ACTORS; i++) {
		struct actor *actor = &actors[i];
		struct chunk *c;

		while ((c = actor->chunks) != NULL) {
			actor->chunks = c->next;
			free(c);
		}
		atomic_store(&actor->n, 0);
		actor->inside = NULL;
		actor->last_run = NULL;
		actor->drains = 0;
		actor->shut_out = false;
		actor->stopped = INT64_MAX;
	}
}

struct account *account_open(struct actor *me)
{
	uint32_t n = atomic_load_explicit(&me->n, memory_order_relaxed);
	struct account *a = &me->account[n];

	if (n == MAX_ACCOUNTS)
		return NULL;
	*a = (struct account){0};
	return a;
}

/* Release: as a program would hand an id to another thread. */
void account_publish(struct actor *me)
{
	atomic_fetch_add_explicit(&me->n, 1, memory_order_release);
}

bool account_crowded(const struct account *a)
{
	return atomic_load_explicit(&a->n, memory_order_relaxed) >= CROWDED;
}

static struct event *event_alloc(struct actor *me)
{
	struct chunk *c = me->chunks;

	if (!c || c->n == CHUNK_EVENTS) {
		c = must_have(malloc(sizeof(*c)));
		c->next = me->chunks;
		c->n = 0;
		me->chunks = c;
	}
	return &c->event[c->n++];
}

struct event *event_start(struct actor *me, struct account *a, enum deed deed)
{
	struct event *e = event_alloc(me);

	*e = (struct event){
		.deed = deed,
		.inside = me->inside == a,
		.by_callback = me->inside != NULL,
	};
	e->next = atomic_load_explicit(&a->events, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&a->events, &e->next, e,
						      memory_order_relaxed,
						      memory_order_relaxed))
		;
	atomic_fetch_add_explicit(&a->n, 1, memory_order_relaxed);
	e->start = stamp();
	return e;
}

void event_end(struct event *e, int result)
{
	e->end = stamp();
	e->result = result;
}

bool event_cancels(const struct event *e)
{
	return e->deed == CANCEL || e->deed == CANCEL_WAIT ||
	       e->deed == CANCEL_TAKE;
}

bool event_tells_over(const struct event *e)
{
	switch (e->deed) {
	case CANCEL:
	case CANCEL_TAKE:
		return e->result == 0 || e->result == -ENOENT;
	case CANCEL_WAIT:
		return e->result == 0 || e->result == 1 || e->result == -ENOENT;
	case DRAIN:
		return true;
	default:
		return false;
	}
}
