/* SPDX-License-Identifier: MIT */
/* porting: how these programs check themselves, and wait. */
#ifndef PORTING_H
#define PORTING_H

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program if this is not so. */
static inline void expect(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "not so: %s\n", what);
	exit(EXIT_FAILURE);
}

static inline void await(sem_t *sem)
{
	while (sem_wait(sem) < 0 && errno == EINTR)
		continue; /* a signal handler ran */
}

#endif
