/* SPDX-License-Identifier: MIT */
/*
 * Whether a call is still going on.  A thread keeps a record of the call, which
 * may outlive it: the call may end on another thread.
 *
 * Held by the call and by the record; the last one to let go frees it.
 *
 * Any thread.
 */
#ifndef TT_ONGOING_H
#define TT_ONGOING_H

#include "os/atomic.h"

#include <stddef.h>

struct ongoing {
	atom32 holders;
	atom32 over; /* 1: it is */
};

/* NULL: no memory. */
struct ongoing *ongoing_begin(void);

/* The call is over. */
void ongoing_end(struct ongoing *o);

/* The record goes.  o may be NULL. */
void ongoing_forget(struct ongoing *o);

/* False, too, if o is NULL.  Acquire: pairs with the store in ongoing_end. */
static inline bool ongoing_is(const struct ongoing *o)
{
	return o && atom32_load_acquire(&o->over) == 0;
}

#endif
