/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "backlog.h"
#include "must.h"

/*
 * In the tree, next is the right child.  The rank is the number of blocks on
 * the way down to the right, the first included.
 */
static uint32_t rank_of(const struct block *b)
{
	return b ? b->rank : 0;
}

/* Restores that no right path is longer than the left one beside it. */
static void lean(struct block *b)
{
	if (rank_of(b->left) < rank_of(b->next)) {
		struct block *t = b->left;

		b->left = b->next;
		b->next = t;
	}
	b->rank = rank_of(b->next) + 1;
}

/* Joins two trees along their right paths, which are short. */
static struct block *join(struct block *a, struct block *b)
{
	if (!a || !b)
		return a ? a : b;
	if (b->nearest < a->nearest) {
		struct block *t = a;

		a = b;
		b = t;
	}
	a->next = join(a->next, b);
	lean(a);
	return a;
}

void backlog_add(struct backlog *l, struct block *b)
{
	b->left = NULL;
	b->next = NULL;
	b->rank = 1;
	l->earliest = join(l->earliest, b);
}

struct block *backlog_take(struct backlog *l)
{
	struct block *b = l->earliest;

	l->earliest = join(b->left, b->next);
	return b;
}

void backlog_destroy(struct backlog *l)
{
	while (l->earliest) {
		struct block *b = backlog_take(l);

		b->next = NULL;
		block_free_all(b);
	}
}

static void check_below(const struct block *b)
{
	must(b->n > 0 && b->n <= BLOCK_ENTRIES);
	for (uint32_t i = 0; i < b->n; i++)
		must(b->entry[i].deadline >= b->nearest);
	must(rank_of(b->left) >= rank_of(b->next));
	must(b->rank == rank_of(b->next) + 1);
	if (b->left) {
		must(b->left->nearest >= b->nearest);
		check_below(b->left);
	}
	if (b->next) {
		must(b->next->nearest >= b->nearest);
		check_below(b->next);
	}
}

void backlog_check(const struct backlog *l)
{
	if (l->earliest)
		check_below(l->earliest);
}
