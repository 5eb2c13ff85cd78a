/* SPDX-License-Identifier: MIT */
/*
 * Slots: a slot holds one timer; an id names it.
 *
 * Guarantees:
 *  1. A slot never moves, and is never unmapped before slots_destroy.  So any
 *     id, however old or made up, can be looked up.
 *  2. An id names one timer forever: a slot's generation changes each time the
 *     slot is freed.  A slot that has used up its generations is retired (64
 *     bytes are lost after half a billion timers in one slot).
 *  3. Of all threads that try to cancel, reschedule or begin a timer, exactly
 *     one succeeds at a time: each changes the state word by a compare-and-swap
 *     on generation and state together.
 *  4. Cancelling is that compare-and-swap and nothing else.
 *  5. The thread that makes the table grow is the first that touches a slot's
 *     memory.  It runs on the bucket's CPU, so the kernel allocates memory near
 *     that CPU.  (Exceptions: the thread was moved to another CPU just then, or
 *     the lock of its own CPU's bucket was held.)
 *
 * The life of a slot, and which thread makes each change:
 *
 *	free -> armed           slot_arm, the scheduling thread, bucket's lock
 *	armed -> moved          the rescheduling thread, bucket's lock
 *	moved -> armed          the driver, bucket's lock: put back
 *	armed -> dead           slot_cancel, any thread
 *	moved -> dead, moved    slot_cancel, any thread
 *	armed, moved -> running, repeating
 *	                        the driver; bucket's lock, except for
 *	                        armed -> running
 *	running -> repeating    the driver, in the callback: armed again
 *	running, repeating -> ending
 *	                        slot_cancel, any thread
 *	repeating -> armed      the driver, bucket's lock
 *	running, ending -> free the driver
 *	dead -> free            the owner of the entry with the slot's ticket;
 *	                        or salvage, bucket's lock
 *
 * "Moved" means that the timer was rescheduled, and its deadline may differ
 * from that of the entry.  A thread that finds the entry must look under the
 * lock.  If a slot dies in that state, a thread that found it alive may be
 * giving it a new entry at that moment.  So the driver looks again, under the
 * lock, before it frees the slot.  test/model/slot.pml is a model of this for
 * Spin, without timers that repeat.
 *
 * "The driver" is the thread in the engine's turn.  If there is an executor, it
 * is also the executor's thread, for the timer whose callback that thread runs,
 * until the timer is rearmed or has ended (see handover.h).
 *
 * An id is the state word of the armed timer (high half) and the slot's index
 * (low half).  The index is the slot's number in its bucket and, in its low
 * bits, the bucket.  A bucket's slots lie in chunks, each twice as large as the
 * one before.  So growing moves nothing, a lookup is a count of leading zeros
 * and two loads, and a bucket that is never used has no chunks.
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
	/* Its bit is set, or soon will be; or it is retired, or never used. */
	SLOT_FREE = 0,
	/* Pending; its entry has the timer's deadline, or a later one. */
	SLOT_ARMED = 1,
	/* Pending; its entry may be earlier than the timer's deadline. */
	SLOT_MOVED = 2,
	SLOT_RUNNING = 3,
	SLOT_REPEATING = 4, /* running, and will be armed again after that */
	SLOT_ENDING = 5,    /* running, and was cancelled meanwhile */
	SLOT_DEAD = 6,
	SLOT_DEAD_MOVED = 7, /* dead, and was moved before */
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
	int64_t now; /* the time of the call; 0: the caller does not know it */
};

struct slot {
	atom32 state; /* generation and slot_state */
	/*
	 * The ticket of the entry that counts.  Written under the bucket's
	 * lock.  Exception: the driver hands a timer over without the lock, by
	 * a compare-and-swap.
	 */
	atom32 ticket;
	uint32_t index; /* set before the first use, constant from then on */
	/* Protected by the bucket's lock. */
	bool stranded; /* handed over, and on a list of stranded timers */
	int64_t deadline;
	int64_t queued; /* its entry's; later if the deadline had passed */
	/*
	 * Written under the bucket's lock while the slot is free.  Then only
	 * the driver reads it, while the timer runs or the driver has its
	 * entry.
	 */
	int64_t period;
	/* Pointers.  Written like period; any thread may read them. */
	atomword fn;
	atomword arg;
	union {
		/* Belongs to the owner of the list that the slot is on. */
		struct slot *next;
		/* While an executor has the slot; then it is on no list. */
		struct timerthread *instance;
	};
} __attribute__((aligned(TT_CACHE_LINE)));

/*
 * The number of the first slot is the number of slots in the first chunk.  So
 * the highest bit of a slot's number tells the chunk.
 */
#define SLOT_FIRST_LOG2   6
#define SLOT_FIRST_NUMBER (1u << SLOT_FIRST_LOG2)
#define SLOT_CHUNKS       (32 - SLOT_FIRST_LOG2)
#define SLOT_TOP_CHUNK    (SLOT_CHUNKS - 1)

/*
 * The bits that say which slots are free lie in words of 64.  The first word
 * has the number 1.  The highest bit of a word's number tells the chunk.
 */
#define SLOT_WORD_LOG2 SLOT_FIRST_LOG2

/* The slots of one bucket. */
struct slots {
	/* Protected by the bucket's lock. */
	struct slot *hot;  /* a slot that was freed a moment ago, or NULL */
	uint64_t *at;      /* the word that slots are taken from */
	struct slot *slot; /* the slot of that word's lowest bit */
	uint32_t word;     /* that word's number */
	uint32_t low;      /* the word where this round began; see slot.c */
	uint32_t last;     /* the word of the slot that was freed last */
	uint32_t fresh;    /* words from here to ready were never used */
	uint32_t ready;    /* words from here to end were never touched */
	uint32_t end;      /* behind the highest word */
	uint32_t used;     /* slots that are not free, and the hot one */
	uint32_t enough;   /* used may grow to this; see slots_any */
	bool all;          /* enough is the number of all slots; set first */
	uint64_t first;    /* word 1, which exists before its slots */
	/* Like chunk below, but for the words of free bits. */
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
	void *memory[SLOT_CHUNKS]; /* what to free */
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
void slots_init(struct slots *t, uint32_t bucket, uint32_t shift);
void slots_destroy(struct slots *t);

/*
 * How many chunks a table may have: as many as the bits of a slot's number
 * allow.
 */
static inline int slots_max_chunks(const struct slots *t)
{
	return t->shift ? SLOT_CHUNKS - (int)t->shift : SLOT_CHUNKS - 1;
}

/*
 * Growing takes several steps, because the lock is not held while memory is
 * allocated, or touched for the first time (then the kernel must find a page).
 * First a chunk of slots:
 *
 *  - slots_next_chunk returns the number of the chunk to make; -1: the table
 *    may not grow any more.  Under the lock.
 *  - slots_chunk_alloc returns the chunk's memory, or NULL.  Without the lock.
 *  - slots_add_chunk adds the chunk, if it is still the next one.  Under the
 *    lock.  Otherwise it returns false, and the caller must free the memory
 *    with slots_chunk_free.
 *
 * Then some words of its slots:
 *
 *  - slots_untouched returns the first word that was never touched; 0: there is
 *    none.  Under the lock.
 *  - slots_touch touches some words from there on.  Without the lock.
 *  - slots_add_touched says that they may be used.  Under the lock.
 */
int slots_next_chunk(const struct slots *t);
void *slots_chunk_alloc(int chunk);
void slots_chunk_free(int chunk, void *memory);
bool slots_add_chunk(struct slots *t, int chunk, void *memory);

uint32_t slots_untouched(const struct slots *t);
void slots_touch(struct slots *t, uint32_t word);
void slots_add_touched(struct slots *t, uint32_t word);

/* Touches the free bits of words that were never used. */
void slots_touch_bits(struct slots *t);

/* How many slots were touched, used or not.  Under the lock. */
static inline size_t slots_room(const struct slots *t)
{
	return (size_t)(t->ready - 1) << SLOT_WORD_LOG2;
}

/* The memory of these slots and of their bits.  Under the lock. */
static inline size_t slots_bytes(const struct slots *t)
{
	return (size_t)(t->ready - 1) *
	       ((sizeof(struct slot) << SLOT_WORD_LOG2) + sizeof(uint64_t));
}

/* Slots with this number or a higher one were never used.  Under the lock. */
static inline uint32_t slots_end(const struct slots *t)
{
	return t->fresh << SLOT_WORD_LOG2;
}

static inline uint32_t slot_word(uint64_t id)
{
	return (uint32_t)(id >> 32);
}

static inline uint32_t slot_index(uint64_t id)
{
	return (uint32_t)id;
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
	unsigned i;
	uintptr_t chunk;

	if (unlikely(number < SLOT_FIRST_NUMBER))
		return NULL;
	i = SLOT_TOP_CHUNK - (unsigned)__builtin_clz(number);
	chunk = atomword_load_acquire(&t->chunk[i]);
	return likely(chunk != 0) ? slot_address(chunk, number) : NULL;
}

/*
 * Has the table ever had a slot?  Any thread.  Relaxed: the caller takes the
 * lock before it uses a slot.
 */
static inline bool slots_begun(const struct slots *t)
{
	return atomword_load(&t->chunk[0]) != 0;
}

/*
 * The slot with this number.  The caller has learned the number under the
 * bucket's lock, or from a thread that did: from an entry, for example.  So the
 * load does not acquire, and a schedule call on 64-bit Arm has seven
 * load-acquires fewer.
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

/*
 * Slots are taken in the order of their addresses.  This many ahead, one is
 * prefetched.
 */
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
 * Is there a free slot to take?  When all touched words have been used, and
 * there is more memory to touch, the last few free slots are not taken: they
 * are too scattered to be taken in order.  Under the lock.
 */
static inline bool slots_any(const struct slots *t)
{
	return t->used < t->enough || t->fresh < t->ready || t->hot;
}

/* How many slots are not free.  Under the lock. */
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

static inline bool slot_is_pending(uint32_t word)
{
	return slot_state(word) == SLOT_ARMED || slot_state(word) == SLOT_MOVED;
}

/* After the timer's callback has returned: will the timer run again? */
static inline bool slot_repeats(const struct slot *s)
{
	return slot_state(atom32_load(&s->state)) == SLOT_REPEATING;
}

/* The state word of the same timer in another state. */
static inline uint32_t slot_in(uint32_t word, enum slot_state state)
{
	return (word & ~SLOT_STATE_MASK) | state;
}

/* Was this timer running a moment ago, without a next run? */
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

/* The same for the slot with this number; does not read the slot. */
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
 * Arms a slot from slots_take.  Its entry will have the deadline `due`.
 * Returns the timer's id.  Under the lock.  Release: pairs with the
 * compare-and-swaps in slot_cancel and slot_begin.
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
 * The callback and its argument.  A caller that does not own the timer may get
 * those of an earlier or a later timer in this slot.
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
 * Returns as timerthread_cancel.  Acquire: pairs with
 *  - the store in slot_arm;
 *  - the slot_change that armed a periodic or moved timer again.  So the thread
 *    that gets 0 for a periodic timer sees everything that its callbacks wrote,
 *    and owns the argument;
 *  - if it fails, the slot_free at the end of the callback.  So a caller that
 *    gets -ENOENT sees everything that the callback wrote.
 */
int slot_cancel(struct slot *s, uint64_t id);

/* A timer's callback and its argument. */
struct callback {
	timerthread_fn *fn;
	void *arg;
};

/*
 * The same.  If they return 0, they also store the timer's callback in *ret.
 * slot_take_pending leaves a timer that is running as it is (and returns 1).
 * Acquire: pairs with the store in slot_arm, so that the callback is not
 * older than the state.  The compare-and-swap also releases: so the callback is
 * read before another timer can be in the slot, because the thread that frees
 * the slot has seen it dead.
 */
int slot_take(struct slot *s, uint64_t id, struct callback *ret);
int slot_take_pending(struct slot *s, uint64_t id, struct callback *ret);

/*
 * Changes a timer's state from *word to another one.  False: the timer is in a
 * third state by now, which is in *word.  Acquires and releases: pairs with
 * itself on other threads, and with slot_arm and slot_cancel.
 */
static inline bool slot_change(struct slot *s, uint32_t *word,
			       enum slot_state to)
{
	uint32_t was = *word;

	*word = atom32_swap(&s->state, was, slot_in(was, to));
	return *word == was;
}

/* Does this entry count?  Under the lock, the answer stays true. */
static inline bool slot_owns(const struct slot *s, const struct entry *e)
{
	return likely(atom32_load(&s->ticket) == e->ticket);
}

/*
 * armed -> running, if the timer has this ticket and does not repeat.  Called
 * by the driver.
 *
 * The ticket of a pending timer changes only in the state "moved", and only the
 * driver changes "moved" to "armed" (except for a timer that is handed over,
 * which has no entry).  So the timer still has the ticket when the
 * compare-and-swap succeeds.
 *
 * Acquire: pairs with the store in slot_arm, so that the ticket is not older
 * than the state.  No thread reads anything because it has seen "running".  So
 * the compare-and-swap need not release; the end of a run does.
 */
static inline bool slot_begin(struct slot *s, uint32_t ticket)
{
	uint32_t word = atom32_load_acquire(&s->state);

	return slot_state(word) == SLOT_ARMED && !(ticket & TICKET_REPEATS) &&
	       likely(atom32_load(&s->ticket) == ticket) &&
	       atom32_swap_acquire(&s->state, word,
				   slot_in(word, SLOT_RUNNING)) == word;
}

static inline bool slot_is_handed_over(const struct slot *s)
{
	return atom32_load(&s->ticket) & TICKET_HANDED_OVER;
}

/*
 * Hands a timer over, if its entry counts and it was armed a moment ago.  It
 * may have been cancelled or moved since then; the thread that begins it will
 * see that.  Called by the driver, without the lock.  Acquire: as in
 * slot_begin.  The compare-and-swap pairs with that of the thread that gives
 * the timer a new entry (reschedule.c).
 */
static inline bool slot_hand_over(struct slot *s, const struct entry *e)
{
	return slot_state(atom32_load_acquire(&s->state)) == SLOT_ARMED &&
	       atom32_swap(&s->ticket, e->ticket,
			   e->ticket | TICKET_HANDED_OVER) == e->ticket;
}

static inline bool slot_is_dead(uint32_t word)
{
	return (word & SLOT_DEAD) == SLOT_DEAD;
}

/* The state word of a slot whose timer has ended: free for the next timer. */
static inline uint32_t slot_next(uint32_t word)
{
	return slot_in(word, SLOT_FREE) + SLOT_GENERATION;
}

/*
 * Changes the state from this word to free.  The thread that does this owns the
 * slot until the slot's bit says that it is free.  False: another thread owns
 * it.  Acquires and releases: pairs with itself, and with a cancel that is so
 * late that it finds the slot free.
 */
static inline bool slot_free(struct slot *s, uint32_t word)
{
	return atom32_swap(&s->state, word, slot_next(word)) == word;
}

/*
 * Has this slot, which was freed, used up its generations?  Then it must not be
 * used again.  Its state matches no id that was ever returned.
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

/*
 * Adds a slot that was freed, and has this number, to the free ones.  Under the
 * lock.
 */
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
 * Frees a dead slot and adds it to the free slots.  The caller has the entry
 * that counts, in the bucket.  Under the lock, so no other thread frees the
 * slot.  Release: as in slot_free.
 */
static inline void slots_recycle(struct slots *t, struct slot *s,
				 uint32_t number)
{
	atom32_store_release(&s->state, slot_next(atom32_load(&s->state)));
	slots_give(t, s, number);
}

/*
 * Adds a slot that was freed to the batch, for slots_add_free.  Only the owner
 * of the batch calls this; there must be room.  True: the batch is full now.
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
