/* SPDX-License-Identifier: MIT */
/*
 * Are slices sound?
 */
#ifndef TT_CHECKS_SLICES_H
#define TT_CHECKS_SLICES_H

#include "pending/slices.h"

size_t slices_count(const struct slices *s); /* entries in them */

/* Aborts if they are not sound. */
void slices_check(const struct slices *s);

#endif
