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
 *  - When a thread's call returns, the loop is on time for its timer, whoever
 *    else is held up, in the function, too.
 *  - When nothing moves any more, all timers have run.
 *  - The function is called only for what the loop has not been told.  When a
 *    call of it has returned, no other is needed until the loop asks again.
 *  - After a stop at any moment the loop learns of it.
 *
 * A section under a lock is one step.  So is the function: but a thread may be
 * held up before it and after it.
 *
 * A switch each breaks one thing that the code does, and must be caught:
 * NO_KICK (nobody calls the function), SENT_FIRST (it counts as called before
 * it has been), NEVER_SENT (that it was called is not noted), NOT_NEWER (a
 * thread that was held up calls it for what is over), STAYS_SENT (what was
 * announced before the loop sleeps, or asks, still needs a call), NO_REARM
 * (a question changes nothing), EACH_SEQ (each announcement that is earlier
 * than the last one needs a call), STOP_FIRST (who asks looks for a stop, and
 * then for the deadline), NO_CHANGE (a stop changes nothing).
 *
 * Where the code has these steps:
 *
 *	kick		api/instance.c instance_wake
 *	leave		api/instance.c instance_wake
 *	kick		intake/wakeup.c wakeup_calls wakeup_called
 *	announce	intake/wakeup.c wakeup_announce owes_kick change_seq
 *	set_asleep	intake/wakeup.c set_asleep
 *	ask		intake/wakeup.c wakeup_next
 *	ask		api/time.c timerthread_get_next_deadline
 *	producer	intake/arrival.h arrival_add
 *	producer	intake/arrival.c arrival_announce
 *	producer	api/instance.h instance_announced
 *	turn		intake/wakeup.c wakeup_collect hand_out
 *	dispatch	intake/wakeup.c wakeup_end_sleep wakeup_begin_sleep
 *	dispatch	api/driver.c timerthread_dispatch
 *	loop		api/driver.c timerthread_dispatch
 *	stop		intake/wakeup.c wakeup_stop
 *	stop		api/life.c tell_loop
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

/* Is the loop awake, or will be by its deadline?  Another thread looks. */
#define IS_ON_TIME(n)                                                          \
	(stopping || condition || until <= deadline[n] || where[n] == RUN)

/* Where a timer is. */
#define NOT_YET 0
#define BUCKET	1
#define ENGINE	2
#define RUN	3

#define ALL (PRODUCERS * TIMERS)

byte now = 1;
byte deadline[ALL];
byte where[ALL];
byte wakeup_nearest = NEVER;	   /* as in struct wakeup */
byte asleep_until = NEVER; /* `sleep` */
byte next = NEVER;
bool kicked;
byte seq, sent;
bool stopping;
byte producers = PRODUCERS;
bool need;	/* the loop must be told something, and nobody has */
bool condition; /* what the program's function sets */
byte until;	/* the loop sleeps until then; 0: it is awake */
byte held;	/* threads that have announced, and not called */
bool left;	/* the loop */

/* The call returns. */
inline leave(n, t, s)
{
	atomic {
		assert(IS_ON_TIME(n));
		held--;
		t = 0;
		s = 0
	}
}

inline kick(n, t, s)
{
	t = seq;
	atomic {
		s = sent;
#ifdef NOT_NEWER
		assert(t == s || need)
#else
		assert(t <= s || need)
#endif
	};
	if
#ifdef NOT_NEWER
	:: t != s ->
#elif !defined(NO_KICK)
	:: t > s ->
#endif
#ifndef NO_KICK
#ifdef SENT_FIRST
		sent = t;
#endif
		atomic {
			condition = true;
			s = sent
		};
		/* The compare-and-swap, after which nobody needs to call. */
		atomic {
			if
#ifndef NEVER_SENT
			:: t > s && sent == s -> sent = t
#endif
			:: else
			fi;
			need = need && t != seq;
			leave(n, t, s)
		}
#endif
	:: else -> leave(n, t, s)
	fi
}

inline announce(d, kicks)
{
	if
	:: d < wakeup_nearest ->
		wakeup_nearest = d;
		if
		:: d < asleep_until ->
#ifdef EACH_SEQ
			asleep_until = d;
#else
			asleep_until = WOKEN;
#endif
			kicked = true;
			need = true;
			seq++
		:: else
		fi
	:: else
	fi;
	kicks = asleep_until != AWAKE && sent != seq
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
			assert(kicks || IS_ON_TIME(n));
			t = 0
		};
		if
		:: kicks ->
			kicks = false;
			kick(n, t, s)
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
	need = false
}

/* t: the answer; AWAKE: it was stopped */
inline ask(t, s)
{
#ifdef STOP_FIRST
	s = stopping;
#endif
	atomic {
		t = MIN(next, wakeup_nearest);
#ifdef NO_REARM
		need = false;
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
			:: wakeup_nearest <= now && where[i] == BUCKET ->
				where[i] = ENGINE
			:: else
			fi
		}
		if
		:: wakeup_nearest <= now -> wakeup_nearest = NEVER
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
		next = AWAKE;
		sent = seq;
		need = false
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
		t = MIN(next, wakeup_nearest);
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
inline stop(n, t, s)
{
	atomic {
		held++;
		stopping = true;
#ifndef NO_CHANGE
		if
		:: !kicked ->
			seq++;
			need = true
		:: else
		fi;
#endif
		asleep_until = AWAKE
	};
	kick(n, t, s)
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
	stop(i, t, s);
	timeout;
	assert(left)
}
