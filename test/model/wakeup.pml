/* SPDX-License-Identifier: MIT */
/*
 * A model of the way to sleep and of the wake-up: lib/wakeup.c with the parts
 * of bucket.c and engine.c that call it.
 *
 * PRODUCERS threads schedule in one bucket, each TIMERS timers with any
 * deadline; the timer thread fetches, and sleeps until the earliest deadline
 * that it knows.  Time stands still: what sleeps is woken or sleeps for ever.
 * When nothing moves any more, the timer thread must be asleep for the
 * earliest of all deadlines.  A stop at any moment must end the sleep.
 *
 * The names are those of the code.  A switch each leaves out one thing that
 * the code does, and must be caught: NO_CHECK, NO_CHANGE, NO_KICK,
 * RESET_LATE, READ_SEQ_LATE.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef TIMERS
#define TIMERS 2
#endif

#define AWAKE 0
#define NEVER 4 /* deadlines are 1 to 3 */

#define LOCK(l)	   atomic { !l; l = true }
#define UNLOCK(l)  l = false
#define MIN(a, b)  ((a) < (b) -> (a) : (b))

/* struct bucket */
bool bucket_lock;
bool listed;
byte nearest = NEVER;

/* struct wakeup */
bool lock;
byte seq;
byte arrivals = NEVER;
byte asleep_until = AWAKE; /* `sleep` */
bool in_set;		   /* the bucket's bit in `listed` */
bool stopping;
byte seen_seq;
byte seen_arrivals = NEVER;

/* the futex */
bool blocked;

/* the timer thread's earliest, and the earliest of all for the check */
byte next = NEVER;
byte earliest = NEVER;
byte producers = PRODUCERS;
bool ended;

inline change()
{
#ifdef NO_CHANGE
	skip
#else
	seq = seq + 1
#endif
}

inline kick_futex()
{
#ifdef NO_KICK
	skip
#else
	blocked = false
#endif
}

inline see()
{
	seen_seq = seq;
	seen_arrivals = arrivals
}

/* wakeup_announce, under the bucket's lock */
inline announce(deadline, kick)
{
	LOCK(lock);
	in_set = true;
	if
	:: deadline < arrivals ->
		arrivals = deadline;
		kick = deadline < asleep_until;
		if
		:: kick -> asleep_until = deadline
		:: else
		fi;
		if
		:: kick || asleep_until == AWAKE -> change()
		:: else
		fi
	:: else
	fi;
	UNLOCK(lock)
}

active [PRODUCERS] proctype producer()
{
	byte n, deadline;
	bool kick;

	for (n : 1 .. TIMERS) {
		select (deadline : 1 .. 3);
		kick = false;
		LOCK(bucket_lock);
		if
		:: deadline < nearest || !listed ->
			listed = true;
			nearest = MIN(deadline, nearest);
			announce(deadline, kick)
		:: else
		fi;
		earliest = MIN(deadline, earliest);
		UNLOCK(bucket_lock);
		if
		:: kick -> kick_futex()
		:: else
		fi
	}
	producers--
}

/* wakeup_collect, and bucket_collect for each that is in the set */
inline collect(visit)
{
	LOCK(lock);
	visit = in_set;
	in_set = false;
#ifndef RESET_LATE
	arrivals = NEVER;
#endif
	see();
	UNLOCK(lock);
	if
	:: visit ->
		LOCK(bucket_lock);
		listed = false;
		next = MIN(nearest, next);
		nearest = NEVER;
		UNLOCK(bucket_lock)
	:: else
	fi
#ifdef RESET_LATE
	;
	LOCK(lock);
	arrivals = NEVER;
	see();
	UNLOCK(lock)
#endif
}

/* wakeup_sleep */
inline sleep_until_next(expected)
{
	LOCK(lock);
	expected = seq;
	if
#ifdef NO_CHECK
	:: stopping ->
#else
	:: arrivals < next || stopping ->
#endif
		UNLOCK(lock)
	:: else ->
		asleep_until = next;
		UNLOCK(lock);
#ifdef READ_SEQ_LATE
		expected = seq;
#endif
		atomic { blocked = (seq == expected) };
		!blocked;
		LOCK(lock);
		asleep_until = AWAKE;
		see();
		UNLOCK(lock)
	fi
}

active proctype timer_thread()
{
	byte expected;
	bool visit;

	do
	:: stopping -> break
	:: else ->
		if
		:: seq != seen_seq ->
			LOCK(lock);
			see();
			UNLOCK(lock)
		:: else
		fi;
		if
		:: seen_arrivals < next -> collect(visit)
		:: else -> sleep_until_next(expected)
		fi
	od;
	ended = true
}

/* wakeup_stop */
inline stop()
{
	LOCK(lock);
	stopping = true;
	change();
	asleep_until = AWAKE;
	UNLOCK(lock);
	kick_futex()
}

active proctype judge()
{
	if
	:: true ->
		timeout;
		assert(producers == 0 && blocked);
		assert(next == earliest)
	:: true /* stop at any moment */
	fi;
	stop();
	timeout;
	assert(ended)
}
