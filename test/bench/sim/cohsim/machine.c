/* SPDX-License-Identifier: MIT */
/*
 * The simulated cores and threads.
 */
#include "machine.h"

struct thr *thr[MAXTHR];
int nthr;
struct core core[MAXCORE + 1];
int ncore; /* core[ncore] is the observer's */
int order[MAXCORE];
struct core *cc;
struct thr *cur;
ps_t next_time;
__thread struct thr *self;
