/* SPDX-License-Identifier: MIT */
/*
 * A model of the way to sleep and of the wake-up: lib/intake/wakeup.c with
 * the parts of intake/bucket.c and engine/turn.c that call it.
 *
 * PRODUCERS threads, each with a bucket of its own, schedule TIMERS timers
 * with any deadline, and may ask for a collection after each, at once or, with
 * LEAD, before it is due; the driver collects them, runs what its sleep
 * lasted until, and sleeps until the earliest deadline that it knows.  Of its
 * sleeps EARLY may end at any moment, because the time has come or for no
 * reason.  What must hold:
 *
 *  - When nothing moves any more, the driver sleeps for the earliest of
 *    all deadlines that are left, or a time before it that was asked for.
 *  - A stop at any moment ends it.
 *  - There is no cycle: it never goes round without sleeping.
 *
 * A section under wakeup's lock is one step: who looks without the lock looks
 * at one word.
 *
 * The names are those of the code.  A switch each leaves out one thing that
 * the code does, and must be caught: NO_CHECK, NO_CHANGE, NO_KICK, NO_SEE,
 * NO_AWAKE, NO_LIST, NO_RESET, RESET_LATE, READ_SEQ_LATE.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef TIMERS
#define TIMERS 2
#endif
#ifndef EARLY
#define EARLY 1
#endif

#define AWAKE 0 /* and the deadline that calls for a collection */
#define NEVER 4 /* deadlines are 1 to 3 */

#define LOCK(l)	  atomic { !l; l = true }
#define UNLOCK(l) l = false
#define MIN(a, b) ((a) < (b) -> (a) : (b))

/* A set of deadlines: bit d for d. */
#define ADD(set, d)    set = set | (1 << (d))
#define DROP(set, d)   set = set & ~(1 << (d))
#define EARLIEST(set)                                                          \
	((set) & 2 -> 1 : ((set) & 4 -> 2 : ((set) & 8 -> 3 : NEVER)))

typedef bucket_t {
	bool locked;
	bool listed;
	byte nearest;
	byte timers
};
bucket_t bucket[PRODUCERS];

/* struct wakeup */
byte seq;
byte arrivals = NEVER;
byte asleep_until = AWAKE; /* `sleep` */
bool kicked;
byte asked = NEVER;
byte in_set;		   /* `listed` */
bool stopping;
byte seen_seq;
byte seen_arrivals = NEVER;

/* the futex */
bool blocked;
byte early = EARLY;

/* what the driver holds */
byte pending;
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
	seen_arrivals = MIN(arrivals, asked)
}

/* wakeup_announce, under the bucket's lock */
inline announce(b, deadline, kick)
{
	atomic {
#ifndef NO_LIST
	in_set = in_set | (1 << b);
#endif
	if
	:: deadline < arrivals ->
		arrivals = deadline;
		if
		:: deadline < asleep_until ->
			kick = true;
			kicked = true;
			asleep_until = deadline;
			change()
		:: else ->
			if
			:: asleep_until == AWAKE -> change()
			:: else
			fi
		fi
	:: else
	fi
	}
}

/* wakeup_ask */
inline ask(time, kick)
{
	atomic {
		if
		:: time < asked ->
			kick = time < MIN(asleep_until, asked);
			asked = time;
			if
			:: kick || asleep_until == AWAKE -> change()
			:: else
			fi
		:: else
		fi
	}
	atomic {
		if
		:: kick -> kick_futex(); kick = false
		:: else
		fi
	}
}

proctype producer(byte b)
{
	byte n, deadline;
	bool kick, asks;

	for (n : 1 .. TIMERS) {
		atomic {
			select (deadline : 1 .. 3);
			kick = false;
			LOCK(bucket[b].locked);
			ADD(bucket[b].timers, deadline)
		}
		if
		:: deadline < bucket[b].nearest || !bucket[b].listed ->
			bucket[b].listed = true;
			bucket[b].nearest = MIN(deadline, bucket[b].nearest);
			announce(b, deadline, kick)
		:: else
		fi;
#ifdef LEAD
		UNLOCK(bucket[b].locked);
		if
		:: true
		:: ask(deadline - 1, asks)
		fi;
#else
		/* In truth after the lock: that has many more states. */
		if
		:: true
		:: ask(AWAKE, asks)
		fi;
		UNLOCK(bucket[b].locked);
#endif
		atomic {
			if
			:: kick -> kick_futex(); kick = false
			:: else
			fi
		}
	}
	producers--
}

/* wakeup_collect, and bucket_collect for each that is in the set */
inline collect(visit, b)
{
	atomic {
		visit = in_set;
		in_set = 0;
#ifndef RESET_LATE
		arrivals = NEVER;
		asked = NEVER;
#endif
		see()
	}
	for (b : 0 .. PRODUCERS - 1) {
		if
		:: visit & (1 << b) ->
			atomic {
				!bucket[b].locked;
				bucket[b].listed = false;
#ifndef NO_RESET
				bucket[b].nearest = NEVER;
#endif
				pending = pending | bucket[b].timers;
				bucket[b].timers = 0
			}
		:: else
		fi
	}
#ifdef RESET_LATE
	atomic {
		arrivals = NEVER;
		asked = NEVER;
		see()
	}
#endif
}

/* The system call; time may come for what it sleeps until. */
inline futex_wait(expected, due)
{
	atomic { blocked = (seq == expected) };
	if
	:: !blocked
	:: early > 0 ->
		early--;
		blocked = false;
		if
		:: true
		:: EARLIEST(pending) != NEVER -> due = true
		fi
	fi
}

/* wakeup_sleep */
inline sleep_until_next(expected, sleeps, due, again)
{
	atomic {
		expected = seq;
#ifdef NO_CHECK
		sleeps = !stopping;
#else
		sleeps = !stopping &&
			 MIN(arrivals, asked) >= EARLIEST(pending);
#endif
		if
		:: sleeps ->
			asleep_until = EARLIEST(pending);
			kicked = false
		:: else
		fi
	}
	if
	:: sleeps ->
#ifdef READ_SEQ_LATE
		expected = seq;
#endif
		again = true;
		do
		:: again ->
			futex_wait(expected, due);
			atomic {
				again = seq != expected && !kicked &&
					!stopping && asked != AWAKE;
				expected = seq
			}
		:: else -> break
		od;
		atomic {
#ifndef NO_AWAKE
			asleep_until = AWAKE;
#endif
#ifndef NO_SEE
			see();
#endif
			/* Fewer states to tell apart. */
			kicked = false;
			sleeps = false;
			expected = 0
		}
	:: else
	fi
}

proctype timer_thread()
{
	byte expected, visit, b, e;
	bool sleeps, due, again;

	do
	:: stopping -> break
	:: else ->
		if
		:: seq != seen_seq -> atomic { see() }
		:: else
		fi;
		if
		:: seen_arrivals < EARLIEST(pending) -> collect(visit, b)
		:: else ->
			if
			:: due ->
				atomic {
					due = false;
					e = EARLIEST(pending);
					DROP(pending, e)
				}
			:: else ->
				sleep_until_next(expected, sleeps, due, again)
			fi
		fi
	od;
	ended = true
}

/* wakeup_stop */
inline stop()
{
	atomic {
		stopping = true;
		change();
		asleep_until = AWAKE
	}
	kick_futex()
}

init
{
	byte b, left;

	atomic {
		for (b : 0 .. PRODUCERS - 1) {
			bucket[b].nearest = NEVER;
			run producer(b)
		}
		run timer_thread()
	};
	if
	:: true ->
		timeout;
		assert(producers == 0 && blocked);
		left = pending;
		for (b : 0 .. PRODUCERS - 1) {
			left = left | bucket[b].timers
		}
		assert(asleep_until == EARLIEST(left) && asked != AWAKE)
	:: true /* stop at any moment */
	fi;
	stop();
	timeout;
	assert(ended)
}
