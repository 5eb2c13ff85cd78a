/* SPDX-License-Identifier: MIT */
/*
 * Is a queue sound?
 */
#pragma once

#include "store/queue.h"

/* Aborts if the queue is not sound. */
void queue_check(const struct queue *q);
