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
 * A period ends.  Returns how many steps of bucket_trim may be of use; 0: there
 * is nothing to give back.
 */
uint32_t bucket_end_period(struct bucket *b);

/*
 * Will there be something to give back, if no more slots are used in the next
 * periods than now?
 */
bool bucket_will_trim(struct bucket *b);

/* One step.  True: it gave something back. */
bool bucket_trim(struct bucket *b);

#endif
