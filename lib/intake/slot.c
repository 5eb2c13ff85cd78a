/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "intake/slot.h"
#include "os/must.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t chunk_slots(int chunk)
{
	return (size_t)SLOT_FIRST_NUMBER << chunk;
}

void slots_init(struct slots *t, uint32_t bucket, uint32_t shift)
{
	memset(t, 0, sizeof(*t));
	t->fresh = SLOT_FIRST_NUMBER;
	t->end = SLOT_FIRST_NUMBER;
	t->bucket = bucket;
	t->shift = shift;
}

void slots_destroy(struct slots *t)
{
	for (int i = 0; i < SLOT_CHUNKS; i++)
		free(t->memory[i]);
}

int slots_next_chunk(const struct slots *t)
{
	int chunk = 0;

	while (chunk < slots_max_chunks(t) && t->memory[chunk])
		chunk++;
	return chunk < slots_max_chunks(t) ? chunk : -1;
}

/*
 * Zeroed, because an id that was made up may be looked up in a slot that was
 * never used: it must find a free one.  Large chunks come from the kernel
 * zeroed, and take memory only as they are used.
 */
void *slots_chunk_alloc(int chunk)
{
	return calloc(chunk_slots(chunk) + 1, sizeof(struct slot));
}

bool slots_add_chunk(struct slots *t, int chunk, void *memory)
{
	uintptr_t p = (uintptr_t)memory;

	if (chunk != slots_next_chunk(t))
		return false;
	p = (p + TT_CACHE_LINE - 1) & ~(uintptr_t)(TT_CACHE_LINE - 1);
	t->memory[chunk] = memory;
	/* Release: pairs with the load in slots_at. */
	atomword_store_release(&t->chunk[chunk],
			       (p - t->end * sizeof(struct slot)) |
				       SLOT_CHUNK_THERE);
	t->end += (uint32_t)chunk_slots(chunk);
	return true;
}

/*
 * As slot_cancel_pending, by and by.  word is what was there last; and is then
 * what was there at the end.
 */
static TT_NOINLINE int cancel_pending(struct slot *s, uint64_t id,
				      uint32_t *word)
{
	while (slot_in(*word, SLOT_ARMED) == slot_word(id)) {
		switch (slot_state(*word)) {
		case SLOT_ARMED:
			if (slot_change(s, word, SLOT_DEAD))
				return 0;
			break;
		case SLOT_MOVED:
			if (slot_change(s, word, SLOT_DEAD_MOVED))
				return 0;
			break;
		case SLOT_RUNNING:
		case SLOT_REPEATING:
		case SLOT_ENDING:
			return 1;
		case SLOT_FREE:
		case SLOT_DEAD:
		case SLOT_DEAD_MOVED:
			return -ENOENT;
		}
	}
	return -ENOENT;
}

/* The timer was not armed when word was there. */
static TT_NOINLINE int cancel_other(struct slot *s, uint64_t id, uint32_t word)
{
	int r;

	do {
		r = cancel_pending(s, id, &word);
	} while (r == 1 && slot_state(word) != SLOT_ENDING &&
		 !slot_change(s, &word, SLOT_ENDING));
	return r;
}

/* The usual case.  True: done.  False: *word was there. */
static inline bool cancel_armed(struct slot *s, uint32_t *word)
{
	uint32_t armed = *word;

	*word = atom32_swap_acquire(&s->state, armed,
				    armed ^ SLOT_ARMED ^ SLOT_DEAD);
	return likely(*word == armed);
}

int slot_cancel(struct slot *s, uint64_t id)
{
	uint32_t word = slot_word(id);

	if (unlikely(slot_state(word) != SLOT_ARMED))
		return -ENOENT;
	return cancel_armed(s, &word) ? 0 : cancel_other(s, id, word);
}

int slot_cancel_pending(struct slot *s, uint64_t id)
{
	uint32_t word = slot_word(id);

	if (unlikely(slot_state(word) != SLOT_ARMED))
		return -ENOENT;
	return cancel_armed(s, &word) ? 0 : cancel_pending(s, id, &word);
}

void slots_check(const struct slots *t)
{
	size_t end = SLOT_FIRST_NUMBER, free_slots = 0;

	for (int i = 0; i < SLOT_CHUNKS; i++) {
		must(!t->memory[i] == !atomword_load_acquire(&t->chunk[i]));
		must(i == 0 || !t->memory[i] || t->memory[i - 1]);
		end += t->memory[i] ? chunk_slots(i) : 0;
	}
	must(end == t->end && t->fresh <= t->end);
	for (const struct slot *s = t->free; s; s = s->next) {
		uint32_t state = atom32_load(&s->state);

		must((state & SLOT_STATE_MASK) == SLOT_FREE);
		must(slots_at(t, s->index >> t->shift) == s);
		must(s->index >> t->shift < t->fresh);
		must(++free_slots <= t->fresh);
	}
	for (uint32_t i = t->fresh; i < t->end; i++)
		must(atom32_load(&slots_at(t, i)->state) == 0);
}
