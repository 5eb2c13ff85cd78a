/* SPDX-License-Identifier: MIT */
/*
 * Is a heap sound?
 */
#ifndef TT_CHECKS_HEAP_H
#define TT_CHECKS_HEAP_H

#include "pending/heap.h"

/* Aborts if the heap is not sound. */
void heap_check(const struct heap *h);

#endif
