/* SPDX-License-Identifier: MIT */
/*
 * Is a heap sound?
 */
#pragma once

#include "pending/heap.h"

/* Aborts if the heap is not sound. */
void heap_check(const struct heap *h);
