/* SPDX-License-Identifier: MIT */
/*
 * Trimming a bucket: the memory of slots that were many once, and are free now,
 * goes back to the system (store/vacancy.h).
 *
 * The driver.
 */
#ifndef TT_TRIM_H
#define TT_TRIM_H

#include "intake/bucket.h"

/*
 * Counts the slots in use (garbage.h).  If a period ends: how many steps of
 * bucket_trim may be of use?  Returns whether there will be something to give
 * back, if no more slots are used in the next periods than now.  If the lock is
 * held, does nothing, and returns true.
 */
bool bucket_survey(struct bucket *b, struct wakeup *w, bool ends,
		   uint32_t *ret_steps);

/* One step.  True: it gave something back. */
bool bucket_trim(struct bucket *b);

#endif
