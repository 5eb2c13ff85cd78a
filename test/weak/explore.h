/* SPDX-License-Identifier: MIT */
/*
 * A harness: what a few threads do at once, once.  It is run by explore.c, by
 * real threads (threads.h), or under genmc (the same).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WEAK_THREADS 3

struct weak {
	void (*setup)(void); /* all that the threads use: each time anew */
	void (*thread[WEAK_THREADS])(void); /* NULL: there is none */
	void (*check)(void);                /* they have ended */
};

extern const struct weak weak;

/* The status with which a program ends that has found an error. */
#define WEAK_FAILED 3

/* Something does not hold: says what, and ends the program. */
void weak_fail(const char *what) __attribute__((noreturn));

/* This thread cannot go on before another one has stored something. */
void weak_wait(void);

/* The same, or nothing happens any more. */
void weak_nap(void);

/* This thread ends here. */
void weak_exit(void);

/* Its number. */
int weak_self(void);

/*
 * A harness may define it: is an atomic word like another one, so that it is no
 * matter when it is accessed?  Each that is not takes executions.
 */
bool weak_is_plain(const volatile void *word) __attribute__((weak));
