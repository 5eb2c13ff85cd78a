/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "backlog.h"
#include "must.h"

/* Joins two heaps, none empty. */
static struct block *join(struct block *a, struct block *b)
{
	if (b->nearest < a->nearest) {
		struct block *t = a;

		a = b;
		b = t;
	}
	b->next = a->child;
	a->child = b;
	return a;
}

/* Joins a list of heaps: in pairs from the front, these from the back. */
static struct block *join_all(struct block *list)
{
	struct block *pairs = NULL, *all = NULL;

	while (list) {
		struct block *a = list, *b = a->next;

		list = b ? b->next : NULL;
		if (b)
			a = join(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct block *next = pairs->next;

		all = all ? join(all, pairs) : pairs;
		pairs = next;
	}
	return all;
}

static int64_t earliest_of(const struct block *b)
{
	int64_t earliest = INT64_MAX;

	for (size_t i = 0; i < b->n; i++) {
		if (b->entry[i].deadline < earliest)
			earliest = b->entry[i].deadline;
	}
	return earliest;
}

void backlog_add(struct backlog *l, struct block *b)
{
	b->nearest = earliest_of(b);
	b->child = NULL;
	b->next = NULL;
	l->earliest = l->earliest ? join(l->earliest, b) : b;
}

struct block *backlog_take(struct backlog *l)
{
	struct block *b = l->earliest;

	l->earliest = join_all(b->child);
	if (l->earliest)
		l->earliest->next = NULL;
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
	must(b->nearest == earliest_of(b));
	for (const struct block *c = b->child; c; c = c->next) {
		must(b->nearest <= c->nearest);
		check_below(c);
	}
}

void backlog_check(const struct backlog *l)
{
	if (l->earliest) {
		must(!l->earliest->next);
		check_below(l->earliest);
	}
}
