/* SPDX-License-Identifier: MIT */
/*
 * Absolute times use FUTEX_WAIT_BITSET, whose timeout is a point on a clock.
 * So a thread that is preempted before it sleeps does not sleep longer because
 * of that, as it would with the relative timeout of FUTEX_WAIT.
 */
#include "os/futex.h"
#include "base/keep.h"
#include "os/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel's 64-bit time.  32-bit machines have a system call of their own
 * for it, since Linux 5.1.
 */
struct futex_time {
	int64_t sec;
	int64_t nsec;
};
#ifdef SYS_futex_time64
#define FUTEX_CALL SYS_futex_time64
#else
#define FUTEX_CALL SYS_futex
#endif

/* 0, or a negative errno. */
static int futex(atom32 *word, int op, uint32_t val, const struct futex_time *t)
{
	KEEP_ERRNO;
	long r = syscall(FUTEX_CALL, word, op | FUTEX_PRIVATE_FLAG, val, t,
			 NULL, FUTEX_BITSET_MATCH_ANY);

	return r < 0 ? -errno : 0;
}

/* This does not sleep: the word is not what is expected. */
static bool can_wait(int op)
{
	const struct futex_time t = {0, 0};
	atom32 word = 0;

	return futex(&word, op, 1, &t) == -EAGAIN;
}

bool futex_works(void)
{
	atom32 word = 0;

	return futex(&word, FUTEX_WAKE, 1, NULL) == 0 && can_wait(FUTEX_WAIT) &&
	       can_wait(FUTEX_WAIT_BITSET) &&
	       can_wait(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME);
}

void futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
		      int64_t deadline)
{
	int64_t at = clock_later(deadline, 0);
	const struct futex_time t = {at / NS_PER_S, at % NS_PER_S};
	int op = FUTEX_WAIT_BITSET;

	if (clock == CLOCK_REALTIME)
		op |= FUTEX_CLOCK_REALTIME;
	(void)futex(word, op, expected, at < INT64_MAX ? &t : NULL);
}

void futex_wait_for(atom32 *word, uint32_t expected, long ns)
{
	struct futex_time t = {ns / NS_PER_S, ns % NS_PER_S};

	(void)futex(word, FUTEX_WAIT, expected, &t);
}

void futex_wake(atom32 *word, int n)
{
	(void)futex(word, FUTEX_WAKE, (uint32_t)n, NULL);
}
