/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "list.h"

#include "must.h"

#include <string.h>

void list_add(struct list *l, struct listed item)
{
	size_t i = l->n++;

	must(l->n <= LIST_MAX);
	for (; i > 0 && l->item[i - 1].deadline > item.deadline; i--)
		l->item[i] = l->item[i - 1];
	l->item[i] = item;
}

struct listed list_take(struct list *l, size_t i)
{
	struct listed item = l->item[i];

	memmove(&l->item[i], &l->item[i + 1], (--l->n - i) * sizeof(item));
	return item;
}

size_t list_find_key(const struct list *l, const void *key)
{
	size_t i = 0;

	while (i < l->n && l->item[i].key != key)
		i++;
	return i;
}

size_t list_find_id(const struct list *l, timerthread_id id)
{
	size_t i = 0;

	while (i < l->n && l->item[i].id != id)
		i++;
	return i;
}
