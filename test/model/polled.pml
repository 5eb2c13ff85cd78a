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
 *  - When nothing moves any more, all timers have run, and the descriptor is
 *    set to no time: an idle instance does not wake its loop.
 *  - A stop at any moment leaves it set to none.
 *
 * A section under wakeup's lock is one step, and so is the system call.
 *
 * The names are those of the code.  A switch each leaves out one thing that
 * the code does, and must be caught: NO_KICK, NO_RECHECK, NO_ARRIVALS,
 * NO_STOPPING.  (AWAKE only saves system calls.)
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

#define AWAKE 0
#define NEVER 4 /* deadlines are 1 to LATEST */

#define MIN(a, b) ((a) < (b) -> (a) : (b))

/* A set of deadlines: bit d for d. */
#define ADD(set, d)   set = set | (1 << (d))
#define EARLIEST(set)                                                          \
	((set) & 2 -> 1 : ((set) & 4 -> 2 : ((set) & 8 -> 3 : NEVER)))

/* What has come by the time t. */
#define BY(t) ((1 << ((t) + 1)) - 1)

byte now;
byte timers;		    /* in the buckets */
byte pending;		    /* in the engine */
byte arrivals = NEVER;	    /* as in struct wakeup */
byte asleep_until = NEVER;  /* `sleep` */
bool stopping;
byte set_to = NEVER;	    /* the descriptor */
byte producers = PRODUCERS;
bool stopped;
bool left;		    /* the loop */

inline due(t)
{
	atomic {
#ifdef NO_STOPPING
		t = asleep_until
#else
		t = (stopping -> NEVER : asleep_until)
#endif
	}
}

inline set_descriptor(t, set)
{
	due(t);
	do
	:: true ->
		atomic {
			set = t;
			if
			:: t != AWAKE -> set_to = t
			:: else
			fi
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

/* wakeup_announce; the bucket's lock keeps collect from coming between */
inline announce(deadline, kick)
{
	atomic {
		if
		:: deadline < arrivals ->
			arrivals = deadline;
			if
			:: deadline < asleep_until ->
				asleep_until = deadline;
				kick = true
			:: else
			fi
		:: else
		fi
	}
}

proctype producer()
{
	byte n, deadline, t, set;
	bool kick;

	for (n : 1 .. TIMERS) {
		atomic {
			select (deadline : 1 .. LATEST);
			ADD(timers, deadline);
			announce(deadline, kick)
		}
		if
		:: kick ->
#ifndef NO_KICK
			set_descriptor(t, set)
#endif
		:: else
		fi;
		atomic {
			kick = false;
			deadline = 0
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

proctype loop()
{
	byte t, set;

	do
	:: stopped -> break
	:: set_to <= now ->
		asleep_until = AWAKE;
		if
		:: stopping -> break
		:: else ->
			/* The turn */
			atomic {
				if
				:: arrivals <= now ->
					pending = pending | timers;
					timers = 0;
					arrivals = NEVER
				:: else
				fi;
				pending = pending & ~BY(now)
			}
			atomic {
#ifdef NO_ARRIVALS
				asleep_until = EARLIEST(pending)
#else
				asleep_until = MIN(arrivals, EARLIEST(pending))
#endif
			}
			set_descriptor(t, set)
		fi
	od;
	left = true
}

/* wakeup_stop */
inline stop(t, set)
{
	atomic {
		stopping = true;
		asleep_until = AWAKE
	}
	set_descriptor(t, set)
}

init
{
	byte i, t, set;

	atomic {
		for (i : 1 .. PRODUCERS) {
			run producer()
		}
		run clock();
		run loop()
	};
	if
	:: true ->
		timeout;
		assert(producers == 0 && now == LATEST);
		assert(timers == 0 && pending == 0);
		assert(set_to == NEVER)
	:: true /* stop at any moment */
	fi;
	stop(t, set);
	timeout;
	assert(set_to == NEVER);
	stopped = true;
	timeout;
	assert(left)
}
