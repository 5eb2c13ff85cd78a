/* SPDX-License-Identifier: MIT */
/*
 * A model of the descriptor that an event loop polls: wakeup_announce, kick,
 * rise, lie_down and stop of lib/intake/wakeup.c, where the sleeper is polled.
 *
 * PRODUCERS threads schedule TIMERS timers each, with any deadline; the loop
 * dispatches when the descriptor is readable, that is when the time that it was
 * set to has come.  A dispatch empties the buckets if something in them is
 * due.  What must hold:
 *
 *  - At each moment: while the loop waits, the descriptor is set to no later
 *    time than the deadline of a timer whose schedule call has returned; or
 *    one that is due no later is in that call still, and shall set it.  So no
 *    timer waits for a thread that schedules a later one.
 *  - When nothing moves any more, all timers have run, and the descriptor is
 *    set to no time: an idle instance does not wake its loop.
 *  - After a stop at any moment it stays readable, and the loop learns of it.
 *
 * A section under wakeup's lock is one step, and so is the system call.
 *
 * The names are those of the code.  A switch each leaves out or breaks one
 * thing that the code does, and must be caught: NO_KICK, NO_RECHECK,
 * NO_ARRIVALS, NO_STOPPING, and KICK_SETS (who kicks sets the time, and looks
 * again, as the driver does).
 *
 * Where the code has these steps:
 *
 *	due		intake/wakeup.c due
 *	set_descriptor	intake/wakeup.c set_descriptor
 *	set_descriptor	os/sleeper.c sleeper_set
 *	kick		intake/wakeup.c wakeup_kick
 *	kick		os/sleeper.c sleeper_wake
 *	announce	intake/wakeup.c wakeup_announce
 *	producer	intake/schedule.c bucket_schedule
 *	producer	intake/arrival.h arrival_add
 *	turn		intake/wakeup.c wakeup_collect hand_out
 *	turn		engine/turn.c engine_turn
 *	lie_down	intake/wakeup.c wakeup_lie_down set_asleep
 *	loop		api/driver_polled.c dispatch
 *	loop		intake/wakeup.c wakeup_rise
 *	stop		intake/wakeup.c wakeup_stop
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef TIMERS
#define TIMERS 1
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
byte arrivals = NEVER;	    /* as in struct wakeup */
byte asleep_until = NEVER;  /* `sleep` */
bool stopping;
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

/* wakeup_kick */
inline kick(t, set)
{
#ifdef KICK_SETS
	set_descriptor(t, set)
#else
	set_to = AT_ONCE
#endif
}

/* wakeup_announce; the bucket's lock keeps collect from coming between */
inline announce(d, kicks)
{
	if
	:: d < arrivals ->
		arrivals = d;
		if
		:: d < asleep_until ->
			asleep_until = d;
			kicks = true
		:: else
		fi
	:: else
	fi
}

proctype producer(byte me)
{
	byte n, t, set;
	bool kicks;

	for (n : me * TIMERS .. me * TIMERS + TIMERS - 1) {
		atomic {
			select (t : 1 .. LATEST);
			deadline[n] = t;
			where[n] = BUCKET;
			announce(t, kicks);
			t = 0
		}
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
			:: arrivals <= now && where[i] == BUCKET ->
				where[i] = ENGINE
			:: else
			fi
		}
		arrivals = (arrivals <= now -> NEVER : arrivals);
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

/* wakeup_lie_down */
inline lie_down(i, t, set)
{
	atomic {
#ifdef NO_ARRIVALS
		t = NEVER;
#else
		t = arrivals;
#endif
		for (i : 0 .. ALL - 1) {
			if
			:: where[i] == ENGINE -> t = MIN(t, deadline[i])
			:: else
			fi
		}
		asleep_until = t;
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

/* first: the earliest that is in its schedule call */
#define WAITS_TOO_LONG(n)                                                      \
	(returned[n] && where[n] != RUN && set_to > deadline[n] &&             \
	 first > deadline[n])

/* At each moment. */
active proctype check()
{
	byte i, first = NEVER;

end:	atomic {
		waits && !stopping ->
		for (i : 0 .. ALL - 1) {
			if
			:: where[i] != NOT_YET && !returned[i] ->
				first = MIN(first, deadline[i])
			:: else
			fi
		}
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
		asleep_until = AWAKE
	}
	kick(t, set)
}

init
{
	byte i, t, set;

	atomic {
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
