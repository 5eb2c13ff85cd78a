/* SPDX-License-Identifier: MIT */
/*
 * A model of one slot: lib/store/slot.h with the parts of bucket, rent,
 * reschedule and expiry that move it on.  The steps are those of the code
 * between two looks at what other threads may change.
 *
 * USERS threads do STEPS things each: schedule, cancel, reschedule to any
 * deadline, each with the last id that any of them got; rent looks at
 * arrivals, and salvage at the slot; and a drain takes what is pending, by the
 * slot.  The driver collects, looks for what is dead, and runs what is due; time
 * goes on when it likes.  What must hold:
 *
 *  - No timer begins before its deadline, or after a cancel of it returned 0,
 *    or twice.
 *  - An id cancels no timer but its own.
 *  - A slot is freed once a life, when its timer is over.
 *  - When nothing moves any more, a pending timer has an entry that counts,
 *    not later than its deadline; and no slot is dead for good.
 *
 * With EXECUTOR the driver does not run what is due but hands it over (see
 * lib/intake/handover.h), to a thread that begins it when it likes, and may
 * find that it was moved: then it is filed, and has an entry again.  That may
 * take memory, and the lock is free meanwhile.  With STRANDS there may be none:
 * then the timer is stranded, by that thread or by the driver, which collects
 * it.
 *
 * A switch each breaks one thing that the code does, and must be caught:
 * NO_MOVED (an earlier time leaves the slot armed), NO_CLAIM (it is moved even
 * if it was cancelled or has begun meanwhile), TICKET_FIRST (the ticket
 * is read before the state), NO_RECHECK (what died moved is freed without
 * another look under the lock), KEEP_TICKET (a new entry has the old ticket),
 * NO_PUT_BACK (what was moved to a later time runs when its entry is due),
 * SALVAGE_KEEPS (what was salvaged keeps its ticket), DRIVER_STORES (the driver
 * frees what it found dead without looking whether it still is); with
 * EXECUTOR: NO_HANDED_OVER (what is handed over gets an entry when it is moved
 * to an earlier time), TICKET_STORED (it gets one if the driver hands it over
 * just then), FILED_EARLY (it is handed over no more while memory is
 * taken), SALVAGE_ALL (it is salvaged); with STRANDS: STRANDED_FREE (nor when
 * it is stranded), STRAND_STALE (the driver strands it by an entry that does
 * not count); with two users: NO_GENERATION (an id cancels whatever timer is in
 * the slot).
 *
 * Where the code has these steps:
 *
 *	add_entry	intake/arrival.h arrival_push
 *	add_entry	store/slot.h slot_entry
 *	free_slot	store/slot.h slot_next
 *	free_slot	store/slots.h slots_recycle
 *	salvage		intake/salvage.c bucket_salvage take_dead
 *	rent		intake/rent.h rent_drop rent_is_over
 *	schedule	intake/schedule.c bucket_schedule
 *	schedule	store/slots.h slots_take
 *	schedule	store/slot.h slot_arm
 *	cancel_pending	store/slot.c cancel_armed cancel_pending
 *	cancel		store/slot.c slot_cancel cancel_other
 *	drain		store/slot.c slot_take_pending read_callback
 *	drain		api/drain.c drain_slot
 *	get_new_ticket	intake/reschedule.c get_new_entry
 *	reschedule	intake/reschedule.c bucket_reschedule move_timer move_pending
 *	reschedule	intake/reschedule.c mark_moved move_earlier
 *	reschedule	intake/reschedule.c move_handed_over
 *	reschedule	intake/handover.c handover_move
 *	collect		intake/collect.c bucket_collect take_blocks
 *	recycle		intake/intake.c intake_recycle
 *	recycle		intake/collect.c bucket_flush
 *	free_dead	store/slot.h slot_free
 *	recycle_dead	intake/expiry.c over
 *	look		intake/expiry.c expiry_look
 *	execute		engine/fire.c fire_call finish_on_driver
 *	execute		intake/expiry.c expiry_end
 *	change_state	store/slot.h slot_change
 *	begin		intake/expiry.c expiry_begin expiry_run expiry_judge put_back
 *	begin		store/slot.h slot_begin slot_owns slot_hand_over
 *	begin		intake/handover.c handover_give set_handed_over
 *	strand		intake/handover.c strand handover_add
 *	strand_entry	intake/handover.c handover_strand
 *	handover_collect intake/handover.c handover_collect
 *	handover_collect intake/collect.c take_stranded
 *	restore		intake/handover.c handover_restore
 *	file		intake/handover.c file_handed_over
 *	free_handed_over intake/handover.c handover_end
 *	executor	intake/handover.c handover_begin begin_slow
 *	executor	store/slot.h slot_begin
 *	timer_thread	engine/turn.c engine_turn run_next
 *	timer_thread	engine/fire.c fire hand_over
 */
#ifndef USERS
#define USERS 2
#endif
#ifndef STEPS
#define STEPS 3
#endif

#define FREE	   0
#define ARMED	   1
#define MOVED	   2
#define RUNNING	   3
#define ENDING	   5
#define DEAD	   6
#define DEAD_MOVED 7
#define WORD(g, s) ((g) * 8 + (s))
#define STATE(w)   ((w) % 8)
#define LIFE(w)	   ((w) / 8)

#define LOCK   atomic { !lock; lock = true }
#define UNLOCK lock = false

#define LATEST 2

/* struct slot; the word is generation and state */
byte word, ticket, deadline, queued;
bool lock, on_list = true;
bool handed_over, with_executor;
bool stranded; /* in its bucket's heap */

/* Entries, in arrivals or with the driver. */
#define ENTRIES 5
#define NOWHERE 0
#define BUCKET	1
#define HEAP	2
byte where[ENTRIES], e_ticket[ENTRIES], e_deadline[ENTRIES];

byte now;
byte id;	/* LIFE of the last timer that was scheduled, plus 1 */
byte cancelled; /* LIFE of a timer whose cancel returned 0, plus 1 */
byte ran;	/* LIFE of the last timer that has begun, plus 1 */
byte users = USERS;

inline add_entry(i, place)
{
	i = 0;
	do
	:: where[i] == NOWHERE -> break
	:: else -> i++
	od;
	where[i] = place;
	e_ticket[i] = ticket;
	e_deadline[i] = queued;
	i = 0
}

inline free_slot()
{
	assert(STATE(word) == DEAD || STATE(word) == DEAD_MOVED);
	assert(!on_list && !with_executor && !stranded);
	handed_over = false;
	word = WORD(LIFE(word) + 1, FREE)
}

/* A user. */

/* bucket_salvage */
inline salvage(seen)
{
	LOCK;
	seen = word;
	if
	:: STATE(seen) >= DEAD && stranded ->
		atomic {
			stranded = false;
			free_slot();
			on_list = true
		}
	:: STATE(seen) >= DEAD && !stranded ->
		atomic {
			if
#ifdef SALVAGE_ALL
			:: true ->
#else
			:: handed_over -> seen = 0
			:: !handed_over ->
#endif
#ifndef SALVAGE_KEEPS
				ticket++
#endif
			fi
		};
		atomic {
			if
			:: seen != 0 && word == seen ->
				free_slot();
				on_list = true
			:: else
			fi
		}
	:: else
	fi;
	UNLOCK;
	seen = 0
}

inline rent(i)
{
	LOCK;
	atomic {
		i = 0;
		do
		:: i < ENTRIES - 1 -> i++
		:: break
		od;
		if
		:: where[i] == BUCKET && e_ticket[i] == ticket &&
		   STATE(word) >= DEAD ->
			free_slot();
			on_list = true;
			where[i] = NOWHERE
		:: where[i] == BUCKET && e_ticket[i] != ticket ->
			where[i] = NOWHERE
		:: else
		fi;
		i = 0
	}
	UNLOCK
}

inline schedule(i)
{
	LOCK;
	if
	:: on_list ->
		atomic {
			on_list = false;
			ticket++;
			select (deadline : 0 .. LATEST);
			queued = deadline
		}
		atomic {
			word = WORD(LIFE(word), ARMED);
			id = LIFE(word) + 1;
			add_entry(i, BUCKET)
		}
	:: else
	fi;
	UNLOCK
}

#ifdef NO_GENERATION
#define HOLDS(mine, s) (STATE(word) == (s))
#else
#define HOLDS(mine, s) (word == WORD((mine) - 1, s))
#endif

inline cancel_pending(mine)
{
	if
	:: HOLDS(mine, ARMED) ->
		assert(LIFE(word) + 1 == mine);
		word = WORD(LIFE(word), DEAD);
		cancelled = mine
	:: HOLDS(mine, MOVED) ->
		assert(LIFE(word) + 1 == mine);
		word = WORD(LIFE(word), DEAD_MOVED);
		cancelled = mine
	:: else
	fi
}

inline cancel(mine)
{
	mine = id;
	if
	:: mine != 0 ->
		atomic {
			if
			:: HOLDS(mine, RUNNING) ->
				assert(LIFE(word) + 1 == mine);
				word = WORD(LIFE(word), ENDING)
			:: else -> cancel_pending(mine)
			fi
		}
	:: else
	fi;
	mine = 0
}

/* By an id that it reads in the slot; it leaves alone what runs. */
inline drain(mine)
{
	mine = LIFE(word) + 1;
	atomic { cancel_pending(mine) };
	mine = 0
}

/* bucket_reschedule; the second look after more room was made is left out */
/* Of get_new_entry.  ok: it has one; else the timer is handed over. */
inline get_new_ticket(ok)
{
#ifdef NO_HANDED_OVER
	ok = true;
	ticket++
#elif defined(TICKET_STORED)
	ok = !handed_over;
	if
	:: ok -> ticket++
	:: else
	fi
#else
	atomic {
		ok = !handed_over;
		if
#ifndef KEEP_TICKET
		:: ok -> ticket++
#endif
		:: else
		fi
	}
#endif
}

inline reschedule(mine, to, ok, i)
{
	mine = id;
	if
	:: mine != 0 ->
		select (to : 0 .. LATEST);
		LOCK;
		if
		:: word == WORD(mine - 1, ARMED) ||
		   word == WORD(mine - 1, MOVED) ->
			/* bucket_reschedule looks at that first */
			if
#ifndef NO_HANDED_OVER
			:: handed_over && to < queued ->
				queued = to;
				deadline = to
#endif
			:: else ->
				/* armed -> moved; false: cancelled, or begun */
#ifdef NO_MOVED
				ok = true;
#elif defined(NO_CLAIM)
				atomic {
					if
					:: word == WORD(mine - 1, ARMED) ->
						word = WORD(mine - 1, MOVED)
					:: else
					fi;
					ok = true
				};
#else
				atomic {
					ok = (STATE(word) == MOVED);
					if
					:: word == WORD(mine - 1, ARMED) ->
						word = WORD(mine - 1, MOVED);
						ok = true
					:: else
					fi
				};
#endif
				if
				:: ok && to < queued ->
					get_new_ticket(ok);
					queued = to;
					deadline = to;
					if
					:: ok -> atomic { add_entry(i, BUCKET) }
					:: else
					fi
				:: ok && to >= queued -> deadline = to
				:: else
				fi
			fi
		:: else
		fi;
		UNLOCK
	:: else
	fi;
	mine = 0;
	to = 0;
	ok = false
}

proctype user()
{
	byte n, i, mine, to, seen;
	bool ok;

	for (n : 1 .. STEPS) {
		if
		:: schedule(i)
		:: cancel(mine)
		:: drain(mine)
		:: reschedule(mine, to, ok, i)
		:: rent(i)
		:: salvage(seen)
		fi
	}
	users--
}

/* The driver. */

inline collect(i)
{
	LOCK;
	atomic {
		for (i : 0 .. ENTRIES - 1) {
			if
			:: where[i] == BUCKET -> where[i] = HEAP
			:: else
			fi
		}
		i = 0
	}
	UNLOCK
}

/* intake_recycle and bucket_flush, of a slot that was freed */
inline recycle()
{
	LOCK;
	assert(STATE(word) == FREE && !on_list);
	on_list = true;
	UNLOCK
}

/* slot_free, of a timer that was cancelled when seen was there */
inline free_dead(seen, owns)
{
	atomic {
#ifdef DRIVER_STORES
		owns = true;
#else
		owns = (word == seen);
#endif
		if
		:: owns -> free_slot()
		:: else
		fi
	}
}

inline recycle_dead(seen, owns)
{
	free_dead(seen, owns);
	if
	:: owns -> recycle()
	:: else
	fi
}

/* expiry_look */
inline look(i, seen, owns)
{
#ifdef TICKET_FIRST
	owns = (ticket == e_ticket[i]);
	seen = word;
#else
	seen = word;
	owns = (ticket == e_ticket[i]);
#endif
	if
	:: !owns -> where[i] = NOWHERE
	:: owns && STATE(seen) == DEAD ->
		where[i] = NOWHERE;
		recycle_dead(seen, owns)
	:: owns && STATE(seen) == DEAD_MOVED ->
#ifndef NO_RECHECK
		LOCK;
		owns = (ticket == e_ticket[i]);
		if
		:: owns -> free_dead(seen, owns)
		:: else
		fi;
		UNLOCK;
#else
		free_dead(seen, owns);
#endif
		where[i] = NOWHERE;
		if
		:: owns -> recycle()
		:: else
		fi
	:: else
	fi
}

inline execute()
{
	atomic {
		assert(deadline <= now);
		assert(cancelled != LIFE(word) + 1);
		assert(ran != LIFE(word) + 1);
		ran = LIFE(word) + 1
	};
	/* the callback; then expiry_end */
	atomic {
		assert(STATE(word) == RUNNING || STATE(word) == ENDING);
		assert(!on_list && !stranded);
		word = WORD(LIFE(word) + 1, FREE)
	}
}

inline change_state(from, to, done)
{
	atomic {
		done = (word == from);
		if
		:: done -> word = WORD(LIFE(from), to)
		:: else
		fi
	}
}

/* expiry_begin, for an entry that is due */
inline begin(i, seen, owns)
{
#ifdef EXECUTOR
	/* slot_hand_over */
	seen = word;
	atomic {
		owns = (STATE(seen) == ARMED && ticket == e_ticket[i] &&
			!handed_over);
		if
		:: owns ->
			handed_over = true;
			with_executor = true
		:: else
		fi
	};
#else
	/* slot_begin */
#ifdef TICKET_FIRST
	owns = (ticket == e_ticket[i]);
	seen = word;
#else
	seen = word;
	owns = (ticket == e_ticket[i]);
#endif
	atomic {
		owns = owns && STATE(seen) == ARMED && word == seen;
		if
		:: owns -> word = WORD(LIFE(seen), RUNNING)
		:: else
		fi
	};
#endif
	if
	:: owns ->
		where[i] = NOWHERE;
#ifndef EXECUTOR
		execute();
		recycle()
#endif
	:: else ->
		LOCK;
		seen = word;
		if
		:: ticket != e_ticket[i] ->
			where[i] = NOWHERE;
			UNLOCK
		:: ticket == e_ticket[i] && STATE(seen) >= DEAD ->
			where[i] = NOWHERE;
			free_dead(seen, owns);
			UNLOCK;
			if
			:: owns -> recycle()
			:: else
			fi
#ifndef NO_PUT_BACK
		:: ticket == e_ticket[i] && STATE(seen) < DEAD &&
		   (deadline > e_deadline[i] || deadline > now) ->
			atomic {
				queued = deadline;
				e_deadline[i] = deadline
			};
			change_state(seen, ARMED, owns);
			if
			:: owns -> UNLOCK
			:: else ->
				where[i] = NOWHERE;
				seen = word;
				free_dead(seen, owns);
				UNLOCK;
				if
				:: owns -> recycle()
				:: else
				fi
			fi
#endif
		:: else ->
#ifdef EXECUTOR
			atomic {
				handed_over = true;
				where[i] = NOWHERE;
				with_executor = true
			};
			UNLOCK
#else
			change_state(seen, RUNNING, owns);
			where[i] = NOWHERE;
			if
			:: owns ->
				UNLOCK;
				execute();
				recycle()
			:: else ->
				seen = word;
				free_dead(seen, owns);
				UNLOCK;
				if
				:: owns -> recycle()
				:: else
				fi
			fi
#endif
		fi
	fi
}

/* Under the lock */
inline strand()
{
	atomic {
#ifdef STRANDED_FREE
		handed_over = false;
#else
		handed_over = true;
#endif
		assert(!stranded);
		stranded = true
	}
}

/* handover_strand, for an entry of the driver's */
inline strand_entry(i)
{
	LOCK;
	atomic {
#ifdef STRAND_STALE
		if
		:: true -> strand()
		fi;
#else
		if
		:: ticket == e_ticket[i] -> strand()
		:: else
		fi;
#endif
		where[i] = NOWHERE
	}
	UNLOCK
}

/* take_stranded */
inline handover_collect(i)
{
	LOCK;
	atomic {
		if
		:: stranded ->
			stranded = false;
			handed_over = false;
			add_entry(i, HEAP)
		:: else
		fi
	}
	UNLOCK
}

/* With the lock, which is released and taken again to take memory. */
inline file(i)
{
	if
	:: true
	:: true ->
#ifdef FILED_EARLY
		handed_over = false;
#endif
		UNLOCK;
		LOCK
	fi;
	if
	:: atomic {
		true ->
		handed_over = false;
		add_entry(i, BUCKET)
	   }
#ifdef STRANDS
	:: strand()
#endif
	fi
}

/* handover_restore */
inline restore(i, seen)
{
	LOCK;
	if
	:: stranded ->
		stranded = false;
		seen = word;
		if
		:: STATE(seen) >= DEAD ->
			atomic {
				assert(word == seen);
				free_slot();
				on_list = true
			}
		:: STATE(seen) < DEAD -> file(i)
		fi
	:: else
	fi;
	UNLOCK;
	seen = 0
}

/* handover_end, under the lock */
inline free_handed_over()
{
	atomic {
		if
		:: STATE(word) >= DEAD -> free_slot()
		:: else -> assert(STATE(word) == FREE && !on_list)
		fi;
		handed_over = false;
		on_list = true
	}
}

proctype executor()
{
	byte seen, i;
	bool done;

	do
	:: true;
end:	   with_executor;
	   /* slot_begin */
	   atomic {
		with_executor = false;
		seen = word
	   };
	   done = false;
	   if
	   :: STATE(seen) == ARMED -> change_state(seen, RUNNING, done)
	   :: else
	   fi;
	   if
	   :: done -> execute()
	   :: else
	   fi;
	   LOCK;
	   atomic {
		seen = word;
		if
		:: !done -> queued = deadline
		:: else
		fi
	   };
	   if
	   :: done || STATE(seen) >= DEAD -> free_handed_over()
	   :: STATE(seen) < DEAD && deadline > now ->
		change_state(seen, ARMED, done);
		if
		:: done -> file(i)
		:: else -> free_handed_over()
		fi
	   :: else ->
		change_state(seen, RUNNING, done);
		if
		:: done ->
			UNLOCK;
			execute();
			LOCK
		:: else
		fi;
		free_handed_over()
	   fi;
	   UNLOCK;
	   seen = 0;
	   done = false
	od
}

proctype timer_thread()
{
	byte i, seen;
	bool owns;

	do
	:: true;
end:	   if
	   :: where[0] != NOWHERE -> i = 0
	   :: where[1] != NOWHERE -> i = 1
	   :: where[2] != NOWHERE -> i = 2
	   :: where[3] != NOWHERE -> i = 3
	   :: where[4] != NOWHERE -> i = 4
	   :: now < LATEST -> now++; i = ENTRIES
#ifdef STRANDS
	   :: stranded -> handover_collect(i); i = ENTRIES
	   :: stranded -> restore(i, seen); i = ENTRIES
#endif
	   fi;
	   if
	   :: i == ENTRIES
	   :: i < ENTRIES && where[i] == BUCKET -> collect(i)
	   :: i < ENTRIES && where[i] == HEAP && e_deadline[i] > now ->
		look(i, seen, owns)
	   :: i < ENTRIES && where[i] == HEAP && e_deadline[i] <= now ->
		begin(i, seen, owns)
#ifdef STRANDS
	   :: i < ENTRIES && where[i] == HEAP && e_deadline[i] > now ->
		strand_entry(i)
#endif
	   :: i < ENTRIES && where[i] == NOWHERE /* rent was faster */
	   fi;
	   i = 0;
	   seen = 0;
	   owns = false
	od
}

init
{
	byte i;
	bool found;

	atomic {
		for (i : 1 .. USERS) {
			run user()
		}
		run timer_thread();
#ifdef EXECUTOR
		run executor()
#endif
	};
	timeout;
	assert(users == 0 && !with_executor && !stranded);
	assert(STATE(word) == FREE && on_list);
	assert(now == LATEST)
}
