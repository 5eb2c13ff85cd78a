/* SPDX-License-Identifier: MIT */
/*
 * Slots: a slot holds one timer; an id names it.
 *
 * Guarantees:
 *  1. A slot never moves and is never unmapped before slots_destroy, so any
 *     id, however old or made up, can be looked up.
 *  2. An id names one timer for ever: a slot's generation changes each time
 *     it is freed, and a slot that has used up its generations is retired (64
 *     bytes lost after half a billion timers in one slot).
 *  3. Of all threads that try to cancel, reschedule or begin a timer, exactly
 *     one succeeds at a time: the state word changes by compare-and-swap on
 *     generation and state at once.
 *  4. Cancelling is that compare-and-swap and nothing else.
 *  5. A slot's memory is first touched by the thread that makes the table grow.
 *     That thread is on the bucket's CPU, so that the kernel takes memory near
 *     it.  (Unless it was moved to another CPU just then, or its own bucket's
 *     lock was held.)
 *
 * The life of a slot, and which thread makes each change:
 *
 *	free -> armed           slot_arm, the scheduling thread, bucket's lock
 *	armed -> moved          the rescheduling thread, bucket's lock
 *	moved -> armed          the driver, bucket's lock: put back
 *	armed -> dead           slot_cancel, any thread
 *	moved -> dead, moved    slot_cancel, any thread
 *	armed, moved -> running, repeating
 *	                        the driver; but for armed -> running with the
 *	                        bucket's lock
 *	running -> repeating    the driver, in the callback: armed again
 *	running, repeating -> ending
 *	                        slot_cancel, any thread
 *	repeating -> armed      the driver, bucket's lock
 *	running, ending -> free the driver
 *	dead -> free            the owner of the entry with the slot's ticket;
 *	                        or salvage, bucket's lock
 *
 * "Moved" says that the timer was rescheduled and its deadline may not be that
 * of the entry: a thread that finds the entry must look under the lock.  A slot
 * that died in that state may just be getting a new entry from a thread that
 * found it alive, so the driver looks under the lock again before it frees it.
 * test/model/slot.pml is a model of this for Spin, without timers that repeat.
 *
 * "The driver" is the thread in the engine's turn.  Where there is an executor,
 * it is also the executor's thread, for the timer whose callback it runs, until
 * that timer is rearmed or over (see handover.h).
 *
 * An id is the state word of the armed timer (high half) and the slot's index
 * (low half).  The index is the slot's number in its bucket and, in its low
 * bits, the bucket.  A bucket's slots lie in chunks, each twice as large as
 * the one before: to grow moves nothing, a lookup is a count of leading zeros
 * and two loads, and a bucket that is never used has none.
 */
#ifndef TT_SLOT_H
#define TT_SLOT_H

#include "intake/entry.h"
#include "os/atomic.h"
#include "os/base.h"
#include "timerthread.h"

#include <stdbool.h>
#include <stddef.h>

enum slot_state {
	SLOT_FREE =
		0, /* its bit says so or soon will, retired, or never used */
	SLOT_ARMED =
		1, /* pending, its entry has its deadline, or a later one */
	SLOT_MOVED = 2, /* pending, its entry has an earlier deadline */
	SLOT_RUNNING = 3,
	SLOT_REPEATING = 4, /* running, and armed again when that is over */
	SLOT_ENDING = 5,    /* running, cancelled meanwhile */
	SLOT_DEAD = 6,
	SLOT_DEAD_MOVED = 7, /* dead, was moved before */
};

#define SLOT_STATE_BITS 3
#define SLOT_STATE_MASK ((1u << SLOT_STATE_BITS) - 1)
#define SLOT_GENERATION (1u << SLOT_STATE_BITS)

/* What a timer is made from. */
struct timer {
	int64_t deadline;
	int64_t period; /* 0: it does not repeat */
	timerthread_fn *fn;
	void *arg;
};

struct slot {
	atom32 state; /* generation and slot_state */
	/*
	 * Its entry's.  Written under the bucket's lock; only the driver, which
	 * hands a timer over by a compare-and-swap, does without it.
	 */
	atom32 ticket;
	uint32_t index; /* set before the first use, constant from then on */
	/* Protected by the bucket's lock. */
	bool stranded; /* handed over, and on its bucket's list of such */
	int64_t deadline;
	int64_t queued; /* its entry's; later, where the timer's has passed */
	/*
	 * Written under the bucket's lock while the slot is free, then read
	 * by the driver alone, while the timer runs or the driver has its
	 * entry.
	 */
	int64_t period;
	/* Pointers.  Written as period; any thread may read them. */
	atomword fn;
	atomword arg;
	union {
		/* Owned by the owner of the list that the slot is on. */
		struct slot *next;
		/* While an executor has the slot, which is on none then. */
		struct timerthread *instance;
	};
} __attribute__((aligned(TT_CACHE_LINE)));

/*
 * Slots are numbered from as many as the first chunk holds, so that the
 * highest bit of a number says the chunk.
 */
#define SLOT_FIRST_LOG2   6
#define SLOT_FIRST_NUMBER (1u << SLOT_FIRST_LOG2)
#define SLOT_CHUNKS       (32 - SLOT_FIRST_LOG2)
#define SLOT_TOP_CHUNK    (SLOT_CHUNKS - 1)

/*
 * Slots are numbered in words of 64, of which a bit each says that it is free.
 * Word 1 is the first, and the highest bit of a word's number says the chunk.
 */
#define SLOT_WORD_LOG2 SLOT_FIRST_LOG2

/* The slots of one bucket. */
struct slots {
	/* Protected by the bucket's lock. */
	struct slot *hot;  /* one that was freed a moment ago, or NULL */
	uint64_t *at;      /* the word that slots are taken from */
	struct slot *slot; /* the slot of that word's lowest bit */
	uint32_t word;     /* that word's number */
	uint32_t low;      /* the word where this round began; see slot.c */
	uint32_t last;     /* the word of the slot that was freed last */
	uint32_t fresh;    /* words from here to ready were never used */
	uint32_t ready;    /* words from here to end were never touched */
	uint32_t end;      /* behind the highest word */
	uint32_t used;     /* slots that are not free, and the hot one */
	uint32_t enough;   /* so many may be; see slots_any */
	bool all;          /* all may be used */
	uint64_t first;    /* word 1, which is there before its slots */
	/* As chunk below, for the free bits of the words. */
	uint64_t *bits[SLOT_CHUNKS];
	/* Constant. */
	uint32_t bucket;
	uint32_t shift; /* bits of an index that say the bucket */
	/*
	 * Written under the bucket's lock, read by any thread.  The members
	 * above are seldom written, so that a thread that cancels on another
	 * CPU touches no line that the lock's holder writes.
	 */
	atomword chunk[SLOT_CHUNKS];
	void *memory[SLOT_CHUNKS]; /* what to free */
};

/*
 * Slots that were freed, except that their bits are not set yet.  By index: the
 * driver would have to fetch the slots again, which may be in no cache any
 * more.
 */
#define SLOT_BATCH 60

struct slot_batch {
	uint32_t n;
	uint32_t index[SLOT_BATCH];
};

/* *t is all zero, and may be read, as one that has no slot. */
void slots_init(struct slots *t, uint32_t bucket, uint32_t shift);
void slots_destroy(struct slots *t);

/* The chunks that a table may have: as many as its numbers have bits for. */
static inline int slots_max_chunks(const struct slots *t)
{
	return t->shift ? SLOT_CHUNKS - (int)t->shift : SLOT_CHUNKS - 1;
}

/*
 * Growing, in steps because the lock is not held while memory is allocated, or
 * touched for the first time, when the kernel has to find a page.
 *
 * slots_next_chunk: the number of the chunk to make, or -1 when the table may
 * not grow any more; under the lock.  slots_chunk_alloc: its memory, or NULL;
 * no lock.  slots_add_chunk: puts it in place, if that chunk is still the next;
 * under the lock.  Returns false if not, and the memory is the caller's, to
 * free with slots_chunk_free.
 *
 * slots_untouched: the first word that was never touched, or 0: none; under the
 * lock.  slots_touch: touches some from there on; no lock.  slots_add_touched:
 * they may be used; under the lock.
 */
int slots_next_chunk(const struct slots *t);
void *slots_chunk_alloc(int chunk);
void slots_chunk_free(int chunk, void *memory);
bool slots_add_chunk(struct slots *t, int chunk, void *memory);

uint32_t slots_untouched(const struct slots *t);
void slots_touch(struct slots *t, uint32_t word);
void slots_add_touched(struct slots *t, uint32_t word);

/* Touches the bits of what was never used. */
void slots_touch_bits(struct slots *t);

/* From now on slots_any leaves none free for the sake of their order. */
void slots_use_all(struct slots *t);

/* How many slots were touched, used or not.  Under the lock. */
static inline size_t slots_room(const struct slots *t)
{
	return (size_t)(t->ready - 1) << SLOT_WORD_LOG2;
}

/* The memory that they take, with their bits.  Under the lock. */
static inline size_t slots_bytes(const struct slots *t)
{
	return (size_t)(t->ready - 1) *
	       ((sizeof(struct slot) << SLOT_WORD_LOG2) + sizeof(uint64_t));
}

/* Behind the highest number of one that was ever used.  Under the lock. */
static inline uint32_t slots_end(const struct slots *t)
{
	return t->fresh << SLOT_WORD_LOG2;
}

/* Aborts if the table is not sound.  Under the lock; for tests. */
void slots_check(const struct slots *t);

static inline uint32_t slot_word(uint64_t id)
{
	return (uint32_t)(id >> 32);
}

static inline uint32_t slot_index(uint64_t id)
{
	return (uint32_t)id;
}

/*
 * Where the slot with this number is, given the word for its chunk: that
 * holds the address that number 0 would have if the chunk went down to it,
 * and a bit that tells it from the word of a chunk that is not there.
 */
#define SLOT_CHUNK_THERE 1u

static inline struct slot *slot_address(uintptr_t chunk, uint32_t number)
{
	return (struct slot *)(chunk - SLOT_CHUNK_THERE +
			       (uintptr_t)number * sizeof(struct slot));
}

/*
 * The slot with this number, or NULL where the table has none.  Any thread.
 * Acquire: pairs with the store in slots_add_chunk.
 */
static inline struct slot *slots_at(const struct slots *t, uint32_t number)
{
	unsigned i;
	uintptr_t chunk;

	if (unlikely(number < SLOT_FIRST_NUMBER))
		return NULL;
	i = SLOT_TOP_CHUNK - (unsigned)__builtin_clz(number);
	chunk = atomword_load_acquire(&t->chunk[i]);
	return likely(chunk != 0) ? slot_address(chunk, number) : NULL;
}

/*
 * Has there ever been one?  Any thread.  Orders nothing: the lock is taken
 * before a slot is used.
 */
static inline bool slots_begun(const struct slots *t)
{
	return atomword_load(&t->chunk[0]) != 0;
}

/*
 * The slot with this number, of which the caller has learned under the bucket's
 * lock, or from a thread that did: an entry's, for example.  So it acquires
 * nothing, and one schedule call has seven load-acquires less on 64-bit Arm.
 */
static inline struct slot *slots_get(const struct slots *t, uint32_t number)
{
	unsigned i = SLOT_TOP_CHUNK - (unsigned)__builtin_clz(number);

	return slot_address(atomword_load(&t->chunk[i]), number);
}

/* The slot that an entry refers to. */
static inline struct slot *slots_of(const struct slots *t, uint32_t index)
{
	return slots_get(t, index >> t->shift);
}

/* Finds another word with a free slot; there must be one. */
void slots_move_on(struct slots *t);

/* Slots are taken in the order of their addresses: these lines come next. */
#define SLOT_PREFETCH 8

/* A free slot; there must be one.  Under the lock. */
static inline struct slot *slots_take(struct slots *t)
{
	struct slot *s = t->hot;
	uint32_t bit;

	if (s) {
		t->hot = NULL;
		return s;
	}
	if (unlikely(*t->at == 0))
		slots_move_on(t);
	bit = (uint32_t)__builtin_ctzll(*t->at);
	*t->at &= *t->at - 1;
	t->used++;
	s = t->slot + bit;
	prefetch_to_write(s + SLOT_PREFETCH);
	s->index = (t->word << SLOT_WORD_LOG2 | bit) << t->shift | t->bucket;
	return s;
}

/*
 * Is there one to take?  Once all words were used, and while there is memory
 * that was not touched, a few are left free: else they would be too scattered
 * to be taken in order.  Under the lock.
 */
static inline bool slots_any(const struct slots *t)
{
	return t->used < t->enough || t->fresh < t->ready || t->hot;
}

/* How many are not free.  Under the lock. */
static inline size_t slots_used(const struct slots *t)
{
	return t->used - (t->hot != NULL);
}

/* The free bits of a word of the table.  Under the lock. */
static inline uint64_t *slots_word(const struct slots *t, uint32_t word)
{
	unsigned i = 31 - (unsigned)__builtin_clz(word);

	return t->bits[i] + word;
}

static inline enum slot_state slot_state(uint32_t word)
{
	return (enum slot_state)(word & SLOT_STATE_MASK);
}

/* After its callback has returned: is the timer to run again? */
static inline bool slot_repeats(const struct slot *s)
{
	return slot_state(atom32_load(&s->state)) == SLOT_REPEATING;
}

/* The word of the same timer in another state. */
static inline uint32_t slot_in(uint32_t word, enum slot_state state)
{
	return (word & ~SLOT_STATE_MASK) | state;
}

/* Was this timer running a moment ago, and not to run again? */
static inline bool slot_is_running(const struct slot *s, uint64_t id)
{
	return unlikely(atom32_load(&s->state) ==
			slot_in(slot_word(id), SLOT_RUNNING));
}

/* The id of the timer that a slot holds while its state is word. */
static inline uint64_t slot_id(const struct slot *s, uint32_t word)
{
	return (uint64_t)slot_in(word, SLOT_ARMED) << 32 | s->index;
}

/* The same, of the slot with this number; reads nothing of the slot. */
static inline uint64_t slots_id(const struct slots *t, uint32_t number,
				uint32_t word)
{
	return (uint64_t)slot_in(word, SLOT_ARMED) << 32 | number << t->shift |
	       t->bucket;
}

/* The entry that counts.  Under the lock. */
static inline struct entry slot_entry(const struct slot *s)
{
	return (struct entry){s->queued, atom32_load(&s->ticket), s->index};
}

/*
 * Arms a slot from slots_take, whose entry will have the deadline due, and
 * returns its timer's id.  Under the lock.
 * Release: pairs with the compare-and-swaps in slot_cancel and slot_begin.
 */
static inline uint64_t slot_arm(struct slot *s, const struct timer *t,
				int64_t due)
{
	uint32_t word = atom32_load(&s->state) | SLOT_ARMED;
	uint32_t ticket = atom32_load(&s->ticket) | (TICKET_STEP - 1);

	atom32_store(&s->ticket, ticket + 1 + !!t->period);
	s->deadline = t->deadline;
	s->queued = due;
	s->period = t->period;
	atomword_store(&s->fn, (uintptr_t)t->fn);
	atomword_store(&s->arg, (uintptr_t)t->arg);
	atom32_store_release(&s->state, word);
	return (uint64_t)word << 32 | s->index;
}

/*
 * The callback, and what it is given.  A caller that does not own the timer may
 * get those of another one that was in this slot, or will be.
 */
static inline timerthread_fn *slot_fn(const struct slot *s)
{
	return (timerthread_fn *)atomword_load(&s->fn);
}

static inline void *slot_arg(const struct slot *s)
{
	return (void *)atomword_load(&s->arg);
}

/*
 * Returns as timerthread_cancel.  Acquire: pairs with the store in slot_arm;
 * with the slot_change that armed a timer again which repeats or was moved, so
 * that the thread that gets 0 for a periodic timer sees what its callbacks
 * wrote, and owns the argument; and on failure with the slot_free at the end of
 * the callback, so that -ENOENT shows what that wrote.
 */
int slot_cancel(struct slot *s, uint64_t id);

/* The same, but a timer that is running (1) is left as it is. */
int slot_cancel_pending(struct slot *s, uint64_t id);

/* What a timer was to call. */
struct callback {
	timerthread_fn *fn;
	void *arg;
};

/*
 * The same two, which also tell what the timer was to call, if they return 0.
 * Acquire: pairs with the store in slot_arm, so that these are not older than
 * the state.  The compare-and-swap releases, too: they are read before another
 * timer can be in the slot, because the thread that frees it has seen it dead.
 */
int slot_take(struct slot *s, uint64_t id, struct callback *ret);
int slot_take_pending(struct slot *s, uint64_t id, struct callback *ret);

/*
 * From one state of a timer to another; false: it is in a third by now, which
 * is in *word.  Acquires and releases: pairs with itself on other threads,
 * and with slot_arm and slot_cancel.
 */
static inline bool slot_change(struct slot *s, uint32_t *word,
			       enum slot_state to)
{
	uint32_t was = *word;

	*word = atom32_swap(&s->state, was, slot_in(was, to));
	return *word == was;
}

/* Does this entry count?  Under the lock it goes on to. */
static inline bool slot_owns(const struct slot *s, const struct entry *e)
{
	return likely(atom32_load(&s->ticket) == e->ticket);
}

/*
 * armed -> running, if the entry counts and the timer does not repeat.  By the
 * driver: but for a timer that is handed over, which has no entry, only the
 * driver makes armed of moved, and the ticket changes in "moved" only.
 * Acquire: pairs with the store in slot_arm, so that the ticket is not older
 * than the state.  Nobody reads anything on the strength of "running", so the
 * compare-and-swap need not release; a run's end does.
 */
static inline bool slot_begin(struct slot *s, const struct entry *e)
{
	uint32_t word = atom32_load_acquire(&s->state);

	return slot_state(word) == SLOT_ARMED && slot_owns(s, e) &&
	       !(e->ticket & TICKET_REPEATS) &&
	       atom32_swap_acquire(&s->state, word,
				   slot_in(word, SLOT_RUNNING)) == word;
}

static inline bool slot_is_handed_over(const struct slot *s)
{
	return atom32_load(&s->ticket) & TICKET_HANDED_OVER;
}

/*
 * Hands a timer over if its entry counts, and it was armed a moment ago.  It
 * may be cancelled or moved by now: the thread that begins it will see that.
 * By the driver, without the lock.  Acquire: as in slot_begin; the
 * compare-and-swap pairs with that of the thread that gives it a new entry
 * (reschedule.c).
 */
static inline bool slot_hand_over(struct slot *s, const struct entry *e)
{
	return slot_state(atom32_load_acquire(&s->state)) == SLOT_ARMED &&
	       atom32_swap(&s->ticket, e->ticket,
			   e->ticket | TICKET_HANDED_OVER) == e->ticket;
}

/* handed over, armed -> running, if the timer does not repeat. */
static inline bool slot_begin_handed_over(struct slot *s)
{
	uint32_t word = atom32_load_acquire(&s->state);

	return slot_state(word) == SLOT_ARMED &&
	       !(atom32_load(&s->ticket) & TICKET_REPEATS) &&
	       slot_change(s, &word, SLOT_RUNNING);
}

static inline bool slot_is_dead(uint32_t word)
{
	return (word & SLOT_DEAD) == SLOT_DEAD;
}

/* The word when the timer is over and the slot is free for the next one. */
static inline uint32_t slot_next(uint32_t word)
{
	return slot_in(word, SLOT_FREE) + SLOT_GENERATION;
}

/*
 * To free, from this word.  The thread that does it has the slot, until its
 * bit says that it is free.  False: another one has it.
 * Acquires and releases: pairs with itself, and with a cancel that comes so
 * late that it finds this.
 */
static inline bool slot_free(struct slot *s, uint32_t word)
{
	return atom32_swap(&s->state, word, slot_next(word)) == word;
}

/*
 * Of a slot that was freed: has it used up its generations?  Then it must not
 * be used again; its state matches no id that was ever given.
 */
static inline bool slot_is_used_up(const struct slot *s)
{
	return unlikely(atom32_load(&s->state) == 0);
}

/* Under the lock. */
static inline void slots_set_free(struct slots *t, uint32_t number)
{
	unsigned i = SLOT_TOP_CHUNK - (unsigned)__builtin_clz(number);

	t->last = number >> SLOT_WORD_LOG2;
	t->bits[i][t->last] |= UINT64_C(1) << (number % SLOT_FIRST_NUMBER);
	t->used--;
}

/* Adds a slot that was freed, and has this number.  Under the lock. */
static inline void slots_give(struct slots *t, struct slot *s, uint32_t number)
{
	if (slot_is_used_up(s))
		return;
	if (!t->hot && number >> SLOT_WORD_LOG2 == t->word)
		t->hot = s;
	else
		slots_set_free(t, number);
}

/*
 * Frees a dead slot and adds it; by the thread that has the entry that counts,
 * in the bucket.  Under the lock, so no other thread frees it.  Release: as in
 * slot_free.
 */
static inline void slots_recycle(struct slots *t, struct slot *s,
				 uint32_t number)
{
	atom32_store_release(&s->state, slot_next(atom32_load(&s->state)));
	slots_give(t, s, number);
}

/*
 * Adds a slot that was freed, for slots_add_free.  By the owner of the batch,
 * in which there must be room.  True: it is full now.
 */
static inline bool slot_batch_add(struct slot_batch *b, struct slot *s)
{
	if (!slot_is_used_up(s))
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

#endif
