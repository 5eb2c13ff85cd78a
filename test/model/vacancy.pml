/* SPDX-License-Identifier: MIT */
/*
 * A model of lib/store/vacancy.h: words of free slots give their memory back,
 * and are filled in when they are wanted again.  The steps are those of the
 * code between two looks at what other threads may change.
 *
 * A table has WORDS words of two slots.  USERS threads do STEPS things each:
 * they schedule, or reschedule to an earlier time; what is dead is freed on the
 * way, or by the driver.  Another thread cancels at any time, with any id that
 * there ever was, however old.  The driver runs timers, and gives words back at
 * any time when all their slots are free, or finds that the system does not
 * take them, or only some of them.  What must
 * hold:
 *
 *  - No id names a second timer: a slot has no generation twice, and no timer
 *    is found by an id after it was cancelled or has ended.
 *  - No ticket is given twice in a slot, except to one timer in a worn slot.
 *    So no old entry, which may stay for as long as it likes, counts for a
 *    newer timer.  There are WORN tickets here, and the last one is what makes
 *    a slot worn; behind it they would begin again.
 *  - A slot is worn only after half of that many tickets of its own, whatever
 *    the others of its word have used up.
 *  - Memory is neither given back nor filled in while a timer is in it.
 *  - Whenever the lock is free, each slot is free, used, or in a word that is
 *    counted as vacant; and where the counts say that a slot is free, one is.
 *
 * A timer begins under the lock here, and one that is moved is as armed as
 * others: slot.pml has the rest.
 *
 * A switch each breaks one thing that the code does, and must be caught:
 * NO_FLOOR (the generations of a vacant word begin with 0), NO_TICKET_FLOOR
 * (its tickets do), FLOOR_OF_ONE (they begin with those of one of its slots),
 * FLOOR_LATE (they are noted when the memory is gone), IN_USE (a word is given
 * back if some of its slots are free), STAYS_FREE (its slots stay free until
 * the memory is gone), FILL_AFTER_ADD (it is filled in when its slots are free
 * already), COUNT_EARLY (it counts as there when it is taken), KEPT_BARE (what
 * the system took, before it refused the rest, stays empty), HIGH_FLOOR (a word
 * is given back though one of its slots is half used up), BEGIN_AGAIN (a timer's
 * tickets begin again at the lowest), USED_AGAIN (a worn slot gets another
 * timer).
 *
 * Where the code has these steps:
 *
 *	take		store/slots.h slots_any slots_take
 *	arm		store/slot.h slot_arm
 *	recycling		intake/recycle.c is_over
 *	give		store/slots.h slots_give slots_set_free
 *	give		store/slot.h slot_is_retired
 *	fill		store/vacancy.h vacancy_fill
 *	add		store/vacancy.h vacancy_add
 *	grow		intake/arrival.c arrival_grow_slots
 *	grow		store/vacancy.h vacancy_take
 *	schedule	intake/schedule.c bucket_schedule
 *	reschedule	intake/schedule.c bucket_reschedule get_new_entry
 *	reschedule	store/entry.h ticket_next
 *	cancel		store/slot.h slot_kill
 *	cancel		store/slot.c slot_cancel slot_take
 *	run_timer	intake/expiry.c expiry_hand_over expiry_begin expiry_end
 *	run_timer	intake/collect.h bucket_flush
 *	choose		store/vacancy.h vacancy_choose is_free is_high
 *	note_floor	store/vacancy.h note_floor
 *	note_floors	store/vacancy.h vacancy_empty
 *	give_back	store/vacancy.h vacancy_empty
 *	give_back	os/linux/system.c system_empty_pages
 *	keep		store/vacancy.h vacancy_keep
 *	sweep		intake/sweep.c sweep_step sweep_some give_back
 *	driver		engine/reclaim.c reclaim_step sweep_once
 */
#ifndef WORDS
#define WORDS 1
#endif
#ifndef USERS
#define USERS 2
#endif
#ifndef STEPS
#define STEPS 3
#endif

#ifndef WORN
#define WORN 99 /* more than there will be */
#endif

#define SLOTS 2 /* in a word */
#define ALL   (WORDS * SLOTS)
#define NONE  255

#define FREE	   0
#define ARMED	   1
#define RUNNING	   3
#define ENDING	   5
#define DEAD	   6
#define WORD(g, s) ((g) * 8 + (s))
#define STATE(w)   ((w) % 8)
#define LIFE(w)	   ((w) / 8)

#define HAS(set, n) ((set) >> (n) & 1)
#define ADD(set, n) set = (set) | 1 << (n)

/* struct slot; the word is generation and state */
byte word[ALL], ticket[ALL];

/* struct slots; and which words can be taken */
bool free_bit[ALL] = true;
byte used, vacancies;
bool vacant[WORDS];
byte floor_word[WORDS], floor_ticket[WORDS];
bool lock;

/* What there ever was in a slot: generations, tickets. */
short ids[ALL], tickets[ALL];
short over[ALL]; /* generations of timers that were cancelled, or have ended */
byte timers;	 /* so many were scheduled */

#define ROOM	     (ALL - vacancies * SLOTS)
#define IS_FREE(w)   (free_bit[(w) * SLOTS] && free_bit[(w) * SLOTS + 1])
#define SOME_FREE(w) (free_bit[(w) * SLOTS] || free_bit[(w) * SLOTS + 1])
#if WORDS == 1
#define FREE_BITS (free_bit[0] + free_bit[1])
#else
#define FREE_BITS (free_bit[0] + free_bit[1] + free_bit[2] + free_bit[3])
#endif

#define LOCK atomic { !lock; lock = true }
#define UNLOCK                                                                 \
	atomic {                                                               \
		assert(used + FREE_BITS == ROOM);                              \
		lock = false                                                   \
	}

/* Any id that there ever was, if there was one in this slot. */
#define PICK_ID(s, life)                                                       \
	atomic {                                                               \
		select (s : 0 .. ALL - 1);                                     \
		select (life : 0 .. timers);                                   \
		if                                                             \
		:: HAS(ids[s], life)                                           \
		:: else -> s = NONE                                            \
		fi                                                             \
	}

/* s: a slot; NONE: there is none. */
inline take(s)
{
	atomic {
		if
		:: used < ROOM ->
			if
			:: free_bit[0] -> s = 0
			:: free_bit[1] -> s = 1
#if WORDS > 1
			:: free_bit[2] -> s = 2
			:: free_bit[3] -> s = 3
#endif
			:: FREE_BITS == 0 -> assert(false)
			fi;
			free_bit[s] = false;
			used++
		:: else -> s = NONE
		fi
	}
}

#define GIVEN(s)                                                               \
	(HAS(tickets[s], 1) + HAS(tickets[s], 2) + HAS(tickets[s], 3))

/* A ticket that no timer had in this slot. */
#define NEW_TICKET(s)                                                          \
	ticket[s] = (ticket[s] == WORN -> 1 : ticket[s] + 1);                  \
	assert(!HAS(tickets[s], ticket[s]));                                   \
	ADD(tickets[s], ticket[s]);                                            \
	assert(ticket[s] < WORN || 2 * GIVEN(s) >= WORN)

/* Unless the slot is worn. */
inline give(s)
{
	assert(!free_bit[s]);
	if
#ifdef USED_AGAIN
	:: true ->
#else
	:: ticket[s] < WORN ->
#endif
		free_bit[s] = true;
		used--
	:: else
	fi
}

inline arm(s)
{
	atomic { NEW_TICKET(s) };
	atomic {
		assert(STATE(word[s]) == FREE);
		assert(!HAS(ids[s], LIFE(word[s])));
		ADD(ids[s], LIFE(word[s]));
		timers++;
		word[s] = WORD(LIFE(word[s]), ARMED)
	}
}

/* Frees what is dead, of which the caller has found the entry. */
inline recycling(s)
{
	LOCK;
	atomic {
		select (s : 0 .. ALL - 1);
		if
		:: STATE(word[s]) == DEAD ->
			word[s] = WORD(LIFE(word[s]) + 1, FREE);
			give(s)
		:: else
		fi;
		s = 0
	}
	UNLOCK
}

/* Without the lock. */
inline fill(w, s)
{
	for (s : w * SLOTS .. w * SLOTS + SLOTS - 1) {
		assert(STATE(word[s]) == FREE);
#ifdef NO_FLOOR
		word[s] = 0;
#else
		word[s] = floor_word[w];
#endif
#ifdef NO_TICKET_FLOOR
		ticket[s] = 0
#else
		ticket[s] = floor_ticket[w]
#endif
	}
	s = 0
}

/* Under the lock. */
inline add(w)
{
	atomic {
		free_bit[w * SLOTS] = true;
		free_bit[w * SLOTS + 1] = true;
#ifndef COUNT_EARLY
		vacancies--
#endif
	}
}

/* There was no slot, and it has the lock.  w: NONE: there is none to have. */
inline grow(w, s)
{
	atomic {
		if
		:: vacant[0] -> w = 0
#if WORDS > 1
		:: vacant[1] -> w = 1
		:: !vacant[0] && !vacant[1] -> w = NONE
#else
		:: !vacant[0] -> w = NONE
#endif
		fi;
		if
		:: w != NONE ->
			vacant[w] = false;
#ifdef COUNT_EARLY
			vacancies--
#endif
		:: else
		fi;
#ifdef COUNT_EARLY
		lock = false
#endif
	}
#ifndef COUNT_EARLY
	UNLOCK;
#endif
	if
	:: w != NONE ->
#ifndef FILL_AFTER_ADD
		fill(w, s);
#endif
		LOCK;
		add(w);
		UNLOCK;
#ifdef FILL_AFTER_ADD
		fill(w, s)
#endif
	:: else
	fi
}

inline schedule(s, w)
{
	if
	:: recycling(s)
	:: true
	fi;
	do
	:: true ->
		LOCK;
		take(s);
		if
		:: s != NONE ->
			arm(s);
			UNLOCK;
			break
		:: else
		fi;
		s = 0;
		grow(w, s);
		if
		:: w == NONE -> break
		:: else
		fi
	od;
	s = 0;
	w = 0
}

/* To an earlier time: there is an entry more. */
inline reschedule(s, life)
{
	PICK_ID(s, life);
	if
	:: s != NONE ->
		LOCK;
		atomic {
			if
			:: word[s] == WORD(life, ARMED) ->
				assert(!HAS(over[s], life));
				if
#ifndef BEGIN_AGAIN
				:: ticket[s] == WORN
#endif
				:: else -> NEW_TICKET(s)
				fi
			:: else
			fi
		}
		UNLOCK
	:: else
	fi;
	s = 0;
	life = 0
}

proctype user()
{
	byte n, s, w, life;

	for (n : 1 .. STEPS) {
		if
		:: schedule(s, w)
		:: reschedule(s, life)
		fi
	}
}

/* seen: the word that was there. */
inline cancel(s, life, seen)
{
	PICK_ID(s, life);
	if
	:: s != NONE ->
		atomic {
			seen = word[s];
			if
			:: seen == WORD(life, ARMED) ->
				assert(!HAS(over[s], life));
				ADD(over[s], life);
				word[s] = WORD(life, DEAD)
			:: else
			fi
		}
		if
		:: seen == WORD(life, RUNNING) ->
			atomic {
				if
				:: word[s] == seen ->
					assert(!HAS(over[s], life));
					word[s] = WORD(life, ENDING)
				:: else
				fi
			}
		:: else
		fi
	:: else
	fi;
	s = 0;
	life = 0;
	seen = 0
}

proctype thread()
{
	byte s, life, seen;

	do
	:: cancel(s, life, seen)
	od
}

/* The driver. */

/* A timer, if there is one that is due. */
inline run_timer(s)
{
	LOCK;
	atomic {
		select (s : 0 .. ALL - 1);
		if
		:: STATE(word[s]) == ARMED ->
			assert(!HAS(over[s], LIFE(word[s])));
			word[s] = WORD(LIFE(word[s]), RUNNING)
		:: else -> s = NONE
		fi
	}
	UNLOCK;
	if
	:: s != NONE ->
		atomic {
			assert(STATE(word[s]) == RUNNING ||
			       STATE(word[s]) == ENDING);
			ADD(over[s], LIFE(word[s]));
			word[s] = WORD(LIFE(word[s]) + 1, FREE)
		}
		LOCK;
		atomic { give(s) }
		UNLOCK
	:: else
	fi;
	s = 0
}

#ifdef STAYS_FREE
#define TAKE_OUT(w) skip
#define LIST(w)                                                                \
	free_bit[(w) * SLOTS] = false;                                              \
	free_bit[(w) * SLOTS + 1] = false;                                          \
	vacancies++;                                                           \
	vacant[w] = true
#else
#define TAKE_OUT(w)                                                            \
	free_bit[(w) * SLOTS] = false;                                              \
	free_bit[(w) * SLOTS + 1] = false;                                          \
	vacancies++
#define LIST(w) vacant[w] = true
#endif

#ifdef HIGH_FLOOR
#define HIGH(w) false
#else
#define HIGH(w) (2 * floor_ticket[w] > WORN)
#endif

#ifdef IN_USE
#define MAY_GO(w) SOME_FREE(w)
#else
#define MAY_GO(w) (IS_FREE(w) && !HIGH(w))
#endif

/* n words from `first` on */
inline choose(first, n)
{
	LOCK;
	atomic {
		if
		:: MAY_GO(0) -> first = 0; n = 1
#if WORDS > 1
		:: MAY_GO(1) -> first = 1; n = 1
		:: MAY_GO(0) && MAY_GO(1) -> first = 0; n = 2
#endif
		:: n = 0
		fi;
#ifdef IN_USE
		/* So that the counts are right. */
		if
		:: n > 0 -> used = used - SLOTS * n + FREE_BITS
		:: else
		fi;
#endif
		if
		:: n > 0 -> TAKE_OUT(first)
		:: else
		fi;
		if
		:: n > 1 -> TAKE_OUT(first + 1)
		:: else
		fi
	}
	UNLOCK
}

#define HIGHER(a, b) ((a) > (b) -> (a) : (b))

inline note_floor(w, s)
{
	for (s : w * SLOTS .. w * SLOTS + SLOTS - 1) {
#ifdef FLOOR_OF_ONE
		floor_word[w] = word[s];
		floor_ticket[w] = ticket[s]
#else
		floor_word[w] = HIGHER(floor_word[w], word[s]);
		floor_ticket[w] = HIGHER(floor_ticket[w], ticket[s])
#endif
	}
	s = 0
}

inline note_floors(first, n, w, s)
{
	for (w : first .. first + n - 1) {
		note_floor(w, s)
	}
	w = 0
}

/* The memory of a word is a page. */
inline give_back(first, n, w, s, emptied, gone)
{
	if
	:: emptied = true
	:: emptied = false
	fi;
	for (w : first .. first + n - 1) {
		atomic {
			if
			:: true -> gone = true
			:: !emptied -> gone = false
			fi;
			for (s : w * SLOTS .. w * SLOTS + SLOTS - 1) {
				assert(STATE(word[s]) == FREE);
				if
				:: gone ->
					word[s] = 0;
					ticket[s] = 0
				:: else
				fi
			}
			s = 0
		}
	}
#ifdef FLOOR_LATE
	note_floors(first, n, w, s);
#endif
#ifndef KEPT_BARE
	if
	:: !emptied ->
		for (w : first .. first + n - 1) {
			fill(w, s)
		}
	:: else
	fi;
#endif
	gone = false;
	w = 0
}

inline keep(first, n, w, emptied)
{
	LOCK;
	for (w : first .. first + n - 1) {
		atomic {
			if
			:: emptied -> LIST(w)
#ifdef STAYS_FREE
			:: else
#else
			:: else -> add(w)
#endif
			fi
		}
	}
	UNLOCK;
	w = 0
}

inline sweep(first, n, w, s, emptied, gone)
{
	choose(first, n);
	if
	:: n > 0 ->
#ifndef FLOOR_LATE
		note_floors(first, n, w, s);
#endif
		if
		:: HIGH(first) || HIGH(first + n - 1)
		:: else -> give_back(first, n, w, s, emptied, gone)
		fi;
		keep(first, n, w, emptied)
	:: else
	fi;
	first = 0;
	n = 0;
	emptied = false
}

proctype driver()
{
	byte first, n, w, s;
	bool emptied, gone;

	do
	:: run_timer(s)
	:: recycling(s)
	:: sweep(first, n, w, s, emptied, gone)
	od
}

init
{
	byte i;

	atomic {
		for (i : 1 .. USERS) {
			run user()
		}
		run thread();
		run driver()
	}
}
