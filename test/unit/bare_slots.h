/* SPDX-License-Identifier: MIT */
/*
 * A table of slots by itself.
 */
#pragma once

#include "armed.h"
#include "checks/slots.h"
#include "harness.h"
#include "store/vacancy.h"

#include <errno.h>

static inline void fn(void *arg)
{
	(void)arg;
}

static inline void add_chunk(struct slots *t)
{
	int chunk = slots_next_chunk(t);

	ck_assert_int_ge(chunk, 0);
	ck_assert(slots_add_chunk(t, chunk, slots_chunk_alloc(chunk)));
}

static inline void grow(struct slots *t)
{
	struct words w = vacancy_take(t);

	if (w.n == 0) {
		add_chunk(t);
		w = vacancy_take(t);
	}
	if (w.n > 0) {
		vacancy_fill(t, w);
		vacancy_add(t, w);
	}
}

/* So that all that it has may be used. */
static inline void fill_all(struct slots *t)
{
	while (vacancy_next(t) > 0)
		grow(t);
}

static inline uint64_t arm(struct slot *s, int64_t deadline, void *arg)
{
	const struct timer timer = {deadline, 0, fn, arg, 0};

	return arm_slot(s, &timer, deadline);
}

/* As if the entry that slot_arm made had come up. */
static inline bool begin(struct slot *s)
{
	const struct entry e = slot_entry(s);

	return slot_hand_over(s, &e) && slot_begin(s);
}

static inline void finish(struct slot *s)
{
	uint32_t word = atom32_load(&s->state);

	ck_assert(slot_change(s, &word, SLOT_DEAD));
}

static inline void init(struct slots *t, uint32_t bucket, uint32_t shift)
{
	memset(t, 0, sizeof(*t));
	slots_init(t, bucket, shift);
}

static inline uint32_t number_of(const struct slots *t, const struct slot *s)
{
	return s->index >> t->shift;
}

static inline struct slot *take(struct slots *t)
{
	while (!slots_any(t))
		grow(t);
	return slots_take(t);
}

/* As the driver. */
static inline bool add_dead(struct slot_batch *b, struct slot *s)
{
	slot_free(s, atom32_load(&s->state));
	return slot_batch_add(b, s);
}

/* As recycling. */
static inline void recycle(struct slots *t, struct slot *s)
{
	slot_free(s, atom32_load(&s->state));
	slots_give(t, s, number_of(t, s));
}

/* A slot of a timer that is over. */
static inline struct slot *take_dead(struct slots *t)
{
	struct slot *s = take(t);

	ck_assert_int_eq(slot_cancel(s, arm(s, 0, NULL)), 0);
	return s;
}

/* The slots that it has room for. */
static inline size_t room(const struct slots *t)
{
	return (size_t)(t->end - 1) << SLOT_WORD_LOG2;
}
