/* SPDX-License-Identifier: MIT */
/*
 * A bag: entries in no order, in blocks of one page.
 *
 * Guarantees:
 *  1. Adding, looking at the next entry and dropping it take constant time,
 *     whatever the size: no array is ever copied to grow it.
 *  2. The entries are contiguous: all blocks but the last are full.
 *  3. bag_look goes round: none is looked at twice in a round, and all are
 *     looked at but those added in it and those that took the place of a
 *     dropped one, which have their turn in the next.
 *  4. Nothing here allocates.  Who adds brings a block first if there is no
 *     room; a block that falls empty stays with the bag as a spare.
 *
 * Not thread-safe: protected by whatever protects its owner.
 */
#ifndef TT_BAG_H
#define TT_BAG_H

#include "base.h"
#include "entry.h"

#include <stdbool.h>
#include <stddef.h>

#define BLOCK_BYTES   4096
#define BLOCK_ENTRIES ((BLOCK_BYTES - 32) / sizeof(struct entry))

struct block {
	struct block *next;
	union {
		struct block *prev;  /* in a bag */
		struct block *child; /* in a backlog */
	};
	size_t n;        /* entries in it; set when it leaves the bag */
	int64_t nearest; /* in a backlog: no entry is due earlier */
	struct entry entry[BLOCK_ENTRIES];
};

struct bag {
	struct entry *end;    /* behind the last entry */
	struct entry *limit;  /* behind the last block's room */
	struct entry *cursor; /* the next entry to look at, or end */
	struct block *cursor_block;
	struct block *first;
	struct block *last;
	struct block *spare; /* through next */
	size_t blocks;       /* from first to last */
};

struct block *block_alloc(void);

/* Frees a chain of blocks. */
void block_free_all(struct block *b);

void bag_init(struct bag *bag);
void bag_destroy(struct bag *bag);

/* Adds an empty block, which the bag owns from now on. */
void bag_add_spare(struct bag *bag, struct block *b);

/* Starts the next block, on a spare.  False: there is none. */
bool bag_extend(struct bag *bag);

/*
 * Takes all entries out and returns them as a chain of blocks through next,
 * each with its n; NULL if there were none.
 */
struct block *bag_take(struct bag *bag);

/* Takes the spares out and returns them as a chain, NULL if there are none. */
struct block *bag_take_spares(struct bag *bag);

size_t bag_size(const struct bag *bag);

/* Aborts if the bag is not sound; for tests. */
void bag_check(const struct bag *bag);

/* Slow paths of bag_look and bag_drop. */
bool bag_next_block(struct bag *bag);
void bag_retreat(struct bag *bag);

/* Is there room for one more? */
static inline bool bag_has_room(const struct bag *bag)
{
	return likely(bag->end != bag->limit);
}

/* Needs room. */
static inline void bag_add(struct bag *bag, struct entry e)
{
	*bag->end++ = e;
}

/*
 * The next entry to look at, or NULL if the bag is empty.  It comes again at
 * the next call unless bag_skip or bag_drop is called first.
 */
static inline struct entry *bag_look(struct bag *bag)
{
	if (unlikely(bag->cursor == bag->end ||
		     bag->cursor == &bag->cursor_block->entry[BLOCK_ENTRIES]) &&
	    !bag_next_block(bag))
		return NULL;
	return bag->cursor;
}

/* The entry n behind the one to look at next, if its block has one there. */
static inline const struct entry *bag_ahead(const struct bag *bag, size_t n)
{
	const struct entry *end = bag->end;

	if (bag->cursor_block != bag->last)
		end = &bag->cursor_block->entry[BLOCK_ENTRIES];
	return (size_t)(end - bag->cursor) > n ? bag->cursor + n : NULL;
}

/* Leaves the entry that bag_look returned where it is. */
static inline void bag_skip(struct bag *bag)
{
	bag->cursor++;
}

/*
 * Drops the entry that bag_look returned.  The last one takes its place and
 * is passed over: it is the youngest, and to look at it now would be a waste.
 */
static inline void bag_drop(struct bag *bag)
{
	*bag->cursor = *--bag->end;
	if (likely(bag->cursor != bag->end))
		bag->cursor++;
	if (unlikely(bag->end == bag->last->entry))
		bag_retreat(bag);
}

#endif
