/* SPDX-License-Identifier: MIT */
/*
 * A model of the way to sleep and of the wake-up: lib/intake/wakeup.c with
 * the parts of intake/arrival.c, intake/collect.c and engine/turn.c that call
 * it.
 *
 * PRODUCERS threads, each with a bucket of its own, schedule TIMERS timers
 * with any deadline; the driver visits the buckets in which something is due,
 * takes out what is, and some of the rest if it likes, runs it, and sleeps
 * until the earliest deadline that it knows.  The time goes on when it likes,
 * and may stand still for ever.  EARLY of its sleeps may end for no reason.
 * What must hold:
 *
 *  - When nothing moves any more, the driver sleeps until the earliest of all
 *    deadlines that are left, or until an earlier time which is yet to come.
 *  - Nobody wakes it who finds it awake.
 *  - A stop at any moment ends it.
 *  - There is no cycle: it never goes round without sleeping.
 *
 * A section under wakeup's lock is one step: who looks without the lock looks
 * at one word.
 *
 * The names are those of the code.  A switch each leaves out one thing that
 * the code does, and must be caught: NO_ARRIVALS (the sleep leaves arrivals
 * out), NO_CHANGE, NO_KICK, NO_AWAKE, NO_VISIT (a bucket's time is not kept),
 * NO_RESET (nor its nearest found anew), NO_ANNOUNCE (what is left in it is not
 * announced), RESET_LATE (the times are taken off after the visits),
 * READ_SEQ_LATE, FORGET_OTHERS (what is not due is left out of the earliest),
 * KEEP_ARRIVALS (nor is that found anew).
 *
 * With SPIN the driver may, in the place of a sleep, watch the futex until a
 * deadline that it has itself: then it is told of an earlier one, but not woken.
 * Switches: SPIN_BLIND (it does not look whether one has been announced),
 * SPIN_ON (it seems to spin when it sleeps), SPIN_LATE (the futex is read when
 * that is known of it).
 *
 * Where the code has these steps:
 *
 *	change		intake/wakeup.c change
 *	kick_futex	intake/wakeup.c wakeup_kick
 *	kick_futex	os/sleeper.c sleeper_wake
 *	announce	intake/wakeup.c wakeup_announce
 *	producer	intake/schedule.c bucket_schedule
 *	producer	intake/arrival.h arrival_add
 *	producer	intake/arrival.c arrival_announce
 *	hand_out	intake/wakeup.c wakeup_collect hand_out
 *	visit_bucket	intake/collect.c bucket_collect announce
 *	turn		engine/turn.c engine_turn collect visit
 *	futex_wait	os/futex.c futex_wait_until
 *	futex_wait	os/sleeper.c sleeper_sleep
 *	sleep_until_next intake/wakeup.c wakeup_sleep first set_asleep
 *	sleep_until_next intake/wakeup.c wakeup_rise
 *	spin_until_next	engine/spin.c spin_until_due
 *	spin_until_next	intake/wakeup.c wakeup_spin begin_spin end_spin
 *	timer_thread	api/driver_thread.c work
 *	stop		intake/wakeup.c wakeup_stop
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

#ifndef LATEST
#define LATEST 3
#endif

#define AWAKE 0
#define NEVER 4 /* deadlines are 1 to LATEST */

#define LOCK(l)	  atomic { !l; l = true }
#define UNLOCK(l) l = false
#define MIN(a, b) ((a) < (b) -> (a) : (b))

/* A set of deadlines: bit d for d. */
#define ADD(set, d) set = set | (1 << (d))
#define BY(t)	    ((1 << ((t) + 1)) - 1) /* what has come by the time t */
#define EARLIEST(set)                                                          \
	((set) & 2 -> 1 : ((set) & 4 -> 2 : ((set) & 8 -> 3 : NEVER)))

typedef bucket_t {
	bool locked;
	byte nearest;
	byte timers
};
bucket_t bucket[PRODUCERS];

/* struct wakeup */
byte seq;
byte arrivals = NEVER;
byte asleep_until = AWAKE; /* `sleep` */
bool stopping;
bool spinning;
byte visit[PRODUCERS];

/* the futex */
bool blocked;
byte early = EARLY;

/* what the driver holds */
byte pending;
bool asleep; /* or has decided to be */

byte now;
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

/* wakeup_announce, under the bucket's lock */
inline announce(b, deadline, kick)
{
	atomic {
#ifndef NO_VISIT
	visit[b] = deadline;
#endif
	if
	:: deadline < arrivals ->
		arrivals = deadline;
		if
		:: deadline < asleep_until ->
			assert(asleep || stopping);
			kick = !spinning;
			asleep_until = deadline;
			change()
		:: else
		fi
	:: else
	fi
	}
}

/* bucket_schedule */
proctype producer(byte b)
{
	byte n, deadline;
	bool kick;

	for (n : 1 .. TIMERS) {
		atomic {
			select (deadline : 1 .. LATEST);
			LOCK(bucket[b].locked);
			ADD(bucket[b].timers, deadline)
		}
		if
		:: deadline < bucket[b].nearest ->
			bucket[b].nearest = deadline;
			announce(b, deadline, kick)
		:: else
		fi;
		UNLOCK(bucket[b].locked);
		atomic {
			if
			:: kick -> kick_futex(); kick = false
			:: else
			fi;
			deadline = 0
		}
	}
	producers--
}

/* wakeup_collect */
inline hand_out(by, due, b)
{
	atomic {
		due = 0;
		if
		:: arrivals <= by && arrivals < NEVER ->
#ifndef KEEP_ARRIVALS
			arrivals = NEVER;
#endif
			for (b : 0 .. PRODUCERS - 1) {
				if
				:: visit[b] <= by ->
					due = due | (1 << b);
#ifndef RESET_LATE
					visit[b] = NEVER
#endif
				:: else ->
#if !defined(FORGET_OTHERS) && !defined(KEEP_ARRIVALS)
					arrivals = MIN(arrivals, visit[b])
#endif
				fi
			}
		:: else
		fi;
		b = 0
	}
}

/* The last step of bucket_collect: some of what is not due is taken, too. */
inline visit_bucket(b, by, taken, kick)
{
	atomic {
		LOCK(bucket[b].locked);
		if
		:: taken = bucket[b].timers & BY(by)
		:: taken = bucket[b].timers
		fi;
		pending = pending | taken;
		bucket[b].timers = bucket[b].timers & ~taken;
		taken = 0;
#ifndef NO_RESET
		bucket[b].nearest = EARLIEST(bucket[b].timers)
#endif
	}
#ifndef NO_ANNOUNCE
	if
	:: bucket[b].nearest < NEVER ->
		announce(b, bucket[b].nearest, kick);
		assert(!kick || stopping);
		kick = false
	:: else
	fi;
#endif
	UNLOCK(bucket[b].locked)
}

/* engine_turn */
inline turn(by, due, b, taken, kick)
{
	hand_out(by, due, b);
	for (b : 0 .. PRODUCERS - 1) {
		if
		:: due & (1 << b) ->
			visit_bucket(b, by, taken, kick);
#ifdef RESET_LATE
			visit[b] = NEVER
#endif
		:: else
		fi
	}
	atomic {
		due = 0;
		b = 0;
		pending = pending & ~BY(by)
	}
}

/* The system call */
inline futex_wait(expected, until)
{
	atomic { blocked = (seq == expected) };
	if
	:: !blocked
	:: now >= until -> blocked = false
	:: early > 0 ->
		atomic {
			early--;
			blocked = false
		}
	fi
}

/* wakeup_sleep; by: the time that it is told */
inline sleep_until_next(by, expected, until)
{
	atomic {
		expected = seq;
#ifdef NO_ARRIVALS
		until = EARLIEST(pending);
#else
		until = MIN(arrivals, EARLIEST(pending));
#endif
		if
		:: until > by && !stopping ->
			asleep_until = until;
			asleep = true
		:: else
		fi
	}
	if
	:: asleep ->
#ifdef READ_SEQ_LATE
		expected = seq;
#endif
		futex_wait(expected, until);
		/* wakeup_rise */
		atomic {
#ifndef NO_AWAKE
			asleep_until = AWAKE;
#endif
			asleep = false
		}
	:: else
	fi;
	/* Fewer states to tell apart. */
	atomic {
		expected = 0;
		until = 0
	}
}

/* wakeup_spin; next is no sooner than the time by, nor later than it spins */
inline spin_until_next(by, expected, until)
{
	atomic {
		expected = seq;
		until = EARLIEST(pending);
		if
#ifdef SPIN_BLIND
		:: until > by && until < NEVER && !stopping ->
#else
		:: until > by && until < NEVER && !stopping &&
		   arrivals >= until ->
#endif
			asleep_until = until;
			asleep = true;
			spinning = true
		:: else
		fi
	}
	if
	:: asleep ->
#ifdef SPIN_LATE
		expected = seq;
#endif
		seq != expected || now >= until;
		atomic {
#ifndef SPIN_ON
			spinning = false;
#endif
			asleep_until = AWAKE;
			asleep = false
		}
	:: else
	fi;
	atomic {
		expected = 0;
		until = 0
	}
}

proctype timer_thread()
{
	byte by, due, b, taken, expected, until;
	bool kick;

	do
	:: stopping -> break
	:: else ->
		by = now;
		turn(by, due, b, taken, kick);
		if
		:: sleep_until_next(by, expected, until)
#ifdef SPIN
		:: spin_until_next(by, expected, until)
#endif
		fi
	od;
	ended = true
}

proctype clock()
{
	do
	:: now < LATEST -> now++
	:: break
	od
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
			visit[b] = NEVER;
			run producer(b)
		}
		run timer_thread();
		run clock()
	};
	if
	:: true ->
		timeout;
		assert(producers == 0 && (blocked || spinning));
		left = pending;
		for (b : 0 .. PRODUCERS - 1) {
			left = left | bucket[b].timers
		}
		assert(now < asleep_until && asleep_until <= EARLIEST(left))
	:: true /* stop at any moment */
	fi;
	stop();
	timeout;
	assert(ended)
}
