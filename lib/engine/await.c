/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine/await.h"

void await_init(struct await *a)
{
	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->changed, NULL);
	a->waiting = 0;
}

void await_destroy(struct await *a)
{
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->mutex);
}

/* The state that is waited for changes under the mutex alone. */
static bool is_ending(const struct slot *s, uint64_t id)
{
	return atom32_load(&s->state) == slot_in(slot_word(id), SLOT_ENDING);
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
	while (r == 1 && is_ending(s, id))
		pthread_cond_wait(&a->changed, &a->mutex);
	a->waiting--;
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->mutex);
	pthread_setcancelstate(cancel_state, NULL);
	return r;
}

void await_end(struct await *a, struct slot *s)
{
	pthread_mutex_lock(&a->mutex);
	/* Release: pairs with the compare-and-swap in slot_cancel. */
	atom32_store_release(&s->state,
			     slot_in(atom32_load(&s->state), SLOT_DEAD));
	pthread_cond_broadcast(&a->changed);
	pthread_mutex_unlock(&a->mutex);
}

void await_empty(struct await *a)
{
	int cancel_state;

	/* A thread that is cancelled here would keep the mutex. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&a->mutex);
	while (a->waiting > 0)
		pthread_cond_wait(&a->changed, &a->mutex);
	pthread_mutex_unlock(&a->mutex);
	pthread_setcancelstate(cancel_state, NULL);
}
