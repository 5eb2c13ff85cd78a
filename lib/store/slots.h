/* SPDX-License-Identifier: MIT */
/*
 * The slots of a bucket: a table that grows, and which of its slots are free.
 *
 * Guarantees:
 *  1. A slot never moves, and is never unmapped before slots_destroy.  So any
 *     id, however old or made up, can be looked up.  Its memory comes from the
 *     system and goes back to it by words of 64 slots (vacancy.h).
 *  2. The thread that makes the table grow is the first that touches a slot's
 *     memory.  It runs on the bucket's CPU, so the kernel allocates memory near
 *     that CPU.  (Exceptions: the thread was moved to another CPU just then,
 *     the lock of its own CPU's bucket was held, or the bucket is of no CPU.)
 *
 * A slot's index is its number in the bucket and, in the low bits, the bucket.
 * The slots lie in chunks, each twice as large as the one before.  So growing
 * moves nothing, a lookup is a count of leading zeros and two loads, and a
 * bucket that is never used has no chunks.  A chunk is a range of addresses:
 * all its words are vacant at first, but for that of the first chunk.
 *
 * Any thread: at, get, of.  The driver: the batch.  The rest is done
 * under the bucket's lock, except what says that it is not.
 */
#pragma once

#include "store/slot.h"

/*
 * The number of the first slot is the number of slots in the first chunk.  So
 * the highest bit of a slot's number tells the chunk.
 */
#define SLOT_FIRST_LOG2   6
#define SLOT_FIRST_NUMBER (1u << SLOT_FIRST_LOG2)
#define SLOT_CHUNKS       (32 - SLOT_FIRST_LOG2)

/*
 * The bits that say which slots are free lie in words of 64.  The first word
 * has the number 1.  The highest bit of a word's number tells the chunk.
 */
#define SLOT_WORD_LOG2 SLOT_FIRST_LOG2

/* So many words stay in any case: 1,024 slots. */
#define SLOTS_LEAST 16

/*
 * What a vacant word's slots begin with; see vacancy.h.  Written by the driver
 * while it has the word.
 */
struct slot_floor {
	uint32_t state;
	uint32_t ticket;
};

_Static_assert(sizeof(struct slot_floor) == sizeof(uint64_t),
	       "floors lie like the words of bits");

/* What is kept for each word behind the slots of a chunk. */
#define SLOT_WORD_BYTES (sizeof(uint64_t) + sizeof(struct slot_floor))

/*
 * Behind the floors: which of 32 words have memory, a bit each.  Written under
 * the lock, read by any thread.
 */
#define VACANT_WORDS 32

/* Words one behind the other. */
struct words {
	uint32_t first;
	uint32_t n;
};

/* The slots of one bucket. */
struct slots {
	/* Protected by the bucket's lock. */
	uint64_t *at;      /* the word that slots are taken from */
	struct slot *slot; /* the slot of that word's lowest bit */
	uint32_t index;    /* that slot's index */
	uint32_t word;     /* that word's number */
	uint32_t low;      /* the word where this lap began; see slots.c */
	uint32_t last;     /* where a slot was freed, or a word added, last */
	uint32_t fresh;    /* words from here to end were never used */
	uint32_t end;      /* behind the highest word */
	uint32_t used;     /* slots that are not free */
	uint32_t enough;   /* used may grow to this; see slots_any */
	/* Words that have no memory; see vacancy.h. */
	uint32_t vacant;     /* no word below this one can be taken */
	uint32_t vacancies;  /* how many, and those that a thread has */
	struct words chosen; /* those that the driver empties */
	bool refused;        /* the system did not take what was given last */
	uint32_t least;      /* words that are kept in any case */
	uint32_t peak;       /* how high used was in this window */
	uint32_t before;     /* and in the one before */
	uint64_t first;      /* word 1, which exists before its slots */
	/*
	 * Like chunk below, but for the words of free bits.  An entry is
	 * written once, before slots_end passes its slots: who has that from
	 * under the lock may read it without.
	 */
	uint64_t *bits[SLOT_CHUNKS];
	/* Constant. */
	uint32_t bucket;
	uint32_t shift; /* how many bits of an index are the bucket */
	/*
	 * Written under the bucket's lock, read by any thread.  The members
	 * just above are seldom written.  So a thread that cancels on another
	 * CPU touches no line that the lock's holder often writes.
	 */
	atomword chunk[SLOT_CHUNKS];
};

/*
 * Slots that were freed, but whose bits are not set yet.  They are kept by
 * index: the slots themselves may no longer be in any cache, and the driver
 * would have to fetch them again.
 */
#define SLOT_BATCH 60

struct slot_batch {
	uint32_t n;
	uint32_t index[SLOT_BATCH];
};

/*
 * *t must be all zero.  Other threads may already read it; they find a table
 * that has no slots.
 */
INTERNAL void slots_init(struct slots *t, uint32_t bucket, uint32_t shift);
INTERNAL void slots_destroy(struct slots *t);

/*
 * When no word is vacant (vacancy.h), the table grows by a chunk.  This takes
 * three steps, because the lock is not held while memory is allocated:
 *
 *  - slots_next_chunk returns the number of the chunk to make; -1: the table
 *    may not grow any more.  Under the lock.
 *  - slots_chunk_alloc returns the chunk's memory, or NULL.  Without the lock.
 *  - slots_add_chunk adds the chunk, if it is still the next one.  Under the
 *    lock.  Otherwise it returns false, and the caller must free the memory
 *    with slots_chunk_free.
 */
INTERNAL int slots_next_chunk(const struct slots *t);
INTERNAL void *slots_chunk_alloc(int chunk);
INTERNAL void slots_chunk_free(int chunk, void *memory);
INTERNAL bool slots_add_chunk(struct slots *t, int chunk, void *memory);

/* Words that have memory.  Under the lock. */
static inline uint32_t slots_words(const struct slots *t)
{
	return t->end - 1 - t->vacancies;
}

/* How many slots have memory, used or not.  Under the lock. */
static inline size_t slots_room(const struct slots *t)
{
	return (size_t)slots_words(t) << SLOT_WORD_LOG2;
}

/*
 * The memory of these slots, and of what is kept for each word.  Under the
 * lock.
 */
INTERNAL size_t slots_bytes(const struct slots *t);

/* Slots with this number or a higher one were never used.  Under the lock. */
static inline uint32_t slots_end(const struct slots *t)
{
	return t->fresh << SLOT_WORD_LOG2;
}

/* The chunk of the slot with this number. */
static inline size_t slot_chunk(uint32_t number)
{
	return (size_t)(63 ^ __builtin_clzll(number)) - SLOT_FIRST_LOG2;
}

/*
 * The address of the slot with this number.  chunk is the word for its chunk.
 * That word holds the address that slot 0 would have if the chunk reached down
 * to slot 0.  It also holds a bit that distinguishes it from the word of a
 * chunk that does not exist.
 */
#define SLOT_CHUNK_THERE 1u

static inline struct slot *slot_address(uintptr_t chunk, uint32_t number)
{
	return (struct slot *)(chunk - SLOT_CHUNK_THERE +
			       (uintptr_t)number * sizeof(struct slot));
}

/*
 * The slot with this number, or NULL if the table has none.  Any thread.
 * Acquire: pairs with the store in slots_add_chunk.
 */
static inline struct slot *slots_at(const struct slots *t, uint32_t number)
{
	uintptr_t chunk;

	if (unlikely(number < SLOT_FIRST_NUMBER))
		return NULL;
	chunk = atomword_load_acquire(&t->chunk[slot_chunk(number)]);
	return likely(chunk != 0) ? slot_address(chunk, number) : NULL;
}

/*
 * The slot with this number.  The caller has learned the number under the
 * bucket's lock, or from a thread that did: from an entry, for example.  So the
 * load does not acquire: on 64-bit Arm, calls that schedule would have many
 * load-acquires more.
 */
static inline struct slot *slots_get(const struct slots *t, uint32_t number)
{
	uintptr_t chunk = atomword_load(&t->chunk[slot_chunk(number)]);

	return slot_address(chunk, number);
}

/* The slot that an entry refers to. */
static inline struct slot *slots_of(const struct slots *t, uint32_t index)
{
	return slots_get(t, index >> t->shift);
}

/* Finds another word with a free slot; there must be one. */
INTERNAL void slots_move_on(struct slots *t);

/* To be called when the words that have memory are others. */
INTERNAL void slots_set_enough(struct slots *t);

/*
 * The table cannot grow: all slots may be taken.  False: none is free.  Under
 * the lock.
 */
INTERNAL bool slots_use_all(struct slots *t);

/*
 * Slots are taken in the order of their addresses.  This many ahead, one is
 * prefetched.
 */
#define SLOT_PREFETCH 8

/* A free slot; there must be one.  Under the lock. */
static inline struct slot *slots_take(struct slots *t)
{
	struct slot *s;
	uint32_t bit;

	if (unlikely(*t->at == 0))
		slots_move_on(t);
	bit = (uint32_t)__builtin_ctzll(*t->at);
	*t->at &= *t->at - 1;
	t->used++;
	s = t->slot + bit;
	prefetch_to_write(s + SLOT_PREFETCH);
	s->index = t->index + (bit << t->shift);
	return s;
}

/* The free bits of a word of the table.  Under the lock. */
static inline uint64_t *slots_word(const struct slots *t, uint32_t word)
{
	return t->bits[31 ^ (unsigned)__builtin_clz(word)] + word;
}

/* Is there a word that has memory and was never used? */
static inline bool slots_any_fresh(const struct slots *t)
{
	return t->fresh < t->end && *slots_word(t, t->fresh) != 0;
}

/*
 * Is there a free slot to take?  Those of the word that is in use, and of words
 * that were never used, or just added.  Of all others, the last eighth is not
 * taken as long as the table can grow: they are too scattered to be taken in
 * order, and to find one takes long.  Under the lock.
 */
static inline bool slots_any(const struct slots *t)
{
	return t->used < t->enough || *t->at != 0 || slots_any_fresh(t) ||
	       *slots_word(t, t->last) == UINT64_MAX;
}

/* Which words have memory: this one, which is not the first, and others. */
static inline atom32 *slots_there(const struct slots *t, uint32_t word)
{
	unsigned chunk = 31 ^ (unsigned)__builtin_clz(word);
	uint32_t first = UINT32_C(1) << chunk;
	/* A chunk has as many words, and floors, as the first's number. */
	uint64_t *end = t->bits[chunk] + 3 * (size_t)first;

	return (atom32 *)end + (word - first) / VACANT_WORDS;
}

/* Is it the first of 32 words that are all vacant?  Under the lock. */
static inline bool slots_all_vacant(const struct slots *t, uint32_t word)
{
	return word % VACANT_WORDS == 0 && word > 0 &&
	       atom32_load(slots_there(t, word)) == 0;
}

/* Under the lock. */
static inline void slots_set_free(struct slots *t, uint32_t number)
{
	t->last = number >> SLOT_WORD_LOG2;
	*slots_word(t, t->last) |= UINT64_C(1) << (number % SLOT_FIRST_NUMBER);
	t->used--;
}

/*
 * Adds a slot that was freed, and has this number, to the free ones.  Under the
 * lock.
 */
static inline void slots_give(struct slots *t, struct slot *s, uint32_t number)
{
	if (!slot_is_retired(s))
		slots_set_free(t, number);
}

/*
 * Adds a slot that was freed to the batch, for slots_add_free.  Only the owner
 * of the batch calls this; there must be room.  True: the batch is full now.
 */
static inline bool slot_batch_add(struct slot_batch *b, struct slot *s)
{
	if (!slot_is_retired(s))
		b->index[b->n++] = s->index;
	return b->n == SLOT_BATCH;
}

/* Adds the batch to the table's free slots, and empties it.  Under the lock. */
static inline void slots_add_free(struct slots *t, struct slot_batch *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		slots_set_free(t, b->index[i] >> t->shift);
	b->n = 0;
}
