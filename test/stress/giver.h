/* SPDX-License-Identifier: MIT */
/*
 * A thread that gives the memory of free slots back at each chance, while the
 * actors use old ids and fill it in again: no word is kept for later, and what
 * is dead is freed at once, from under entries that stay (intake/sweep.h).
 */
#pragma once

/* From now on, in tt, which was started and is not destroyed before the end. */
void giver_start(void);

/* Returns how often it gave something back. */
unsigned long giver_end(void);
