/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/memory.h"
#include "store/slots.h"

/* How many words are touched at a time. */
#define TOUCHED 4

/* How many slots the smallest page of any kernel holds. */
#define PAGE_SLOTS (4096 / sizeof(struct slot))

/* The size of a chunk in words. */
static uint32_t chunk_size(int chunk)
{
	return UINT32_C(1) << chunk;
}

/*
 * The memory of a chunk's slots; and of the whole chunk: behind the slots are
 * the bits, the floors, and which words are vacant.
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
	       (n + VACANT_WORDS - 1) / VACANT_WORDS * sizeof(struct vacant);
}

void slots_init(struct slots *t, uint32_t bucket, uint32_t shift)
{
	t->bits[0] = &t->first - 1;
	t->at = &t->first;
	t->low = t->last = t->fresh = t->ready = t->end = 1;
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

/* A chunk has as many words as all before it, and one more. */
int slots_next_chunk(const struct slots *t)
{
	int chunk = __builtin_ctz(t->end);

	return chunk < slots_max_chunks(t) ? chunk : -1;
}

/*
 * Zeroed, because an id that was made up may be looked up in a slot that was
 * never used: it must find a free one.  A page uses memory only once it is
 * used.
 */
void *slots_chunk_alloc(int chunk)
{
	return pages_alloc(chunk_bytes(chunk));
}

void slots_chunk_free(int chunk, void *memory)
{
	pages_free(memory, chunk_bytes(chunk));
}

size_t slots_bytes(const struct slots *t)
{
	return slots_room(t) * sizeof(struct slot) +
	       (t->ready - 1) * SLOT_WORD_BYTES;
}

void slots_set_enough(struct slots *t)
{
	uint32_t n = (uint32_t)slots_room(t);
	bool more = t->ready < t->end || t->vacancies > 0;

	t->enough = (more || t->spares) && !t->all ? n - n / 8 : n;
	t->step = t->told + SLOTS_STEP;
	if (t->step > t->enough)
		t->step = t->enough;
}

void slots_touch_bits(struct slots *t)
{
	for (uint32_t i = t->fresh; i < t->ready; i++)
		*(volatile uint64_t *)slots_word(t, i) = 0;
}

bool slots_add_chunk(struct slots *t, int chunk, void *memory)
{
	uintptr_t p = (uintptr_t)memory;
	uintptr_t first = (uintptr_t)t->end << SLOT_WORD_LOG2;

	if (chunk < 0 || chunk != slots_next_chunk(t))
		return false;
	if (chunk > 0)
		t->bits[chunk] = (uint64_t *)(p + slot_bytes(chunk)) - t->end;
	/* Release: pairs with the load in slots_at. */
	atomword_store_release(&t->chunk[chunk],
			       (p - first * sizeof(struct slot)) |
				       SLOT_CHUNK_THERE);
	t->end += chunk_size(chunk);
	slots_set_enough(t);
	return true;
}

uint32_t slots_untouched(const struct slots *t)
{
	return t->ready < t->end ? t->ready : 0;
}

/*
 * The slots of a chunk's words lie one behind the other; those of the next
 * chunk lie elsewhere.
 */
static uint32_t end_of_touch(uint32_t word)
{
	uint32_t end = UINT32_C(2) << (31 - __builtin_clz(word));

	return end - word < TOUCHED ? end : word + TOUCHED;
}

/*
 * These slots are not used yet; or another thread has touched them first, and
 * uses them.  So this writes by compare-and-swap, which orders nothing here.
 */
void slots_touch(struct slots *t, uint32_t word)
{
	uint32_t end = end_of_touch(word) << SLOT_WORD_LOG2;

	for (uint32_t i = word << SLOT_WORD_LOG2; i < end; i += PAGE_SLOTS)
		(void)atom32_swap(&slots_get(t, i)->state, 0, 0);
	(void)atom32_swap(&slots_get(t, end - 1)->state, 0, 0);
}

void slots_add_touched(struct slots *t, uint32_t word)
{
	if (word == t->ready)
		t->ready = end_of_touch(word);
	slots_set_enough(t);
}

/*
 * Which free slot is taken?
 *
 * Timers are cancelled roughly in the order in which they were scheduled.  If
 * their slots lie in memory in that order, the CPU fetches their lines before
 * they are needed.  Free lists lose the order if timers live for different
 * times.  So slots are taken in the order of their addresses, in rounds.  A
 * round ends when most of the slots with which it began are free again: so it
 * was as long as those timers lived.  Thus the slots in use stay together, and
 * few slots are cold.
 *
 * Some timers may live much longer than others.  Then the round ends when most
 * slots of the word in its middle are free, and the next one begins there.
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

static bool is_mostly_free(const struct slots *t, uint32_t word)
{
	return word < t->fresh && count_free(t, word) >= MOST;
}

/*
 * The first of n words that has at least this many free slots; 0: none.  Many
 * vacant words count as one: after a peak, nearly all may be vacant.
 */
static uint32_t next_free(const struct slots *t, uint32_t word, uint32_t n,
			  int least)
{
	for (; n > 0 && word < t->fresh; word++, n--) {
		if (slots_all_vacant(t, word))
			word += VACANT_WORDS - 1;
		else if (count_free(t, word) >= least)
			return word;
	}
	return 0;
}

/* A word that was never used. */
static uint32_t fresh_word(struct slots *t)
{
	if (t->fresh == t->ready)
		return 0;
	*slots_word(t, t->fresh) = UINT64_MAX;
	return t->fresh++;
}

/*
 * Ends the round, if it is time: returns the first word of the next.  0: it
 * goes on.
 */
static uint32_t new_round(struct slots *t)
{
	uint32_t middle = t->low + (t->word - t->low) / 2;

	if (t->word < t->low)
		return 0;
	if (is_mostly_free(t, t->low))
		return t->low;
	return is_mostly_free(t, middle) ? t->low = middle : 0;
}

static uint32_t choose(struct slots *t)
{
	uint32_t word = new_round(t);

	if (word == 0)
		word = next_free(t, t->word + 1, AHEAD, MANY);
	if (word == 0)
		word = fresh_word(t);
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
	t->at = slots_word(t, t->word);
	t->slot = slots_get(t, t->word << SLOT_WORD_LOG2);
	t->index = t->word << SLOT_WORD_LOG2 << t->shift | t->bucket;
}
