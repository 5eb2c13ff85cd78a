/* SPDX-License-Identifier: MIT */
/*
 * Timers, in the order of their deadlines: what the library is held against.
 */
#pragma once

#include "timerthread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct listed {
	int64_t deadline;
	int64_t period; /* 0: it does not repeat */
	timerthread_id id;
	bool prepared;   /* it stays when it has run */
	void *key;       /* the callback's argument: each has its own */
	int64_t set_at;  /* what the clock showed when it got its deadline */
	uint64_t set_in; /* the advance in which that was; 0: between two */
};

enum { LIST_MAX = 4000 };

struct list {
	size_t n;
	struct listed item[LIST_MAX];
};

void list_add(struct list *l, struct listed item);
struct listed list_take(struct list *l, size_t i);

/* Where it is, or n. */
size_t list_find_key(const struct list *l, const void *key);
size_t list_find_id(const struct list *l, timerthread_id id);
