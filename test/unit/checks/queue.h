/* SPDX-License-Identifier: MIT */
/*
 * Is a queue sound?
 */
#ifndef TT_CHECKS_QUEUE_H
#define TT_CHECKS_QUEUE_H

#include "store/queue.h"

/* Aborts if the queue is not sound. */
void queue_check(const struct queue *q);

#endif
