/* SPDX-License-Identifier: MIT */
/*
 * A model of the function that wakes a loop without a descriptor: the parts of
 * lib/intake/wakeup.c where `wake` is not NULL, and timerthread_set_wake.
 *
 * PRODUCERS threads announce TIMERS timers each, with any deadline.  The loop
 * asks for the next deadline, sleeps on a condition variable of its own until
 * then or until it is woken, and dispatches if the time has come.  A thread may
 * be held up between any two steps.  What must hold:
 *
 *  - At each moment: unless a thread is held up, the loop sleeps no longer than
 *    until the first deadline, or is woken.
 *  - When nothing moves any more, all timers have run.
 *  - Between two questions, or dispatches, the function is called once at most.
 *  - After a stop at any moment the loop learns of it.
 *
 * A section under a lock is one step, and so is the compare-and-swap with the
 * call that follows: a thread that is held up between these two is one that is
 * held up in the function.
 *
 * A switch each breaks one thing that the code does, and must be caught:
 * NO_KICK (nobody calls the function), NO_CLAIM (every thread that has
 * announced something calls it), NOT_NEWER (a thread that was held up calls it
 * for what is over, and takes back that it was called), STAYS_SENT (what was
 * announced before the loop lies down, or asks, still needs a call), NO_REARM
 * (a question changes nothing), EACH_SEQ (each announcement that is earlier
 * than the last one needs a call), STOP_FIRST (who asks looks for a stop, and
 * then for the deadline), NO_CHANGE (a stop changes nothing).
 *
 * Where the code has these steps:
 *
 *	kick		intake/wakeup.c wakeup_kick
 *	announce	intake/wakeup.c wakeup_announce owes_kick change_seq
 *	set_asleep	intake/wakeup.c set_asleep
 *	ask		intake/wakeup.c wakeup_next
 *	ask		api/next.c timerthread_get_next_deadline
 *	producer	intake/arrival.h arrival_add
 *	producer	intake/arrival.c arrival_announce
 *	turn		intake/wakeup.c wakeup_collect hand_out
 *	dispatch	intake/wakeup.c wakeup_rise wakeup_lie_down
 *	dispatch	api/driver_polled.c timerthread_dispatch
 *	loop		api/driver_polled.c timerthread_dispatch
 *	stop		intake/wakeup.c wakeup_stop
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef TIMERS
#define TIMERS 1
#endif
#ifndef LATEST
#define LATEST 2
#endif

#define AWAKE 0
#define WOKEN 1 /* AWAKE + 1 */
#define NEVER 5 /* deadlines are 2 to LATEST + 1 */
#define LAST  (LATEST + 1)

#define MIN(a, b) ((a) < (b) -> (a) : (b))

/* Where a timer is. */
#define NOT_YET 0
#define BUCKET	1
#define ENGINE	2
#define RUN	3

#define ALL (PRODUCERS * TIMERS)

byte now = 1;
byte deadline[ALL];
byte where[ALL];
byte arrivals = NEVER;	   /* as in struct wakeup */
byte asleep_until = NEVER; /* `sleep` */
byte next = NEVER;
bool kicked;
byte seq, sent;
bool stopping;
byte producers = PRODUCERS;
byte calls;	/* since the loop has asked, or dispatched */
bool condition; /* what the program's function sets */
byte until;	/* the loop sleeps until then; 0: it is awake */
byte held;	/* threads that have announced, and not called */
bool left;	/* the loop */

inline kick(t, s)
{
	t = seq;
	s = sent;
	atomic {
		if
#ifdef NO_KICK
		:: true
#elif defined(NO_CLAIM)
		:: t > s ->
			sent = t;
#elif defined(NOT_NEWER)
		:: t != s && sent == s ->
			sent = t;
#else
		:: t > s && sent == s ->
			sent = t;
#endif
#ifndef NO_KICK
			condition = true;
			calls++;
			assert(calls <= 1)
		:: else
#endif
		fi;
		held--;
		t = 0;
		s = 0
	}
}

inline announce(d, kicks)
{
	if
	:: d < arrivals ->
		arrivals = d;
		if
		:: d < asleep_until ->
#ifdef EACH_SEQ
			asleep_until = d;
#else
			asleep_until = WOKEN;
#endif
			kicked = true;
			seq++
		:: else
		fi
	:: else
	fi;
	kicks = kicked && asleep_until != AWAKE && sent != seq
}

proctype producer(byte me)
{
	byte n, t, s;
	bool kicks;

	for (n : me * TIMERS .. me * TIMERS + TIMERS - 1) {
		atomic {
			select (t : 2 .. LAST);
			deadline[n] = t;
			where[n] = BUCKET;
			announce(t, kicks);
			held = held + kicks;
			t = 0
		};
		if
		:: kicks ->
			kicks = false;
			kick(t, s)
		:: else
		fi
	}
	producers--
}

proctype clock()
{
	do
	:: now < LAST -> now++
	:: else -> break
	od
}

inline set_asleep(to)
{
	asleep_until = to;
	kicked = false;
#ifndef STAYS_SENT
	sent = seq;
#endif
	calls = 0
}

/* t: the answer; AWAKE: it was stopped */
inline ask(t, s)
{
#ifdef STOP_FIRST
	s = stopping;
#endif
	atomic {
		t = MIN(next, arrivals);
#ifdef NO_REARM
		calls = 0;
#else
		if
		:: asleep_until != AWAKE -> set_asleep(t)
		:: else
		fi;
#endif
	};
	atomic {
#ifndef STOP_FIRST
		s = stopping;
#endif
		t = (s -> AWAKE : t);
		s = false
	}
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
		if
		:: arrivals <= now -> arrivals = NEVER
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

inline dispatch(i, t)
{
	atomic {
		asleep_until = AWAKE;
		next = AWAKE
	};
	turn(i);
	atomic {
		next = NEVER;
		for (i : 0 .. ALL - 1) {
			if
			:: where[i] == ENGINE -> next = MIN(next, deadline[i])
			:: else
			fi
		}
		i = 0;
		t = MIN(next, arrivals);
		set_asleep(t)
	}
}

proctype loop()
{
	byte i, t;
	bool s;

	do
	:: true ->
		ask(t, s);
		if
		:: t == AWAKE -> break
		:: t != AWAKE && t <= now -> dispatch(i, t)
		:: else ->
			atomic {
				until = t;
				t = 0
			};
end:			atomic {
				condition || until <= now ->
				condition = false;
				until = 0
			}
		fi
	od;
	left = true
}

/* Another thread stops it. */
inline stop(t, s)
{
	atomic {
		held++;
		stopping = true;
#ifndef NO_CHANGE
		if
		:: !kicked -> seq++
		:: else
		fi;
#endif
		asleep_until = AWAKE
	};
	kick(t, s)
}

#define SLEEPS_TOO_LONG(n)                                                     \
	(where[n] != NOT_YET && where[n] != RUN && deadline[n] < until)

/* At each moment. */
active proctype check()
{
	byte i;

end:	atomic {
		until > now && held == 0 && !condition ->
		assert(!stopping);
		for (i : 0 .. ALL - 1) {
			assert(!SLEEPS_TOO_LONG(i))
		}
	}
}

init
{
	byte i, t, s;

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
		assert(producers == 0 && now == LAST);
		for (i : 0 .. ALL - 1) {
			assert(where[i] == RUN)
		}
	:: true /* stop at any moment */
	fi;
	stop(t, s);
	timeout;
	assert(left)
}
