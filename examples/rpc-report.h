/* SPDX-License-Identifier: MIT */
/* rpc-report: what is counted and measured, and the table of it. */
#ifndef RPC_REPORT_H
#define RPC_REPORT_H

#include <stdint.h>
#include <timerthread.h>

enum count {
	REQUESTS,
	REPLIES,
	TIMEOUTS,
	BOTH,    /* requests that got a reply and a timeout */
	NEITHER, /* requests that got none of them */
	MET,     /* replies that came while the timer fired */
	DROPPED, /* replies to requests that had timed out */
	WRONG,   /* replies to another request than theirs */
	EARLY,   /* timers that ran before the deadline */
	STRAY,   /* timers that ran after cancel had returned 0 */
	COUNTS
};

enum { LATE_BUCKETS = 50000 }; /* of a microsecond each */

/* How late something happened, over and over; one thread records it. */
struct lateness {
	unsigned long bucket[LATE_BUCKETS];
	unsigned long n;
	int64_t max;
};

extern struct lateness timer_late; /* the timer thread's */
extern struct lateness sleep_late; /* the main thread's */

void late_record(struct lateness *late, int64_t ns);

/* How often the timer thread has gone to sleep; a negative errno. */
long timer_sleeps(struct timerthread *timers);

/* The last argument is what timer_sleeps returned. */
void report(const unsigned long *counts, double seconds, long sleeps);

#endif
