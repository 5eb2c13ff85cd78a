/* SPDX-License-Identifier: MIT */
#include "store/slots.h"
#include "os/memory.h"

#include <string.h>

/* The size of a chunk in words. */
static uint32_t chunk_size(int chunk)
{
	return UINT32_C(1) << chunk;
}

/*
 * The memory of a chunk's slots; and of the whole chunk: behind the slots are
 * the bits, the floors, and which words have memory.
 */
static size_t slot_bytes(int chunk)
{
	return ((size_t)chunk_size(chunk) << SLOT_WORD_LOG2) *
	       sizeof(struct slot);
}

static size_t chunk_bytes(int chunk)
{
	uint32_t n = chunk > 0 ? chunk_size(chunk) : 0;

	return slot_bytes(chunk) + n * SLOT_WORD_BYTES +
	       (n + VACANT_WORDS - 1) / VACANT_WORDS * sizeof(atom32);
}

void slots_init(struct slots *t, uint32_t bucket, uint32_t shift)
{
	t->bits[0] = &t->first - 1;
	t->at = &t->first;
	t->low = t->last = t->fresh = t->end = 1;
	t->vacant = 2;
	t->least = SLOTS_LEAST;
	t->bucket = bucket;
	t->shift = shift;
}

void slots_destroy(struct slots *t)
{
	for (int i = 0; i < SLOT_CHUNKS; i++)
		slots_chunk_free(i, slots_at(t, SLOT_FIRST_NUMBER << i));
}

/*
 * A chunk has as many words as all before it, and one more.  A table has as
 * many chunks as the bits of a slot's number allow.
 */
int slots_next_chunk(const struct slots *t)
{
	int chunk = __builtin_ctz(t->end);
	int most = SLOT_CHUNKS - (t->shift ? (int)t->shift : 1);

	return chunk < most ? chunk : -1;
}

/*
 * Zeroed, because an id that was made up may be looked up in a slot that was
 * never used: it must find a free one.  The only word of the first chunk has
 * its memory at once.
 */
void *slots_chunk_alloc(int chunk)
{
	void *memory = pages_alloc(chunk_bytes(chunk));

	if (memory && chunk == 0)
		memset(memory, 0, slot_bytes(chunk));
	return memory;
}

void slots_chunk_free(int chunk, void *memory)
{
	pages_free(memory, chunk_bytes(chunk));
}

size_t slots_bytes(const struct slots *t)
{
	uint32_t n = slots_words(t);

	return slots_room(t) * sizeof(struct slot) +
	       (n < t->fresh ? t->fresh - 1 : n) * SLOT_WORD_BYTES;
}

void slots_set_enough(struct slots *t)
{
	uint32_t n = (uint32_t)slots_room(t);

	t->enough = n - n / 8;
}

bool slots_use_all(struct slots *t)
{
	t->enough = (uint32_t)slots_room(t);
	return t->used < t->enough;
}

bool slots_add_chunk(struct slots *t, int chunk, void *memory)
{
	uintptr_t p = (uintptr_t)memory;
	uintptr_t first = (uintptr_t)t->end << SLOT_WORD_LOG2;

	if (chunk < 0 || chunk != slots_next_chunk(t))
		return false;
	if (chunk > 0) {
		t->bits[chunk] = (uint64_t *)(p + slot_bytes(chunk)) - t->end;
		t->vacancies += chunk_size(chunk);
	} else {
		t->first = UINT64_MAX;
	}
	/* Release: pairs with the load in slots_at. */
	atomword_store_release(&t->chunk[chunk],
			       (p - first * sizeof(struct slot)) |
				       SLOT_CHUNK_THERE);
	t->end += chunk_size(chunk);
	slots_set_enough(t);
	if (chunk == 0)
		slots_move_on(t);
	return true;
}

/*
 * Which free slot is taken?
 *
 * Timers are cancelled roughly in the order in which they were scheduled.  If
 * their slots lie in memory in that order, the CPU fetches their lines before
 * they are needed.  Free lists lose the order if timers live for different
 * times.  So slots are taken in the order of their addresses, in laps.  A
 * lap ends when most of the slots with which it began are free again: so it
 * was as long as those timers lived.  Thus the slots in use stay together, and
 * few slots are cold.
 */

/*
 * With this many free slots, a word is worth going back to (MOST), or going on
 * to (MANY).
 */
#define MOST 32
#define MANY 8

/* How many of the next words are looked at first. */
#define AHEAD 4

static int count_free(const struct slots *t, uint32_t word)
{
	return __builtin_popcountll(*slots_word(t, word));
}

/*
 * The first of n words that has at least this many free slots; 0: none.  Many
 * vacant words count as one: after a peak, nearly all may be vacant.
 */
static uint32_t next_free(const struct slots *t, uint32_t word, uint32_t n,
			  int least)
{
	for (; n > 0 && word < t->end; word++, n--) {
		if (slots_all_vacant(t, word))
			word += VACANT_WORDS - 1;
		else if (count_free(t, word) >= least)
			return word;
	}
	return 0;
}

/*
 * Ends the lap, if it is time: returns the first word of the next.  0: it
 * goes on.
 */
static uint32_t new_lap(struct slots *t)
{
	return t->word >= t->low && count_free(t, t->low) >= MOST ? t->low : 0;
}

static uint32_t choose(struct slots *t)
{
	uint32_t word = new_lap(t);

	if (word == 0)
		word = next_free(t, t->word + 1, AHEAD, MANY);
	if (word == 0 && slots_any_fresh(t))
		word = t->fresh;
	if (word == 0 && *slots_word(t, t->last) != 0)
		word = t->last;
	if (word == 0)
		word = next_free(t, t->word + 1, t->end, 1);
	if (word == 0)
		word = t->low = next_free(t, 1, t->end, 1);
	return word;
}

TT_NOINLINE void slots_move_on(struct slots *t)
{
	if (t->used > t->peak)
		t->peak = t->used;
	t->word = choose(t);
	if (t->fresh <= t->word)
		t->fresh = t->word + 1;
	t->at = slots_word(t, t->word);
	t->slot = slots_get(t, t->word << SLOT_WORD_LOG2);
	t->index = t->word << SLOT_WORD_LOG2 << t->shift | t->bucket;
}
