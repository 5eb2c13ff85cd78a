/* SPDX-License-Identifier: MIT */
/*
 * A model of the descriptor that an event loop polls: wakeup_announce, kick,
 * end_sleep, begin_sleep and stop of lib/intake/wakeup.c, where the sleeper is polled.
 *
 * PRODUCERS threads schedule TIMERS timers each, with any deadline, in BUCKETS
 * buckets; the loop dispatches when the descriptor is readable, that is when
 * the time that it was set to has come.  A dispatch empties the buckets if
 * something in them is due.  What must hold:
 *
 *  - At each moment: while the loop waits, the descriptor is set to no later
 *    time than the deadline of a timer whose schedule call has returned.  So no
 *    timer waits for a thread that is held up in another call.
 *  - When nothing moves any more, all timers have run, and the descriptor is
 *    set to no time: an idle instance does not wake its loop.
 *  - After a stop at any moment it stays readable, and the loop learns of it.
 *
 * A section under a lock is one step, and so is the system call, with the load
 * before it: an older value would only cause needless calls.
 *
 * The names are those of the code.  A switch each leaves out or breaks one
 * thing that the code does, and must be caught: NO_KICK, NO_RECHECK,
 * NO_ARRIVALS, NO_STOPPING, KICK_SETS (who kicks sets the time, and looks
 * again, as the driver does); and of the help for others: OWN_KICK (who
 * announces wakes the driver only for a timer of its own), NO_MARK (a bucket
 * does not know that a wake-up is owed; with BUCKETS=1), NO_CHANGE, SENT_EARLY
 * (a wake-up counts as sent before it is).
 *
 * Where the code has these steps:
 *
 *	due		intake/wakeup.c descriptor_time
 *	set_descriptor	intake/wakeup.c set_descriptor
 *	set_descriptor	os/linux/sleeper.c sleeper_set
 *	kick		intake/wakeup.c wakeup_kick wakeup_called change_seq
 *	kick		os/linux/sleeper.c sleeper_wake
 *	announce	intake/wakeup.c wakeup_announce owes_kick
 *	add		intake/arrival.c arrival_is_open arrival_announce
 *	producer	intake/schedule.c bucket_schedule
 *	producer	intake/arrival.h arrival_begin arrival_add
 *	turn		intake/wakeup.c wakeup_collect hand_out
 *	turn		engine/turn.c engine_turn
 *	lie_down	intake/wakeup.c wakeup_begin_sleep set_asleep
 *	loop		api/driver.c timerthread_dispatch
 *	loop		intake/wakeup.c wakeup_end_sleep
 *	stop		intake/wakeup.c wakeup_stop
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef TIMERS
#define TIMERS 1
#endif
#ifndef BUCKETS
#define BUCKETS PRODUCERS
#endif

#ifndef LATEST
#define LATEST 3
#endif

#define AT_ONCE 0
#define AWAKE	0
#define NEVER	4 /* deadlines are 1 to LATEST */

#define MIN(a, b) ((a) < (b) -> (a) : (b))

/* Where a timer is. */
#define NOT_YET 0
#define BUCKET	1
#define ENGINE	2
#define RUN	3

#define ALL (PRODUCERS * TIMERS)

byte now;
byte deadline[ALL];
byte where[ALL];
bool returned[ALL];	    /* its schedule call has */
byte wakeup_nearest = NEVER;	    /* as in struct wakeup */
byte asleep_until = NEVER;  /* `sleep` */
byte seq, sent;
bool stopping;
byte nearest[BUCKETS];
bool marked[BUCKETS];	    /* BUCKET_KICKED */
byte set_to = NEVER;	    /* the descriptor */
byte producers = PRODUCERS;
bool waits = true;	    /* the loop does */
bool left;		    /* the loop */

inline due(t)
{
#ifdef NO_STOPPING
	t = asleep_until
#else
	t = (stopping -> AT_ONCE : asleep_until)
#endif
}

inline set_descriptor(t, set)
{
	atomic { due(t) };
	do
	:: true ->
		atomic {
			set = t;
			set_to = t
		};
#ifdef NO_RECHECK
		break;
#endif
		atomic {
			due(t);
			if
			:: t == set -> break
			:: else
			fi
		}
	od;
	atomic {
		t = 0;
		set = 0
	}
}

#ifdef NO_CHANGE
#define CHANGE() skip
#else
#define CHANGE() seq = seq + 1
#endif
#ifdef OWN_KICK
#define OWES_KICK false
#else
#define OWES_KICK (asleep_until != AWAKE && sent != seq)
#endif

/* wakeup_kick */
inline kick(t, set)
{
#ifdef KICK_SETS
	set_descriptor(t, set);
	sent = seq
#else
#ifdef SENT_EARLY
	sent = seq;
	set_to = AT_ONCE
#else
	atomic {
		t = seq;
		set_to = AT_ONCE
	};
	atomic {
		sent = (t > sent -> t : sent);
		t = 0
	}
#endif
#endif
}

/* wakeup_announce */
inline announce(d, kicks)
{
	if
	:: d < wakeup_nearest ->
		wakeup_nearest = d;
		if
		:: d < asleep_until ->
			asleep_until = d;
#ifdef OWN_KICK
			kicks = true;
#endif
			CHANGE()
		:: else
		fi
	:: else
	fi;
	kicks = kicks || OWES_KICK
}

/* In a bucket in which nobody owes a wake-up. */
inline add(b, n, d, kicks)
{
	select (d : 1 .. LATEST);
	marked[b] = false;
	deadline[n] = d;
	where[n] = BUCKET;
	if
	:: d < nearest[b] ->
		nearest[b] = d;
		announce(d, kicks);
#if BUCKETS < PRODUCERS && !defined(NO_MARK)
		marked[b] = kicks
#endif
	:: else
	fi;
	d = 0
}

proctype producer(byte me)
{
	byte b = me % BUCKETS, n, t, set;
	bool kicks;

	for (n : me * TIMERS .. me * TIMERS + TIMERS - 1) {
		do
		:: atomic {
			marked[b] && OWES_KICK -> skip
		   };
		   kick(t, set)
		:: atomic {
			!(marked[b] && OWES_KICK) ->
			add(b, n, t, kicks);
			break
		   }
		od;
		if
		:: kicks ->
#ifndef NO_KICK
			kick(t, set)
#endif
		:: else
		fi;
		atomic {
			kicks = false;
			returned[n] = true
		}
	}
	producers--
}

proctype clock()
{
	do
	:: now < LATEST -> now++
	:: else -> break
	od
}

/* wakeup_collect, and what is due runs */
inline turn(i)
{
	atomic {
		for (i : 0 .. ALL - 1) {
			if
			:: wakeup_nearest <= now && where[i] == BUCKET ->
				where[i] = ENGINE
			:: else
			fi
		}
		if
		:: wakeup_nearest <= now ->
			wakeup_nearest = NEVER;
			for (i : 0 .. BUCKETS - 1) {
				nearest[i] = NEVER
			}
		:: else
		fi;
		for (i : 0 .. ALL - 1) {
			if
			:: where[i] == ENGINE && deadline[i] <= now ->
				where[i] = RUN
			:: else
			fi
		}
		i = 0
	}
}

/* wakeup_begin_sleep */
inline lie_down(i, t, set)
{
	atomic {
#ifdef NO_ARRIVALS
		t = NEVER;
#else
		t = wakeup_nearest;
#endif
		for (i : 0 .. ALL - 1) {
			if
			:: where[i] == ENGINE -> t = MIN(t, deadline[i])
			:: else
			fi
		}
		asleep_until = t;
		sent = seq;
		i = 0
	}
	set_descriptor(t, set)
}

proctype loop()
{
	byte i, t, set;

	do
	:: atomic { set_to <= now -> waits = false }
		asleep_until = AWAKE;
		if
		:: stopping -> break
		:: else ->
			turn(i);
			lie_down(i, t, set);
			waits = true
		fi
	od;
	left = true
}

#define WAITS_TOO_LONG(n)                                                      \
	(returned[n] && where[n] != RUN && set_to > deadline[n])

/* At each moment. */
active proctype check()
{
	byte i;

end:	atomic {
		waits && !stopping ->
		for (i : 0 .. ALL - 1) {
			assert(!WAITS_TOO_LONG(i))
		}
	}
}

/* wakeup_stop */
inline stop(t, set)
{
	atomic {
		stopping = true;
		CHANGE();
		asleep_until = AWAKE
	}
	kick(t, set)
}

init
{
	byte i, t, set;

	atomic {
		for (i : 0 .. BUCKETS - 1) {
			nearest[i] = NEVER
		}
		for (i : 0 .. PRODUCERS - 1) {
			run producer(i)
		}
		run clock();
		run loop()
	};
	if
	:: true ->
		timeout;
		assert(producers == 0 && now == LATEST);
		for (i : 0 .. ALL - 1) {
			assert(where[i] == RUN)
		}
		assert(set_to == NEVER)
	:: true /* stop at any moment */
	fi;
	stop(t, set);
	timeout;
	assert(set_to == AT_ONCE);
	assert(left)
}
