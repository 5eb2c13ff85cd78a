/* SPDX-License-Identifier: MIT */
/*
 * A reminder of one timer: what queues hold instead of the timer itself, so
 * that ordering them touches no slot.  Sixteen bytes, four to a cache line.
 */
#ifndef TT_ENTRY_H
#define TT_ENTRY_H

#include <stdint.h>

struct entry {
	int64_t deadline; /* the timer's, when the entry was made */
	uint64_t id;      /* see slot.h */
};

#endif
