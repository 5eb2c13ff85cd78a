/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bag.h"
#include "must.h"

#include <stdlib.h>

_Static_assert(sizeof(struct block) <= BLOCK_BYTES, "a block is a page");

struct block *block_alloc(void)
{
	return malloc(sizeof(struct block));
}

void block_free_all(struct block *b)
{
	while (b) {
		struct block *next = b->next;

		free(b);
		b = next;
	}
}

void bag_init(struct bag *bag)
{
	*bag = (struct bag){0};
}

void bag_destroy(struct bag *bag)
{
	block_free_all(bag->first);
	block_free_all(bag->spare);
}

void bag_add_spare(struct bag *bag, struct block *b)
{
	b->next = bag->spare;
	bag->spare = b;
}

/* Makes b the last block, and empty. */
static void start_block(struct bag *bag, struct block *b)
{
	b->next = NULL;
	b->prev = bag->last;
	if (bag->last) {
		bag->last->next = b;
	} else {
		bag->first = b;
		bag->cursor = b->entry;
		bag->cursor_block = b;
	}
	bag->last = b;
	bag->blocks++;
	bag->end = b->entry;
	bag->limit = b->entry + BLOCK_ENTRIES;
}

bool bag_extend(struct bag *bag)
{
	struct block *b = bag->spare;

	if (!b)
		return false;
	bag->spare = b->next;
	start_block(bag, b);
	return true;
}

/* Moves the cursor on to the next block or round.  False: the bag is empty. */
TT_NOINLINE bool bag_next_block(struct bag *bag)
{
	struct block *b;

	if (!bag->first || bag->end == bag->first->entry)
		return false;
	b = bag->cursor == bag->end ? NULL : bag->cursor_block->next;
	if (!b || bag->end == b->entry)
		b = bag->first;
	bag->cursor_block = b;
	bag->cursor = b->entry;
	return true;
}

/*
 * The last block has fallen empty; the first one stays.  The cursor, if it
 * was there, goes behind the end and hence round.
 */
TT_NOINLINE void bag_retreat(struct bag *bag)
{
	struct block *b = bag->last;

	if (b == bag->first)
		return;
	bag->last = b->prev;
	bag->last->next = NULL;
	bag->blocks--;
	bag->limit = bag->last->entry + BLOCK_ENTRIES;
	bag->end = bag->limit;
	if (bag->cursor_block == b) {
		bag->cursor_block = bag->last;
		bag->cursor = bag->end;
	}
	bag_add_spare(bag, b);
}

struct block *bag_take(struct bag *bag)
{
	struct block *taken = bag->first;

	if (!taken || bag->end == taken->entry)
		return NULL;
	for (struct block *b = taken; b != bag->last; b = b->next)
		b->n = BLOCK_ENTRIES;
	bag->last->n = (size_t)(bag->end - bag->last->entry);
	*bag = (struct bag){.spare = bag->spare};
	return taken;
}

struct block *bag_take_spares(struct bag *bag)
{
	struct block *spares = bag->spare;

	bag->spare = NULL;
	return spares;
}

size_t bag_size(const struct bag *bag)
{
	if (!bag->first)
		return 0;
	return (bag->blocks - 1) * BLOCK_ENTRIES +
	       (size_t)(bag->end - bag->last->entry);
}

void bag_check(const struct bag *bag)
{
	const struct block *prev = NULL;
	size_t blocks = 0;
	bool cursor_found = false;

	if (!bag->first) {
		must(!bag->last && !bag->end && !bag->limit);
		must(!bag->cursor && !bag->cursor_block && !bag->blocks);
		return;
	}
	for (const struct block *b = bag->first; b; b = b->next) {
		must(b->prev == prev);
		if (b == bag->cursor_block) {
			cursor_found = true;
			must(bag->cursor >= b->entry);
			must(bag->cursor <= b->entry + BLOCK_ENTRIES);
		}
		prev = b;
		blocks++;
	}
	must(blocks == bag->blocks);
	must(prev == bag->last && cursor_found);
	must(bag->limit == bag->last->entry + BLOCK_ENTRIES);
	must(bag->end >= bag->last->entry && bag->end <= bag->limit);
	must(bag->last == bag->first || bag->end != bag->last->entry ||
	     bag->cursor_block != bag->last || bag->cursor == bag->end);
	must(bag->cursor_block != bag->last || bag->cursor <= bag->end);
}
