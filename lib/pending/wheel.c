/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/must.h"
#include "pending/wheel.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_MASK (WHEEL_SLOTS - 1)

static unsigned shift_of(uint32_t level)
{
	return level * WHEEL_DIGIT_LOG2;
}

void wheel_init(struct wheel *w)
{
	*w = (struct wheel){0};
}

void wheel_destroy(struct wheel *w)
{
	while (w->n > 0)
		block_free_all(wheel_take(w, false).first);
	for (int i = 0; i < WHEEL_LEVELS; i++)
		free(w->level[i]);
}

static TT_NOINLINE bool add_level(struct wheel *w, uint32_t level)
{
	w->level[level] = calloc(1, sizeof(struct wheel_level));
	return w->level[level] != NULL;
}

static TT_NOINLINE bool add_block(struct wheel_slot *s, struct block **spares)
{
	struct block *b = block_pop(spares);

	if (!b)
		b = block_alloc();
	if (!b)
		return false;
	b->n = 0;
	b->nearest = INT64_MAX;
	block_push(&s->first, b);
	return true;
}

static inline uint32_t level_of(const struct wheel *w, uint64_t tick)
{
	unsigned differs = 63 - (unsigned)__builtin_clzll(tick ^ w->base);

	return differs / WHEEL_DIGIT_LOG2;
}

static inline uint32_t digit_of(uint64_t tick, uint32_t level)
{
	return (uint32_t)(tick >> shift_of(level)) & DIGIT_MASK;
}

static void put(struct wheel_slot *s, struct entry e)
{
	struct block *b = s->first;

	if (e.deadline < s->nearest.deadline || s->n == 0)
		s->nearest = e;
	if (e.deadline < b->nearest)
		b->nearest = e.deadline;
	b->entry[b->n++] = e;
	s->n++;
}

bool wheel_file(struct wheel *w, struct entry e, struct block **spares)
{
	uint64_t tick = wheel_tick(e.deadline);
	uint32_t level = level_of(w, tick), digit = digit_of(tick, level);
	struct wheel_slot *s;

	if (unlikely(!w->level[level]) && !add_level(w, level))
		return false;
	s = &w->level[level]->slot[digit];
	if (unlikely(!s->first || s->first->n == BLOCK_ENTRIES)) {
		if (!add_block(s, spares))
			return false;
		w->level[level]->occupied |= UINT64_C(1) << digit;
		w->occupied |= UINT32_C(1) << level;
	}
	put(s, e);
	w->n++;
	return true;
}

static void set_empty(struct wheel *w, uint32_t level, uint32_t digit)
{
	w->level[level]->occupied &= ~(UINT64_C(1) << digit);
	if (!w->level[level]->occupied)
		w->occupied &= ~(UINT32_C(1) << level);
}

/* The tick at which a slot begins. */
static uint64_t start_of(const struct wheel *w, uint32_t level, uint32_t digit)
{
	uint64_t above = ~UINT64_C(0) << shift_of(level) << WHEEL_DIGIT_LOG2;

	return (w->base & above) | (uint64_t)digit << shift_of(level);
}

/* Which slot wheel_first is.  There must be one. */
static void find_first(const struct wheel *w, uint32_t *level, uint32_t *digit)
{
	*level = (uint32_t)__builtin_ctz(w->occupied);
	*digit = (uint32_t)__builtin_ctzll(w->level[*level]->occupied);
}

struct chain wheel_take(struct wheel *w, bool open)
{
	struct wheel_slot *s;
	struct chain taken;
	uint32_t level, digit;

	find_first(w, &level, &digit);
	s = &w->level[level]->slot[digit];
	taken = (struct chain){s->first, s->nearest.deadline};
	if (w->cursor.level == level && w->cursor.slot == digit)
		w->cursor.at = NULL;
	w->n -= s->n;
	*s = (struct wheel_slot){0};
	set_empty(w, level, digit);
	if (open)
		w->base = start_of(w, level, digit);
	return taken;
}

void wheel_advance(struct wheel *w, int64_t now)
{
	uint64_t tick = wheel_tick(now);
	uint32_t level, digit;

	if (!w->occupied) {
		w->base = tick;
	} else if (tick > w->base) {
		find_first(w, &level, &digit);
		if (tick >= start_of(w, level, digit))
			tick = start_of(w, level, digit) - 1;
		w->base = tick;
	}
}

/* Moves the cursor to a slot that is not empty.  False: there is none left. */
static bool find_next(struct wheel *w)
{
	for (; w->cursor.level < WHEEL_LEVELS; w->cursor.level++) {
		struct wheel_level *l = w->level[w->cursor.level];
		uint64_t left = 0;

		if (l && w->cursor.slot < WHEEL_SLOTS)
			left = l->occupied >> w->cursor.slot << w->cursor.slot;
		if (left) {
			w->cursor.slot = (uint32_t)__builtin_ctzll(left);
			w->cursor.at = &l->slot[w->cursor.slot].first;
			return true;
		}
		w->cursor.slot = 0;
	}
	w->cursor.level = 0;
	return false;
}

struct block *wheel_visit(struct wheel *w)
{
	if (w->cursor.at && !*w->cursor.at) {
		w->cursor.at = NULL;
		w->cursor.slot++;
	}
	return w->cursor.at || find_next(w) ? *w->cursor.at : NULL;
}

/* What is left in b has room in the first block. */
static void merge(struct wheel_slot *s, const struct block *b)
{
	memcpy(&s->first->entry[s->first->n], b->entry,
	       b->n * sizeof(struct entry));
	s->first->n += b->n;
	if (b->nearest < s->first->nearest)
		s->first->nearest = b->nearest;
}

/*
 * The block at the cursor has been looked at.  If it has room in the first one
 * it goes there; else the emptier one of the two is to be filled next.
 */
static void compact(struct wheel *w, struct wheel_slot *s,
		    struct block **spares)
{
	struct block **at = w->cursor.at, *b = *at;
	bool first = b == s->first;

	if (b->n == 0 || (!first && s->first->n + b->n <= BLOCK_ENTRIES)) {
		*at = b->next;
		if (b->n > 0)
			merge(s, b);
		block_push(spares, b);
	} else if (!first && b->n < s->first->n) {
		*at = b->next;
		block_push(&s->first, b);
	} else {
		w->cursor.at = &b->next;
	}
}

void wheel_visited(struct wheel *w, uint32_t removed, struct block **spares)
{
	uint32_t level = w->cursor.level, digit = w->cursor.slot;
	struct wheel_slot *s = &w->level[level]->slot[digit];

	s->n -= removed;
	w->n -= removed;
	compact(w, s, spares);
	if (!s->first) {
		set_empty(w, level, digit);
		w->cursor.at = NULL;
	}
}

static size_t check_block(const struct wheel *w, const struct wheel_slot *s,
			  const struct block *b)
{
	must(b->n > 0 && b->n <= BLOCK_ENTRIES);
	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t tick = wheel_tick(b->entry[i].deadline);
		uint32_t level;

		must(tick > w->base);
		level = level_of(w, tick);
		must(s == &w->level[level]->slot[digit_of(tick, level)]);
		must(b->entry[i].deadline >= b->nearest);
	}
	must(b->nearest >= s->nearest.deadline);
	return b->n;
}

static size_t check_slot(const struct wheel *w, const struct wheel_slot *s,
			 bool occupied)
{
	size_t n = 0;

	for (const struct block *b = s->first; b; b = b->next)
		n += check_block(w, s, b);
	must(n == s->n);
	must(occupied == (n > 0));
	return n;
}

static size_t check_level(const struct wheel *w, uint32_t level)
{
	const struct wheel_level *l = w->level[level];
	bool occupied = w->occupied >> level & 1;
	size_t n = 0;

	must(l || !occupied);
	for (uint32_t i = 0; l && i < WHEEL_SLOTS; i++)
		n += check_slot(w, &l->slot[i], l->occupied >> i & 1);
	must(occupied == (n > 0));
	return n;
}

void wheel_check(const struct wheel *w)
{
	size_t n = 0;

	for (uint32_t level = 0; level < WHEEL_LEVELS; level++)
		n += check_level(w, level);
	must(n == w->n);
}
