/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/must.h"
#include "pending/backlog.h"

/* Blocks of a chain that a step makes nodes of their own. */
#define UNCHAIN 32

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
	if (b->bound < a->bound) {
		struct block *t = a;

		a = b;
		b = t;
	}
	a->next = join(a->next, b);
	lean(a);
	return a;
}

static void add(struct backlog *l, struct block *b, int64_t bound,
		struct block *more)
{
	b->left = NULL;
	b->next = NULL;
	b->rank = 1;
	b->more = more;
	b->bound = bound;
	l->earliest = join(l->earliest, b);
}

void backlog_add(struct backlog *l, struct chain c)
{
	if (c.first)
		add(l, c.first, c.nearest, c.first->next);
}

static struct block *take(struct backlog *l)
{
	struct block *b = l->earliest;

	l->earliest = join(b->left, b->next);
	return b;
}

/* The earliest is the first of a chain: takes some off it. */
static TT_NOINLINE void unchain(struct backlog *l)
{
	struct block *b = take(l), *rest = b->more;
	int64_t bound = b->bound;

	add(l, b, b->nearest, NULL);
	for (int i = 1; i < UNCHAIN && rest; i++) {
		b = block_pop(&rest);
		add(l, b, b->nearest, NULL);
	}
	backlog_add(l, (struct chain){rest, bound});
}

struct block *backlog_take(struct backlog *l)
{
	if (backlog_empty(l))
		return NULL;
	if (!l->earliest->more)
		return take(l);
	unchain(l);
	return NULL;
}

void backlog_destroy(struct backlog *l)
{
	while (!backlog_empty(l)) {
		struct block *b = take(l);

		b->next = b->more;
		block_free_all(b);
	}
}

static void check_block(const struct block *b, int64_t bound)
{
	must(b->n > 0 && b->n <= BLOCK_ENTRIES);
	for (uint32_t i = 0; i < b->n; i++)
		must(b->entry[i].deadline >= b->nearest);
	must(b->nearest >= bound);
}

static void check_below(const struct block *b)
{
	check_block(b, b->bound);
	for (const struct block *m = b->more; m; m = m->next)
		check_block(m, b->bound);
	must(rank_of(b->left) >= rank_of(b->next));
	must(b->rank == rank_of(b->next) + 1);
	if (b->left) {
		must(b->left->bound >= b->bound);
		check_below(b->left);
	}
	if (b->next) {
		must(b->next->bound >= b->bound);
		check_below(b->next);
	}
}

void backlog_check(const struct backlog *l)
{
	if (l->earliest)
		check_below(l->earliest);
}
