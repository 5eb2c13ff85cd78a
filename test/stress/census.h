/* SPDX-License-Identifier: MIT */
/*
 * All timers of a round together: no two had the same id, there were never
 * more than the cap allowed, and none was refused while there were fewer.
 */
#pragma once

#include "history.h"

void census_begin(void);
void census_add(const struct history *h);

/* One whose schedule call failed. */
void census_add_refused(const struct account *a);

/* Complains, if there is reason to. */
void census_end(void);
