/* SPDX-License-Identifier: MIT */
/*
 * A model of the way to sleep and of the wake-up: lib/intake/wakeup.c with
 * the parts of intake/arrival.c, intake/collect.h and engine/turn.c that call
 * it.
 *
 * PRODUCERS threads schedule TIMERS timers each, with any deadline, in BUCKETS
 * buckets; the driver visits the buckets in which something is due, takes out
 * what is, and some of the rest if it likes, runs it, and sleeps until the
 * earliest deadline that it knows.  The time goes on when it likes, and may
 * stand still for ever.  EARLY of its sleeps may end for no reason.  The first
 * HELD of the threads may be held up for ever where they owe the driver a
 * wake-up, before the system call or after it.  What must hold:
 *
 *  - When nothing moves any more, the driver sleeps until a time that is yet to
 *    come, and that is no later than the earliest deadline which is left of the
 *    threads that are never held up.  What it seems to sleep until is no later
 *    than the earliest of all that are left.
 *  - Nobody wakes it who finds it awake.
 *  - A stop at any moment ends it.
 *  - There is no cycle: it never goes round without sleeping.
 *
 * A section under wakeup's lock is one step: who looks without the lock looks
 * at one word.  The system call is one step with the load before it: an older
 * value would only cause needless calls.
 *
 * The names are those of the code.  A switch each leaves out one thing that
 * the code does, and must be caught: NO_ARRIVALS (the sleep leaves the buckets
 * out), NO_CHANGE, NO_KICK, NO_AWAKE, NO_VISIT (a bucket's time is not kept),
 * NO_RESET (nor its nearest found anew), NO_ANNOUNCE (what is left in it is not
 * announced), RESET_LATE (the times are taken off after the visits),
 * READ_SEQ_LATE, FORGET_OTHERS (what is not due is left out of the earliest),
 * KEEP_ARRIVALS (nor is that found anew).  The same for the help for others,
 * with HELD: OWN_KICK (who announces wakes the driver only for a timer of its
 * own), SENT_EARLY (a wake-up counts as sent before it is), SENT_LATE (what is
 * announced during a wake-up counts as sent with it), NO_MARK (a bucket does not
 * know that a wake-up is owed; with BUCKETS=1).
 *
 * With SPIN the driver may, in the place of a sleep, watch the futex until a
 * deadline that it has itself: then it is told of an earlier one, but not woken.
 * Switches: SPIN_BLIND (it does not look whether one has been announced),
 * SPIN_ON (it seems to spin when it sleeps), SPIN_LATE (the futex is read when
 * that is known of it).
 *
 * Where the code has these steps:
 *
 *	change		intake/wakeup.c change_seq
 *	wake		os/linux/sleeper.c sleeper_wake
 *	kick		intake/wakeup.c wakeup_kick wakeup_called
 *	announce	intake/wakeup.c wakeup_announce owes_kick
 *	add		intake/arrival.h arrival_push
 *	add		intake/arrival.c arrival_is_open arrival_announce
 *	producer	intake/schedule.c bucket_schedule
 *	producer	intake/arrival.h arrival_begin arrival_add
 *	hand_out	intake/wakeup.c wakeup_collect hand_out
 *	visit_bucket	intake/collect.h bucket_collect bucket_announce
 *	turn		engine/turn.c engine_turn collect visit_by
 *	futex_wait	os/linux/futex.c futex_wait_until
 *	futex_wait	os/linux/sleeper.c sleeper_sleep
 *	sleep_until_next intake/wakeup.c wakeup_sleep sleep_until leave_asleep
 *	sleep_until_next intake/wakeup.c wakeup_end_sleep
 *	spin_until_next	engine/turn.c spin_until_due
 *	spin_until_next	intake/wakeup.c wakeup_spin set_asleep
 *	timer_thread	api/driver_thread.c take_turns
 *	stop		intake/wakeup.c wakeup_stop
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef TIMERS
#define TIMERS 2
#endif
#ifndef BUCKETS
#define BUCKETS PRODUCERS
#endif
#ifndef EARLY
#define EARLY 1
#endif
#ifndef HELD
#define HELD 0
#endif

#ifndef LATEST
#define LATEST 3
#endif

#define AWAKE 0
#define NEVER 4 /* deadlines are 1 to LATEST */

#define LOCK(l)	  atomic { !l; l = true }
#define UNLOCK(l) l = false
#define MIN(a, b) ((a) < (b) -> (a) : (b))

/*
 * A set of deadlines: bit d for d, and bit d + 4 too if a thread has it that is
 * never held up.
 */
#define ADD(set, d, thread)                                                    \
	set = set | (((thread) < HELD -> 1 : 17) << (d))
#define NOT_HELD(set) ((set) >> 4)
#define BY(t)	      (17 * ((1 << ((t) + 1)) - 1)) /* come by the time t */
#define EARLIEST(set)                                                          \
	((set) & 2 -> 1 : ((set) & 4 -> 2 : ((set) & 8 -> 3 : NEVER)))

typedef bucket_t {
	bool locked;
	bool marked; /* BUCKET_KICKED */
	byte nearest;
	byte timers
};
bucket_t bucket[BUCKETS];

/* struct wakeup */
byte seq, sent;
byte wakeup_nearest = NEVER;
byte asleep_until = AWAKE; /* `sleep` */
bool stopping;
bool spinning;
byte visit[BUCKETS];

/* the futex */
bool blocked;
byte until; /* when the sleep ends, whatever is announced */
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

#ifdef OWN_KICK
#define OWES_KICK false
#else
#define OWES_KICK                                                              \
	(asleep_until != AWAKE && !spinning && sent != seq)
#endif

inline wake()
{
#ifdef NO_KICK
	skip
#else
	blocked = false
#endif
}

#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* A thread that is held up for ever ends. */
#define MAY_BE_HELD_UP(thread)                                                 \
	if                                                                     \
	:: thread < HELD -> goto held_up                                       \
	:: true                                                                \
	fi

inline kick(thread, t)
{
#ifdef SENT_EARLY
	sent = seq;
	MAY_BE_HELD_UP(thread);
	wake()
#else
	atomic {
		MAY_BE_HELD_UP(thread);
		t = seq;
		wake()
	};
	atomic {
		MAY_BE_HELD_UP(thread);
#ifdef SENT_LATE
		sent = seq;
#else
		sent = MAX(sent, t);
#endif
		t = 0
	}
#endif
}

/* wakeup_announce, under the bucket's lock */
inline announce(b, deadline, kicks)
{
	atomic {
#ifndef NO_VISIT
	visit[b] = deadline;
#endif
	if
	:: deadline < wakeup_nearest ->
		wakeup_nearest = deadline;
		if
		:: deadline < asleep_until ->
			assert(asleep || stopping);
			asleep_until = deadline;
#ifdef OWN_KICK
			kicks = !spinning;
#endif
			change()
		:: else
		fi
	:: else
	fi;
	kicks = kicks || OWES_KICK
	}
}

/* In a bucket in which nobody owes a wake-up, under its lock. */
inline add(b, deadline, kicks)
{
	atomic {
		if
		:: deadline < bucket[b].nearest ->
			bucket[b].nearest = deadline;
			announce(b, deadline, kicks);
#ifndef NO_MARK
			bucket[b].marked = kicks
#endif
		:: else
		fi
	}
}

/* bucket_schedule */
proctype producer(byte me)
{
	byte b = me % BUCKETS, n, deadline;
	bool kicks;

	for (n : 1 .. TIMERS) {
		do
		:: atomic {
			!bucket[b].locked && bucket[b].marked && OWES_KICK ->
			skip
		   };
		   kick(me, deadline)
		:: atomic {
			!bucket[b].locked && !(bucket[b].marked && OWES_KICK) ->
			bucket[b].locked = true;
			bucket[b].marked = false;
			select (deadline : 1 .. LATEST);
			ADD(bucket[b].timers, deadline, me);
			break
		   }
		od;
		add(b, deadline, kicks);
		atomic {
			UNLOCK(bucket[b].locked);
			deadline = 0
		};
		if
		:: atomic { kicks -> kicks = false };
		   kick(me, deadline)
		:: else
		fi
	}
held_up:
	producers--
}

/* wakeup_collect */
inline hand_out(by, due, b)
{
	atomic {
		due = 0;
		if
		:: wakeup_nearest <= by && wakeup_nearest < NEVER ->
#ifndef KEEP_ARRIVALS
			wakeup_nearest = NEVER;
#endif
			for (b : 0 .. BUCKETS - 1) {
				if
				:: visit[b] <= by ->
					due = due | (1 << b);
#ifndef RESET_LATE
					visit[b] = NEVER
#endif
				:: else ->
#if !defined(FORGET_OTHERS) && !defined(KEEP_ARRIVALS)
					wakeup_nearest = MIN(wakeup_nearest, visit[b])
#endif
				fi
			}
		:: else
		fi;
		b = 0
	}
}

/* The last step of bucket_collect: some of what is not due is taken, too. */
inline visit_bucket(b, by, taken, kicks)
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
		announce(b, bucket[b].nearest, kicks);
		assert(!kicks || stopping);
		kicks = false
	:: else
	fi;
#endif
	UNLOCK(bucket[b].locked)
}

/* engine_turn */
inline turn(by, due, b, taken, kicks)
{
	hand_out(by, due, b);
	for (b : 0 .. BUCKETS - 1) {
		if
		:: due & (1 << b) ->
			visit_bucket(b, by, taken, kicks);
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
inline futex_wait(expected)
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
inline sleep_until_next(by, expected)
{
	atomic {
		expected = seq;
#ifdef NO_ARRIVALS
		until = EARLIEST(pending);
#else
		until = MIN(wakeup_nearest, EARLIEST(pending));
#endif
		if
		:: until > by && !stopping ->
			asleep_until = until;
			sent = seq; /* set_asleep */
			asleep = true
		:: else
		fi
	}
	if
	:: asleep ->
#ifdef READ_SEQ_LATE
		expected = seq;
#endif
		futex_wait(expected);
		/* wakeup_end_sleep */
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
inline spin_until_next(by, expected)
{
	atomic {
		expected = seq;
		until = EARLIEST(pending);
		if
#ifdef SPIN_BLIND
		:: until > by && until < NEVER && !stopping ->
#else
		:: until > by && until < NEVER && !stopping &&
		   wakeup_nearest >= until ->
#endif
			asleep_until = until;
			sent = seq; /* set_asleep */
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
	byte by, due, b, taken, expected;
	bool kicks;

	do
	:: stopping -> break
	:: else ->
		by = now;
		turn(by, due, b, taken, kicks);
		if
		:: sleep_until_next(by, expected)
#ifdef SPIN
		:: spin_until_next(by, expected)
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
	wake()
}

init
{
	byte b, left;

	atomic {
		for (b : 0 .. BUCKETS - 1) {
			bucket[b].nearest = NEVER;
			visit[b] = NEVER
		}
		for (b : 0 .. PRODUCERS - 1) {
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
		for (b : 0 .. BUCKETS - 1) {
			left = left | bucket[b].timers
		}
		assert(asleep_until <= EARLIEST(left));
		assert(now < until && until <= EARLIEST(NOT_HELD(left)))
	:: true /* stop at any moment */
	fi;
	stop();
	timeout;
	assert(ended)
}
