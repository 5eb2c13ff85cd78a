/* SPDX-License-Identifier: MIT */
/*
 * Whether a call is still going on.  A thread keeps a record of the call.  The
 * record may outlive the call, because the call may end on another thread.
 *
 * The call and the record both hold the object; the last one to let go frees
 * it.
 *
 * Any thread.
 */
#ifndef TT_ONGOING_H
#define TT_ONGOING_H

#include "os/atomic.h"

#include <stddef.h>

struct ongoing {
	atom32 holders;
	atom32 over; /* 1: the call has ended */
};

/* NULL: no memory. */
struct ongoing *ongoing_begin(void);

/* The call has ended. */
void ongoing_end(struct ongoing *o);

/* The record is deleted.  o may be NULL. */
void ongoing_forget(struct ongoing *o);

/* False if o is NULL.  Acquire: pairs with the store in ongoing_end. */
static inline bool ongoing_is(const struct ongoing *o)
{
	return o && atom32_load_acquire(&o->over) == 0;
}

#endif
