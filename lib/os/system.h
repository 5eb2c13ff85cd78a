/* SPDX-License-Identifier: MIT */
/*
 * What differs from one system to another.
 *
 * Each folder here is a set of the same files, made for one system: linux, and
 * posix for all the others.  configure chooses the set; the common files know
 * no system but POSIX.  A set consists of
 *  - system_inline.h: SYSTEM_PAGE_SIZE and system_cpu;
 *  - system.c: the other functions below;
 *  - futex.c: how a thread waits for a word, see futex.h;
 *  - sleeper.c: how the driver sleeps and what a program polls, see sleeper.h.
 *    Systems with timerfd may take that of linux.
 *
 * Guarantees:
 *  1. If a system cannot do something, the function does nothing, or says so.
 *     No timer depends on it.
 *
 * Any thread: cpu, make_ordinary, wipe_in_children, keep_pages_small,
 * empty_pages.
 * A new thread, for itself: name_thread, be_as_nice.
 */
#pragma once

#include "base/base.h"
#include "system_inline.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * SYSTEM_PAGE_SIZE: what system_wipe_in_children takes, and how its place is
 * aligned.
 *
 * int system_cpu(void): the number of the caller's CPU, or of something else
 * that keeps most threads apart; negative: unknown.
 */

/* Gives the calling thread its name, and lets it wake up on time. */
INTERNAL void system_name_thread(const char *name);

/*
 * Whatever it inherited from its creator: SCHED_OTHER, and the CPUs of the
 * process's main thread.  The creator calls this, because the thread itself may
 * not get a CPU.  What the system refuses stays as it is.
 */
INTERNAL void system_make_ordinary(pthread_t thread);

/* Gives the calling thread the nice value of the main thread. */
INTERNAL void system_be_as_nice(void *unused);

/* From now on, a child of fork(2) finds zeros in this page. */
INTERNAL void system_wipe_in_children(void *page);

/*
 * The kernel may join pages to huge ones, and then gives memory to those that
 * were emptied.  Not from now on, in these.
 */
INTERNAL void system_keep_pages_small(void *p, size_t size);

/*
 * Gives the memory of whole pages back.  They read as zeros from then on, and
 * get memory again when they are written.  False: they keep it, but some may
 * have become zeros.
 */
INTERNAL bool system_empty_pages(void *p, size_t size);
