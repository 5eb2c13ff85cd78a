/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/await.h"
#include "os/tool.h"

void await_init(struct await *a)
{
	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->nobody, NULL);
	a->first = NULL;
	a->waiting = 0;
}

void await_destroy(struct await *a)
{
	pthread_cond_destroy(&a->nobody);
	pthread_mutex_destroy(&a->mutex);
}

/* The state that is waited for changes only under the mutex. */
static bool is_ending(const struct slot *s, uint64_t id)
{
	return atom32_load(&s->state) == slot_in(slot_word(id), SLOT_ENDING);
}

/* With the mutex held.  await_end takes the waiter off the chain. */
static void sleep_on(struct await *a, const struct slot *s, uint64_t id)
{
	struct waiter w = {.s = s, .next = a->first};

	pthread_cond_init(&w.over, NULL);
	a->first = &w;
	while (is_ending(s, id))
		pthread_cond_wait(&w.over, &a->mutex);
	pthread_cond_destroy(&w.over);
}

int await_cancel(struct await *a, struct cap *c, struct slot *s, uint64_t id)
{
	int r, cancel_state;

	/* A thread that is cancelled here would leave the count wrong. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&a->mutex);
	a->waiting++;
	r = slot_cancel(s, id);
	if (r == 0)
		cap_give(c);
	if (r == 1 && is_ending(s, id))
		sleep_on(a, s, id);
	/* The last use of the slot: once no thread waits, it may be freed. */
	tool_acquire(s);
	if (--a->waiting == 0)
		pthread_cond_broadcast(&a->nobody);
	pthread_mutex_unlock(&a->mutex);
	pthread_setcancelstate(cancel_state, NULL);
	return r;
}

/* With the mutex held. */
static void wake_those_for(struct await *a, const struct slot *s)
{
	struct waiter **next = &a->first;

	while (*next) {
		struct waiter *w = *next;

		if (w->s == s) {
			*next = w->next;
			pthread_cond_signal(&w->over);
		} else {
			next = &w->next;
		}
	}
}

void await_end(struct await *a, struct slot *s)
{
	pthread_mutex_lock(&a->mutex);
	/* Release: pairs with the compare-and-swap in slot_cancel. */
	atom32_store_release(&s->state, slot_next(atom32_load(&s->state)));
	wake_those_for(a, s);
	pthread_mutex_unlock(&a->mutex);
}

void await_empty(struct await *a)
{
	int cancel_state;

	/* A thread that is cancelled here would keep the mutex. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&a->mutex);
	while (a->waiting > 0)
		pthread_cond_wait(&a->nobody, &a->mutex);
	pthread_mutex_unlock(&a->mutex);
	pthread_setcancelstate(cancel_state, NULL);
}
