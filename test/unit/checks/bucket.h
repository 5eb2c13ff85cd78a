/* SPDX-License-Identifier: MIT */
/*
 * Is a bucket sound?
 */
#ifndef TT_CHECKS_BUCKET_H
#define TT_CHECKS_BUCKET_H

#include "intake/bucket.h"

/* Aborts if the bucket is not sound.  Takes its lock. */
void bucket_check(struct bucket *b);

#endif
