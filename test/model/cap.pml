/* SPDX-License-Identifier: MIT */
/*
 * A model of lib/engine/cap.h: the common share, and one a CPU.
 *
 * THREADS threads, on two CPUs, take and give places at random, STEPS times
 * each.  A place counts as held from the step that takes it to the one that
 * puts it into a share again.  What must hold:
 *
 *  - Never more are held than there are, and none gets lost.
 *  - Where a place is refused, all were held at the moment when the common
 *    share was found empty.
 *
 * What the shares have is as in the code, but a batch is one place.  A
 * compare-and-swap is one step, and so is a load.
 *
 * The names are those of the code.  A switch each leaves out or breaks one
 * thing that the code does, and must be caught: NO_CLOSE, NO_CALL_IN,
 * NO_SHARE_LOCK, NO_RECHECK, LATE_COUNT.
 *
 * Where the code has these steps:
 *
 *	acquire		os/lock.h lock_acquire
 *	acquire_share	os/lock.h lock_acquire
 *	take_common	engine/cap.h take_common batch_of
 *	count_opening	engine/cap.h count_opening
 *	open_if_enough	engine/cap.h open_if_enough
 *	open_if_enough	base/tally.h tally_open
 *	call_in		engine/cap.h call_in close_share
 *	call_in		base/tally.h tally_close
 *	take_batch	engine/cap.h take_batch
 *	take		engine/cap.h cap_take
 *	take		engine/cap.h cap_take_slow all_are_taken
 *	take		base/tally.h tally_add_within
 *	give_batch	engine/cap.h give_batch
 *	give		engine/cap.h cap_give
 *	give		engine/cap.h cap_give_slow
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef STEPS
#define STEPS 2
#endif
#ifndef PLACES
#define PLACES 2
#endif

#define CPUS	  2
#define ENOUGH	  2 /* common places from which on there are batches */
#define SHARE_MAX 2
#define CLOSED	  255

#define COUNT(p) ((share[p] == CLOSED) -> 0 : share[p])

byte common = PLACES;
byte share[CPUS] = CLOSED;
bool share_lock[CPUS];
byte openings;
bool lock;
byte held;	/* all places that are taken */
byte left;	/* threads that are done */

inline acquire(l)
{
	atomic {
		!l;
		l = true
	}
}

inline acquire_share(p)
{
#ifndef NO_SHARE_LOCK
	acquire(share_lock[p])
#else
	skip
#endif
}

/* n: 0, or 1 and perhaps a batch of 1 */
inline take_common(n, batch_max)
{
	n = 0;
	do
	:: c = common;
		if
		:: c == 0 -> break
		:: else
		fi;
		atomic {
			if
			:: common == c ->
				n = 1 + ((c >= ENOUGH && batch_max > 0) -> 1 : 0);
				common = common - n;
				held++;
				c = 0;
				break
			:: else
			fi
		}
	od
}

inline count_opening()
{
	openings++
}

inline open_if_enough(p)
{
	if
	:: common >= ENOUGH ->
		acquire(lock);
#ifndef LATE_COUNT
		if
		:: openings % 2 == 0 -> count_opening()
		:: else
		fi;
#endif
		if
		:: share[p] == CLOSED -> share[p] = 0
		:: else
		fi;
#ifdef LATE_COUNT
		if
		:: openings % 2 == 0 -> count_opening()
		:: else
		fi;
#endif
		lock = false
	:: else
	fi
}

inline call_in()
{
	acquire(lock);
	if
	:: openings % 2 != 0 ->
		for (i : 0 .. CPUS - 1) {
			acquire_share(i);
			atomic {
				if
				:: share[i] != CLOSED ->
					c = share[i];
#ifdef NO_CLOSE
					share[i] = 0
#else
					share[i] = CLOSED
#endif
				:: else
				fi
			}
			atomic {
				common = common + c;
				c = 0
			}
			share_lock[i] = false
		}
		i = 0;
		count_opening()
	:: else
	fi;
	lock = false
}

inline take_batch(p)
{
	acquire_share(p);
	if
	:: share[p] != CLOSED ->
		take_common(n, 1);
		atomic {
			if
			:: n > 1 ->
#ifndef NO_SHARE_LOCK
				assert(share[p] != CLOSED);
#endif
				share[p] = n - 1 + COUNT(p)
			:: else
			fi
		}
	:: else
	fi;
	share_lock[p] = false
}

/* got: whether it has one now */
inline take(p)
{
	n = 0;
	atomic {
		if
		:: share[p] != CLOSED && share[p] > 0 ->
			share[p]--;
			held++;
			n = 1
		:: else
		fi
	}
	if
	:: n == 0 && share[p] != CLOSED -> take_batch(p)
	:: else
	fi;
	if
	:: n == 0 ->
		do
		:: take_common(n, 0);
			if
			:: n > 0 ->
				open_if_enough(p);
				break
			:: else
			fi;
			/* is_full */
			before = openings;
			atomic {
				all_held = held == PLACES;
#ifdef NO_CALL_IN
				n = ((common == 0) -> 1 : 0)
#else
				n = ((common == 0 && before % 2 == 0) -> 1 : 0)
#endif
			}
			if
#ifdef NO_RECHECK
			:: n == 1 ->
#else
			:: n == 1 && openings == before ->
#endif
				assert(all_held);
				n = 0;
				break
			:: else
			fi;
			n = 0;
			call_in()
		od
	:: else
	fi;
	atomic {
		mine = mine + ((n > 0) -> 1 : 0);
		n = 0;
		before = 0;
		all_held = false
	}
}

inline give_batch(p)
{
	acquire_share(p);
	atomic {
		n = 1;
		if
		:: share[p] != CLOSED && share[p] >= 1 ->
			share[p]--;
			n++
		:: else
		fi
	}
	atomic {
		common = common + n;
		held--;
		n = 0
	}
	share_lock[p] = false
}

inline give(p)
{
	atomic {
		mine--;
		if
		:: share[p] != CLOSED && share[p] < SHARE_MAX ->
			share[p]++;
			held--;
			n = 1
		:: else
		fi
	}
	if
	:: n == 1 -> n = 0
	:: else ->
		if
		:: share[p] != CLOSED -> give_batch(p)
		:: else ->
			atomic {
				common++;
				held--
			}
			open_if_enough(p)
		fi
	fi
}

proctype thread(byte cpu)
{
	byte i, c, n, before, mine, step;
	bool all_held;

	for (step : 1 .. STEPS) {
		if
		:: take(cpu)
		:: mine > 0 -> give(cpu)
		fi
	}
	left++
}

active proctype check()
{
	byte i, sum;

	assert(held <= PLACES);
	left == THREADS;
	sum = common + held;
	for (i : 0 .. CPUS - 1) {
		sum = sum + COUNT(i)
	}
	assert(sum == PLACES)
}

init
{
	byte t;

	atomic {
		for (t : 1 .. THREADS) {
			run thread(t % CPUS)
		}
	}
}
