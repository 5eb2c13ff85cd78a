/* SPDX-License-Identifier: MIT */
/*
 * Is a bucket sound?
 */
#pragma once

#include "intake/bucket.h"

/* Aborts if the bucket is not sound.  Takes its lock. */
void bucket_check(struct bucket *b);
