/* SPDX-License-Identifier: MIT */
/*
 * A model of one slot: lib/store/slot.h with the parts of bucket, rent,
 * reschedule and expiry that move it on.  The steps are those of the code
 * between two looks at what other threads may change.
 *
 * USERS threads do STEPS things each: schedule, cancel, reschedule to any
 * deadline, disarm, each with the last id that any of them got; rent looks at
 * arrivals, and the sweep at the slot; and a drain takes what does not run, by
 * the slot.  The driver collects, looks for what is dead, and runs what is due;
 * time goes on when it likes.  With LIVES a timer may be added, and live on
 * when it has run.  What must hold:
 *
 *  - No timer begins before its deadline, or after a cancel or a disarm of it
 *    returned 0, or twice for one arming.
 *  - An id cancels no timer but its own.
 *  - A slot is freed once a life, when its timer is over.
 *  - When nothing moves any more, what was armed has run: a pending timer has
 *    an entry that counts, not later than its deadline.  One that is unarmed
 *    has none, and is not handed over; and no slot is dead, or disarmed, for
 *    good.  If rent or the sweep has left it without an entry while it was
 *    disarmed, it stays so, or dead: then the sweep finds it, if it is
 *    cancelled.
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
 * SWEEP_KEEPS (what was swept keeps its ticket), DRIVER_STORES (the driver
 * frees what it found dead without looking whether it still is); with
 * EXECUTOR: NO_HANDED_OVER (what is handed over gets an entry when it is moved
 * to an earlier time), TICKET_STORED (it gets one if the driver hands it over
 * just then), FILED_EARLY (it is handed over no more while memory is
 * taken), SWEEP_ALL (it is swept), FREED_FIRST (what is swept is free before
 * it has another ticket); with STRANDS: STRANDED_FREE (nor when
 * it is stranded), STRAND_STALE (the driver strands it by an entry that does
 * not count); with two users: NO_GENERATION (an id cancels whatever timer is in
 * the slot).
 *
 * Of what is disarmed: DISARM_UNLOCKED (that takes no lock), NO_DROP (the
 * driver runs what was disarmed when its entry is due), DROP_UNLOCKED (it drops
 * an entry without another look under the lock), ARMED_AGAIN (what is armed
 * again before its entry was dropped is not marked as moved),
 * SWEEP_KEEPS_QUEUED (the entry that the sweep has made stale seems to serve
 * again), SWEEP_UNARMS (when it was swept it is unarmed, and the driver, which
 * was about to begin it, does so when it is armed again), RENT_UNARMS (the same
 * when rent drops its entry, and the driver has an older one); with LIVES:
 * LEFT_OUT (who cancels what is unarmed does not give the slot back),
 * NO_NEW_ENTRY (what is unarmed gets no entry when it is armed), NOT_AGAIN
 * (what was armed while it ran is unarmed when the run ends); with EXECUTOR:
 * DROP_HANDED_OVER (what is dropped is still handed over), and with LIVES:
 * END_HANDED_OVER (so is what lives on).
 *
 * Where the code has these steps:
 *
 *	add_entry	intake/arrival.h arrival_push
 *	add_entry	store/slot.h slot_entry
 *	free_slot	store/slot.h slot_next
 *	free_slot	intake/rent.c is_over
 *	take_entry	intake/sweep.c take_entry
 *	free_swept	store/slot.h slot_free
 *	sweep		intake/sweep.c sweep_word settle
 *	rent		intake/rent.c drop_oldest is_over
 *	schedule	intake/schedule.c bucket_schedule
 *	schedule	store/slots.h slots_take
 *	schedule	store/slot.h slot_arm
 *	cancel_pending	store/slot.c slot_cancel_pending cancel_pending
 *	cancel		store/slot.h slot_kill
 *	cancel		store/slot.c slot_cancel slot_take
 *	drain		store/slot.c slot_cancel_pending
 *	drain		api/drain.c drain_one
 *	give_left	engine/engine.h engine_cancelled
 *	give_left	intake/bucket.h bucket_give
 *	disarm		intake/schedule.c bucket_disarm
 *	disarm		store/slot.c slot_disarm
 *	get_new_ticket	intake/schedule.c get_new_entry
 *	mark_moved	intake/schedule.c mark_moved
 *	arm_unarmed	intake/schedule.c get_new_entry
 *	repeat		intake/schedule.c can_repeat move_timer
 *	reschedule	intake/schedule.c bucket_reschedule move_timer
 *	reschedule	intake/schedule.c move_earlier
 *	reschedule	intake/schedule.c move_handed_over
 *	reschedule	intake/handover.c handover_move
 *	collect		intake/collect.c bucket_collect take_blocks
 *	recycle		intake/intake.c intake_recycle
 *	recycle		intake/collect.c bucket_flush
 *	free_dead	store/slot.h slot_free
 *	recycle_dead	intake/expiry.c over
 *	drop		intake/expiry.c look_locked
 *	look		intake/expiry.c expiry_look settle
 *	run_again	intake/expiry.c expiry_rearm put_back
 *	run_again	intake/handover.c handover_rearm
 *	execute		engine/fire.c fire_call finish_on_driver
 *	execute		intake/expiry.c expiry_repeat expiry_end
 *	execute		api/executor.c finish_on_executor
 *	change_state	store/slot.h slot_change
 *	start_run	store/slot.h slot_change
 *	begin		intake/expiry.c expiry_begin expiry_run expiry_judge
 *	begin		intake/expiry.c look_locked put_back
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
#define REPEATING  4
#define ENDING	   5
#define DEAD	   6
#define DEAD_MOVED 7
#define UNARMED	   8
#define DISARMED   9
#define AWAITED	   10
#define WORD(g, s) ((g) * 16 + (s))
#define STATE(w)   ((w) % 16)
#define LIFE(w)	   ((w) / 16)

#define IS_DEAD(w)    (STATE(w) == DEAD || STATE(w) == DEAD_MOVED)
#define IS_PENDING(w) (STATE(w) == ARMED || STATE(w) == MOVED)
#define RUNS(w)                                                                \
	(STATE(w) == RUNNING || STATE(w) == REPEATING || STATE(w) == AWAITED)

#define LOCK   atomic { !lock; lock = true }
#define UNLOCK lock = false

#define LATEST 2
#define NEVER  3

/* struct slot; the word is generation and state */
byte word, ticket, deadline, queued;
bool lock, on_list = true;
bool handed_over, with_executor;
bool stranded; /* in its bucket's heap */
bool lives;    /* on, after a run */
bool bare;     /* it was disarmed, and has lost its entry */

/* Entries, in arrivals or with the driver. */
#define ENTRIES 5
#define NOWHERE 0
#define BUCKET	1
#define HEAP	2
byte where[ENTRIES], e_ticket[ENTRIES], e_deadline[ENTRIES];

byte now;
byte id;    /* LIFE of the last timer that was scheduled, plus 1 */
bool armed; /* since then no run, no cancel and no disarm that returned 0 */
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
	assert(IS_DEAD(word));
	assert(!on_list && !with_executor && !stranded);
	handed_over = false;
	lives = false;
	bare = false;
	word = WORD(LIFE(word) + 1, FREE)
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

/* A user. */

/* The load and the compare-and-swap of the ticket; done: it has another one. */
inline take_entry(done)
{
	atomic {
#ifdef SWEEP_ALL
		done = true;
#else
		done = stranded || !handed_over;
#endif
		if
		:: done ->
			stranded = false;
			handed_over = false;
#ifndef SWEEP_KEEPS
			ticket++
#endif
		:: else
		fi
	}
}

/* slot_free; done: the slot is the sweep's */
inline free_swept(seen, done)
{
	atomic {
		done = (word == seen);
		if
		:: done -> free_slot()
		:: else
		fi
	}
}

/* sweep_word, of this slot; the driver does the same.  Under the lock. */
inline sweep(seen, done)
{
	seen = word;
	if
	:: IS_DEAD(seen) ->
#ifdef FREED_FIRST
		done = !handed_over;
		if
		:: done -> free_swept(seen, done)
		:: else
		fi;
		if
		:: done -> take_entry(done)
		:: else
		fi;
#else
		take_entry(done);
		if
		:: done -> free_swept(seen, done)
		:: else
		fi;
#endif
		if
		:: done -> on_list = true
		:: else
		fi
	:: STATE(seen) == DISARMED && queued < NEVER ->
		take_entry(done);
		atomic {
			if
#ifdef SWEEP_UNARMS
			:: done && word == seen ->
				word = WORD(LIFE(word), UNARMED)
#else
			:: done ->
#ifndef SWEEP_KEEPS_QUEUED
				queued = NEVER;
#endif
				bare = true
#endif
			:: else
			fi
		}
	:: else
	fi;
	seen = 0;
	done = false
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
		   IS_DEAD(word) ->
			free_slot();
			on_list = true;
			where[i] = NOWHERE
		:: where[i] == BUCKET && e_ticket[i] == ticket &&
		   STATE(word) == DISARMED ->
#ifdef RENT_UNARMS
			word = WORD(LIFE(word), UNARMED);
#else
			queued = NEVER;
			bare = true;
#endif
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
		if
		:: atomic {
			true ->
			word = WORD(LIFE(word), ARMED);
			id = LIFE(word) + 1;
			armed = true;
			add_entry(i, BUCKET)
		   }
#ifdef LIVES
		:: atomic {
			true ->
			lives = true;
			word = WORD(LIFE(word), ARMED);
			id = LIFE(word) + 1;
			armed = true;
			add_entry(i, BUCKET)
		   }
		:: atomic {
			deadline == LATEST ->
			lives = true;
			word = WORD(LIFE(word), UNARMED);
			id = LIFE(word) + 1
		   }
#endif
		fi
	:: else
	fi;
	UNLOCK
}

#ifdef NO_GENERATION
#define HOLDS(mine, s) (STATE(word) == (s))
#else
#define HOLDS(mine, s) (word == WORD((mine) - 1, s))
#endif

/* left: it was unarmed, and the caller has the slot */
inline cancel_pending(mine, left)
{
	if
	:: HOLDS(mine, ARMED) ->
		assert(LIFE(word) + 1 == mine);
		word = WORD(LIFE(word), DEAD);
		armed = false
	:: HOLDS(mine, MOVED) || HOLDS(mine, DISARMED) ->
		assert(LIFE(word) + 1 == mine);
		word = WORD(LIFE(word), DEAD_MOVED);
		armed = false
	:: HOLDS(mine, UNARMED) ->
		assert(LIFE(word) + 1 == mine);
		assert(!armed && !on_list && !stranded && !with_executor);
		word = WORD(LIFE(word) + 1, FREE);
		lives = false;
		left = true
	:: else
	fi
}

/* bucket_give */
inline give_left(left)
{
#ifndef LEFT_OUT
	if
	:: left ->
		LOCK;
		assert(STATE(word) == FREE && !on_list && !handed_over);
		on_list = true;
		UNLOCK
	:: else
	fi;
#endif
	left = false
}

inline cancel(mine, left)
{
	mine = id;
	if
	:: mine != 0 ->
		atomic {
			if
			:: HOLDS(mine, RUNNING) || HOLDS(mine, REPEATING) ||
			   HOLDS(mine, AWAITED) ->
				assert(LIFE(word) + 1 == mine);
				word = WORD(LIFE(word), ENDING);
				armed = false
			:: else -> cancel_pending(mine, left)
			fi
		};
		give_left(left)
	:: else
	fi;
	mine = 0
}

/* By an id that it reads in the slot; it leaves alone what runs. */
inline drain(mine, left)
{
	mine = LIFE(word) + 1;
	atomic { cancel_pending(mine, left) };
	give_left(left);
	mine = 0
}

/* Under the lock only others change the state, who need none. */
inline disarm(mine)
{
	mine = id;
	if
	:: mine != 0 ->
#ifndef DISARM_UNLOCKED
		LOCK;
#endif
		atomic {
			if
			:: HOLDS(mine, ARMED) || HOLDS(mine, MOVED) ->
				word = WORD(LIFE(word), DISARMED);
				armed = false
			:: HOLDS(mine, RUNNING) || HOLDS(mine, REPEATING) ->
				word = WORD(LIFE(word), AWAITED);
				armed = false
			:: else
			fi
		};
#ifndef DISARM_UNLOCKED
		UNLOCK
#endif
	:: else
	fi;
	mine = 0
}

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

/* armed, disarmed -> moved; ok is false: cancelled, or begun */
inline mark_moved(mine, ok)
{
#ifdef NO_MOVED
	ok = true
#elif defined(NO_CLAIM)
	atomic {
		if
		:: word == WORD(mine - 1, ARMED) ->
			word = WORD(mine - 1, MOVED)
		:: else
		fi;
		ok = true
	}
#else
	atomic {
		ok = (word == WORD(mine - 1, MOVED));
		if
		:: word == WORD(mine - 1, ARMED) ->
			word = WORD(mine - 1, MOVED);
			ok = true
		:: word == WORD(mine - 1, DISARMED) ->
#ifdef ARMED_AGAIN
			word = WORD(mine - 1, ARMED);
#else
			word = WORD(mine - 1, MOVED);
#endif
			ok = true;
			armed = true
		:: else
		fi
	}
#endif
}

/* unarmed -> armed; ok is false: cancelled */
inline arm_unarmed(mine, ok)
{
	atomic {
		ok = (word == WORD(mine - 1, UNARMED));
		if
		:: ok ->
			word = WORD(mine - 1, ARMED);
			armed = true
		:: else
		fi
	}
}

/* running, awaited -> repeating; ok is false: cancelled */
inline repeat(mine, ok)
{
	atomic {
		ok = (LIFE(word) == mine - 1 && RUNS(word));
		if
		:: ok ->
			word = WORD(mine - 1, REPEATING);
			armed = true
		:: else
		fi
	}
}

/* bucket_reschedule; the second look after more room was made is left out */
inline reschedule(mine, to, ok, i)
{
	mine = id;
	if
	:: mine != 0 ->
		select (to : 0 .. LATEST);
		LOCK;
		if
		:: word == WORD(mine - 1, ARMED) ||
		   word == WORD(mine - 1, MOVED) ||
		   word == WORD(mine - 1, DISARMED) ->
			mark_moved(mine, ok);
			if
			:: ok && to < queued ->
				get_new_ticket(ok);
				queued = to;
				deadline = to;
				if
				:: ok ->
					atomic {
						add_entry(i, BUCKET);
						bare = false
					}
				:: else
				fi
			:: ok && to >= queued -> deadline = to
			:: else
			fi
		:: word == WORD(mine - 1, UNARMED) ->
			arm_unarmed(mine, ok);
			if
			:: ok ->
				get_new_ticket(ok);
				queued = to;
				deadline = to;
				if
#ifndef NO_NEW_ENTRY
				:: ok -> atomic { add_entry(i, BUCKET) }
#endif
				:: else
				fi
			:: else
			fi
		:: lives && LIFE(word) == mine - 1 && RUNS(word) ->
			repeat(mine, ok);
			if
			:: ok -> deadline = to
			:: else
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
		:: cancel(mine, ok)
		:: drain(mine, ok)
		:: disarm(mine)
		:: reschedule(mine, to, ok, i)
		:: rent(i)
		:: LOCK; sweep(seen, ok); UNLOCK
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

/* seen: the state now; done: disarmed -> unarmed.  Under the lock */
inline drop(seen, done)
{
	atomic {
		seen = word;
		done = false
	};
	if
#ifndef NO_DROP
	:: STATE(seen) == DISARMED ->
		change_state(seen, UNARMED, done);
		if
		:: !done -> seen = word
		:: else
		fi
#endif
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
#ifdef NO_RECHECK
	:: owns && STATE(seen) == DEAD_MOVED ->
		free_dead(seen, owns);
		where[i] = NOWHERE;
		if
		:: owns -> recycle()
		:: else
		fi
#endif
#ifdef DROP_UNLOCKED
	:: owns && STATE(seen) == DISARMED ->
		word = WORD(LIFE(seen), UNARMED);
		where[i] = NOWHERE
#endif
	:: owns && IS_PENDING(seen)
	:: else ->
		LOCK;
		owns = false;
		if
		:: ticket != e_ticket[i] -> where[i] = NOWHERE
		:: ticket == e_ticket[i] ->
			drop(seen, owns);
			if
			:: owns ->
				where[i] = NOWHERE;
				owns = false
			:: !owns && IS_DEAD(seen) ->
				where[i] = NOWHERE;
				free_dead(seen, owns)
			:: else
			fi
		fi;
		UNLOCK;
		if
		:: owns -> recycle()
		:: else
		fi
	fi
}

#define RUN_STARTS                                                             \
	assert(deadline <= now && armed);                                      \
	armed = false

inline start_run(from, done)
{
	atomic {
		done = (word == from);
		if
		:: done ->
			word = WORD(LIFE(from), RUNNING);
			RUN_STARTS
		:: else
		fi
	}
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

/* expiry_rearm, under the lock, of what lives on; over: it was cancelled */
inline run_again(i, seen, over)
{
	seen = word;
	if
	:: STATE(seen) == ENDING -> over = true
#ifndef NOT_AGAIN
	:: STATE(seen) == REPEATING ->
		change_state(seen, ARMED, over);
		if
		:: over ->
			over = false;
			queued = deadline;
#ifdef EXECUTOR
			file(i)
#else
			atomic { add_entry(i, HEAP) }
#endif
		:: else -> over = true
		fi
#endif
	:: else ->
		change_state(seen, UNARMED, over);
		over = !over;
#if defined(EXECUTOR) && !defined(END_HANDED_OVER)
		if
		:: !over -> handed_over = false
		:: else
		fi
#endif
	fi
}

/* the callback; over: the slot is free */
inline execute(i, seen, over)
{
	if
	:: !lives -> over = true
	:: lives ->
		LOCK;
		run_again(i, seen, over);
		UNLOCK
	fi;
	if
	:: over ->
		/* expiry_end */
		atomic {
			assert(RUNS(word) || STATE(word) == ENDING);
			assert(!on_list && !stranded);
			lives = false;
			word = WORD(LIFE(word) + 1, FREE)
		}
	:: else
	fi
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
		:: owns ->
			word = WORD(LIFE(seen), RUNNING);
			RUN_STARTS
		:: else
		fi
	};
#endif
	if
	:: owns ->
		where[i] = NOWHERE;
#ifndef EXECUTOR
		execute(i, seen, owns);
		if
		:: owns -> recycle()
		:: else
		fi
#endif
	:: else ->
		LOCK;
		if
		:: ticket == e_ticket[i] -> drop(seen, owns)
		:: else
		fi;
		if
		:: ticket != e_ticket[i] || owns ->
			where[i] = NOWHERE;
			UNLOCK
		:: ticket == e_ticket[i] && !owns && IS_DEAD(seen) ->
			where[i] = NOWHERE;
			free_dead(seen, owns);
			UNLOCK;
			if
			:: owns -> recycle()
			:: else
			fi
#ifndef NO_PUT_BACK
		:: ticket == e_ticket[i] && !owns && !IS_DEAD(seen) &&
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
			start_run(seen, owns);
			where[i] = NOWHERE;
			if
			:: owns ->
				UNLOCK;
				execute(i, seen, owns);
				if
				:: owns -> recycle()
				:: else
				fi
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

/* handover_restore */
inline restore(i, seen)
{
	LOCK;
	if
	:: stranded ->
		stranded = false;
		seen = word;
		if
		:: IS_DEAD(seen) ->
			atomic {
				assert(word == seen);
				free_slot();
				on_list = true
			}
		:: else -> file(i)
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
		:: IS_DEAD(word) -> free_slot()
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
	   :: STATE(seen) == ARMED -> start_run(seen, done)
	   :: else
	   fi;
	   if
	   :: done ->
		execute(i, seen, done);
		if
		:: done ->
			LOCK;
			free_handed_over();
			UNLOCK
		:: else
		fi
	   :: else ->
		LOCK;
		queued = deadline;
		drop(seen, done);
		if
		:: done ->
#ifndef DROP_HANDED_OVER
			handed_over = false;
#endif
			UNLOCK
		:: !done && IS_DEAD(seen) ->
			free_handed_over();
			UNLOCK
		:: !done && !IS_DEAD(seen) && deadline > now ->
			change_state(seen, ARMED, done);
			if
			:: done -> file(i)
			:: else -> free_handed_over()
			fi;
			UNLOCK
		:: else ->
			start_run(seen, done);
			if
			:: done ->
				UNLOCK;
				execute(i, seen, done);
				LOCK
			:: else -> done = true
			fi;
			if
			:: done -> free_handed_over()
			:: else
			fi;
			UNLOCK
		fi
	   fi;
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
	byte i, seen;
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
	assert(!armed);
	if
	:: bare ->
		assert(word == WORD(LIFE(word), DISARMED) ||
		       word == WORD(LIFE(word), DEAD_MOVED));
		word = WORD(LIFE(word), DEAD_MOVED);
		sweep(seen, found);
		assert(STATE(word) == FREE)
	:: else
	fi;
	assert((STATE(word) == FREE && on_list && !handed_over) ||
	       (STATE(word) == UNARMED && !on_list && !handed_over));
	assert(now == LATEST)
}
