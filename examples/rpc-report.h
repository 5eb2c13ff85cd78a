/* SPDX-License-Identifier: MIT */
/* rpc-report: what is counted and measured, and the table of it. */
#ifndef RPC_REPORT_H
#define RPC_REPORT_H

#include <timerthread.h>

enum count {
	REQUESTS,
	REPLIES,
	TIMEOUTS,
	BOTH,    /* requests that got a reply and a timeout */
	NEITHER, /* requests that got none of them */
	MET,     /* replies that came while the callback ran */
	DROPPED, /* replies to requests that had timed out */
	WRONG,   /* replies to another request than theirs */
	EARLY,   /* timers that ran before the deadline */
	STRAY,   /* timers that ran after cancel had returned 0 */
	COUNTS
};

/* Records how late something happened; for each, only one thread does. */
enum late { LATE_TIMER, LATE_SLEEP };
void late_record(enum late what, int64_t ns);

/* How often the timer thread has gone to sleep, or a negative errno. */
long timer_sleeps(struct timerthread *timers);

/* sleeps is what timer_sleeps returned. */
void report(const unsigned long *counts, double seconds, long sleeps);

#endif
