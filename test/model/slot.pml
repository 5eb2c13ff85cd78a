/* SPDX-License-Identifier: MIT */
/*
 * A model of one slot: lib/store/slot.h with the parts of bucket, recycling,
 * reschedule and expiry that move it on.  The steps are those of the code
 * between two looks at what other threads may change.
 *
 * USERS threads do STEPS things each: schedule, cancel, reschedule to any
 * deadline, disarm, each with the last id that any of them got; recycling looks
 * at arrivals, and the sweep at the slot; and cancel_all takes what does not run,
 * by the slot.  (With FEW_CALLS they only schedule and cancel, and what they
 * owe.)  The driver collects, looks for what is dead, and hands over what is due;
 * time goes on when it likes.  With LIVES a timer may be prepared, and live on
 * when it has run.  What must hold:
 *
 *  - No timer begins before its deadline, or after a cancel or a disarm of it
 *    returned 0, or twice for one arming.
 *  - An id cancels no timer but its own.
 *  - What a reschedule moves has not begun, and was not cancelled.
 *  - A slot is freed once a life, when its timer is over.
 *  - When nothing moves any more, what was armed has run: a pending timer has
 *    an entry that counts, not later than its deadline.  One that is unarmed
 *    has none, and is not handed over; and no slot is dead, or disarmed, for
 *    good.
 *
 * The thread that runs a timer is a process of its own, the runner.  It begins
 * when it likes what was handed over, and gives the slot back under the lock.
 * So it may do all that a thread of an executor does.  The driver's own thread
 * does less: it begins at once, and hands over nothing until it is done.  The
 * runner may find that the timer was moved: then it is filed, and has an entry
 * again.  The lock is free before that, and memory may be taken meanwhile.
 * With NO_ROOM there may be none: then the timer is unqueued, by the runner or
 * by the driver, which collects it.
 *
 * A switch each breaks one thing that the code does, and must be caught:
 * NO_MOVED (an earlier time leaves the slot armed), NO_CLAIM (it is moved even
 * if it was cancelled or has begun meanwhile), KEEP_TICKET (a new entry has the
 * old ticket), NO_PUT_BACK (what was moved to a later time runs when its entry
 * is due), SWEEP_KEEPS (what was swept keeps its ticket), LOOK_FREES (the driver
 * frees what it found dead, and does not hand it over first), LOOK_LATE (it
 * does when it is free), LOOK_STORED (it does by a load and a store);
 * with two users: NO_GENERATION (an id cancels whatever timer is in the slot).
 *
 * Of handing over: HAND_OVER_STORED (the driver does it by a load and a store),
 * NOT_MARKED (it does not mark the ticket), NO_HANDED_OVER (what is handed over
 * gets an entry when it is moved to an earlier time), TICKET_STORED (it gets
 * one if the driver hands it over just then), BEGIN_MOVED (what was moved
 * begins as if it were armed), NOT_FILED (what is later is not filed),
 * FILED_EARLY (it is handed over no more while memory is taken), SWEEP_ALL
 * (what is handed over is swept), SWEEP_STORED (it is if the driver hands it
 * over just then), FREED_FIRST (what is swept is free before it has another
 * ticket); with NO_ROOM: UNQUEUED_FREE (what is unqueued is handed over no
 * more), LEAVE_STALE (the driver leaves it unqueued by an entry that does not count).
 *
 * Of what is disarmed: DISARM_UNLOCKED (that takes no lock), NO_DROP (what was
 * disarmed runs when its entry is due), DROP_UNLOCKED (the driver drops an
 * entry without another look under the lock), ARMED_AGAIN (what is armed again
 * before its entry was dropped is not marked as moved), UNARM_KEEPS (what is
 * unarmed is still handed over), SWEEP_LEAVES and RECYCLE_LEAVES (the sweep, or
 * recycling, leaves disarmed what has lost its entry); with LIVES: LEFT_OUT (who
 * cancels what is unarmed does not give the slot back), NO_NEW_ENTRY (what is
 * unarmed gets no entry when it is armed), NOT_AGAIN (what was armed while it
 * ran is unarmed when the run ends).
 *
 * Where the code has these steps:
 *
 *	add_entry	intake/arrival.h arrival_push
 *	add_entry	store/slot.h slot_entry
 *	drop_entry	intake/recycle.c drop_oldest
 *	drop_entry	engine/fire.c fire
 *	set_free	store/slot.h slot_next
 *	free_dead	store/slot.h slot_free slot_is_dead
 *	free_dead	intake/expiry.c over
 *	change_state	store/slot.h slot_change
 *	take_entry	intake/sweep.c take_entry
 *	sweep		intake/sweep.c sweep_word settle_dead
 *	recycling		intake/recycle.c drop_oldest is_over
 *	schedule	intake/schedule.c bucket_schedule
 *	schedule	store/slots.h slots_take
 *	schedule	store/slot.h slot_arm
 *	cancel_pending	store/slot.c slot_cancel_pending cancel_pending
 *	cancel		store/slot.h slot_kill
 *	cancel		store/slot.c slot_cancel slot_take
 *	drain		store/slot.c slot_cancel_pending
 *	drain		api/cancel_many.c take_pending
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
 *	reschedule	intake/unqueued.h unqueued_move
 *	collect		intake/collect.h bucket_collect take_blocks
 *	recycle		intake/intake.h intake_recycle
 *	recycle		intake/collect.h bucket_flush
 *	recycle		intake/expiry.c expiry_end_and_give
 *	recycle		intake/bucket.h bucket_give
 *	hand_over_dead	store/slot.h slot_hand_over
 *	unarm		intake/expiry.c unarm
 *	settle		intake/expiry.c look_locked
 *	look		intake/expiry.c expiry_look
 *	hand_over	store/slot.h slot_hand_over slot_owns
 *	judge		intake/expiry.c judge put_back
 *	fire		intake/expiry.c expiry_hand_over
 *	fire		store/slot.h slot_set_handed_over
 *	fire		engine/fire.c fire hand_over run_here
 *	fire		api/executor.c executor_hand_over
 *	start_run	store/slot.h slot_change
 *	slot_begin	store/slot.h slot_begin
 *	begin		intake/expiry.c expiry_begin begin_locked
 *	rearm		intake/expiry.c rearm put_back
 *	execute		engine/fire.c call_and_finish call finish end
 *	execute		intake/expiry.c expiry_after_run expiry_end
 *	mark_unqueued	intake/unqueued.h unqueued_mark
 *	leave_unqueued	intake/unqueued.h unqueued_leave
 *	collect_unqueued intake/unqueued.h unqueued_collect
 *	collect_unqueued intake/collect.h take_unqueued
 *	file		intake/unqueued.h unqueued_file
 *	runner		engine/fire.c fire_run
 *	timer_thread	engine/turn.c engine_turn run_next
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
#define UNARMED	   7
#define DISARMED   8
#define AWAITED	   9
#define WORD(g, s) ((g) * 16 + (s))
#define STATE(w)   ((w) % 16)
#define LIFE(w)	   ((w) / 16)

#define IS_DEAD(w)    (STATE(w) == DEAD)
#define IS_PENDING(w) (STATE(w) == ARMED || STATE(w) == MOVED)
#define RUNS(w)                                                                \
	(STATE(w) == RUNNING || STATE(w) == REPEATING || STATE(w) == AWAITED)

#define LOCK   atomic { !lock; lock = true }
#define UNLOCK lock = false
/* Begins an atomic: one step under the lock, which need not be seen held. */
#define LOCKED !lock

#define LATEST 2

/* struct slot; the word is generation and state */
byte word, ticket, deadline, due;
bool lock, on_list = true;
bool handed_over; /* in the ticket */
bool with_runner; /* which has not yet begun it */
bool unqueued;    /* in its bucket's heap */
bool lives;       /* on, after a run */

/* Entries, in arrivals or with the driver. */
#define ENTRIES 5
#define NOWHERE 0
#define BUCKET	1
#define HEAP	2
byte where[ENTRIES], e_ticket[ENTRIES], e_deadline[ENTRIES];

#define OWNS(i) (ticket == e_ticket[i] && !handed_over)

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
	e_deadline[i] = due;
	i = 0
}

/*
 * What nobody reads any more is zero here, and in set_free: so Spin does not
 * tell states apart by it.
 */
inline drop_entry(i)
{
	atomic {
		where[i] = NOWHERE;
		e_ticket[i] = 0;
		e_deadline[i] = 0
	}
}

/* In an atomic */
inline set_free()
{
	assert(!on_list && !with_runner && !unqueued);
	lives = false;
	deadline = 0;
	due = 0;
	word = WORD(LIFE(word) + 1, FREE)
}

/* slot_free: nobody else has changed it since it was dead. */
inline free_dead(seen)
{
	atomic {
		assert(IS_DEAD(seen) && word == seen);
		set_free()
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

/* A user. */

/* done: it has another ticket */
inline take_entry(done)
{
#ifdef SWEEP_STORED
	done = unqueued || !handed_over;
#endif
	atomic {
#ifdef SWEEP_ALL
		done = true;
#elif !defined(SWEEP_STORED)
		done = unqueued || !handed_over;
#endif
		if
		:: done ->
			unqueued = false;
			handed_over = false;
#ifndef SWEEP_KEEPS
			ticket++
#endif
		:: else
		fi
	}
}

/* sweep_word, of this slot; the driver does the same.  Under the lock. */
inline sweep(seen, done)
{
	seen = word;
	if
	:: IS_DEAD(seen) || STATE(seen) == DISARMED ->
#ifdef FREED_FIRST
		if
		:: IS_DEAD(seen) && !handed_over -> free_dead(seen)
		:: else
		fi;
#endif
		take_entry(done);
		if
		:: done && STATE(seen) == DISARMED ->
#ifdef SWEEP_LEAVES
			done = false
#else
			change_state(seen, UNARMED, done);
			done = !done;
			seen = word
#endif
		:: else
		fi;
		if
		:: done ->
#ifndef FREED_FIRST
			free_dead(seen);
#endif
			on_list = true
		:: else
		fi
	:: else
	fi
}

/* What is dead it frees by a store, without another look. */
inline recycling(i, seen)
{
	atomic {
		LOCKED;
		i = 0;
		do
		:: i < ENTRIES - 1 -> i++
		:: break
		od;
		if
		:: where[i] == BUCKET && !OWNS(i) -> drop_entry(i)
		:: where[i] == BUCKET && OWNS(i) &&
		   STATE(word) == DISARMED ->
#ifndef RECYCLE_LEAVES
			word = WORD(LIFE(word), UNARMED);
#endif
			drop_entry(i)
		:: where[i] == BUCKET && OWNS(i) && IS_DEAD(word) ->
			lock = true;
			seen = word
		:: else
		fi
	};
	if
	:: seen != 0 ->
		atomic {
			free_dead(seen);
			on_list = true;
			drop_entry(i);
			lock = false
		}
	:: else
	fi
}

inline schedule(i)
{
	LOCK;
	if
	:: on_list ->
		atomic {
			on_list = false;
			ticket++;
			handed_over = false;
			select (deadline : 0 .. LATEST);
			due = deadline
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
	:: HOLDS(mine, ARMED) || HOLDS(mine, MOVED) || HOLDS(mine, DISARMED) ->
		assert(LIFE(word) + 1 == mine);
		word = WORD(LIFE(word), DEAD);
		armed = false
	:: HOLDS(mine, UNARMED) ->
		assert(LIFE(word) + 1 == mine);
		assert(!armed);
		set_free();
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
		atomic {
			LOCKED;
			assert(STATE(word) == FREE && !on_list && !handed_over);
			on_list = true
		}
	:: else
	fi
#else
	skip
#endif
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
	fi
}

/* By an id that it reads in the slot; it leaves alone what runs. */
inline drain(mine, left)
{
	mine = LIFE(word) + 1;
	atomic { cancel_pending(mine, left) };
	give_left(left)
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
	fi
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
		ok = true;
		assert(armed)
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
		fi;
		assert(!ok || armed)
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
	atomic {
		mine = id;
		select (to : 0 .. LATEST)
	};
	if
	:: mine != 0 ->
		LOCK;
		if
		:: word == WORD(mine - 1, ARMED) ||
		   word == WORD(mine - 1, MOVED) ||
		   word == WORD(mine - 1, DISARMED) ->
			mark_moved(mine, ok);
			if
			:: ok && to < due ->
				get_new_ticket(ok);
				due = to;
				deadline = to;
				if
				:: ok -> atomic { add_entry(i, BUCKET) }
				:: else
				fi
			:: ok && to >= due -> deadline = to
			:: else
			fi
		:: word == WORD(mine - 1, UNARMED) ->
			arm_unarmed(mine, ok);
			if
			:: ok ->
				get_new_ticket(ok);
				due = to;
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
	fi
}

proctype user()
{
	byte n, i, mine, to, seen;
	bool ok;

	for (n : 1 .. STEPS) {
		if
		:: schedule(i)
		:: cancel(mine, ok)
#ifndef FEW_CALLS
		:: drain(mine, ok)
		:: disarm(mine)
		:: reschedule(mine, to, ok, i)
#endif
		:: recycling(i, seen)
		:: LOCK; sweep(seen, ok); UNLOCK
		fi;
		atomic {
			i = 0;
			mine = 0;
			to = 0;
			seen = 0;
			ok = false
		}
	}
	users--
}

/* The driver. */

/* In an atomic, as one step under the lock. */
inline collect(i)
{
	for (i : 0 .. ENTRIES - 1) {
		if
		:: where[i] == BUCKET -> where[i] = HEAP
		:: else
		fi
	}
}

/* The bit of a slot that was freed is set. */
inline recycle(freed)
{
	if
	:: freed ->
		atomic {
			LOCKED;
			assert(STATE(word) == FREE && !on_list);
			on_list = true
		}
	:: else
	fi
}

/* done: the entry counted, and the slot is the driver's */
inline hand_over_dead(i, done)
{
#ifdef LOOK_STORED
	done = OWNS(i);
#endif
	atomic {
#ifndef LOOK_STORED
		done = OWNS(i);
#endif
		if
		:: done ->
			handed_over = true;
			ticket = e_ticket[i]
		:: else
		fi
	}
}

/* Under the lock */
inline unarm(seen, done)
{
	change_state(seen, UNARMED, done);
#ifndef UNARM_KEEPS
	if
	:: done -> handed_over = false
	:: else
	fi
#endif
}

/*
 * Of what counts.  seen: the state now; dropped: it is unarmed; over: it was
 * cancelled, and is free.  Under the lock
 */
inline settle(seen, dropped, over)
{
	atomic {
		seen = word;
		dropped = false;
		over = false
	};
	if
#ifndef NO_DROP
	:: STATE(seen) == DISARMED ->
		unarm(seen, dropped);
		if
		:: !dropped -> seen = word
		:: else
		fi
#endif
	:: else
	fi;
	if
	:: !dropped && IS_DEAD(seen) ->
		free_dead(seen);
		over = true
	:: else
	fi
}

/* expiry_look */
inline look(i, seen, owns, over)
{
	seen = word;
	owns = OWNS(i);
	if
	:: !owns -> drop_entry(i)
	:: owns && IS_DEAD(seen) ->
#if defined(LOOK_FREES)
		free_dead(seen);
		over = true;
#elif defined(LOOK_LATE)
		free_dead(seen);
		hand_over_dead(i, over);
#else
		hand_over_dead(i, over);
		if
		:: over -> free_dead(seen)
		:: else
		fi;
#endif
		drop_entry(i);
		recycle(over)
#ifdef DROP_UNLOCKED
	:: owns && STATE(seen) == DISARMED ->
		word = WORD(LIFE(seen), UNARMED);
		drop_entry(i)
#endif
	:: owns && IS_PENDING(seen)
	:: else ->
		LOCK;
		if
		:: !OWNS(i) -> drop_entry(i)
		:: else ->
			settle(seen, owns, over);
			if
			:: owns || IS_DEAD(seen) -> drop_entry(i)
			:: else
			fi
		fi;
		UNLOCK;
		recycle(over)
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

/* Under the lock, in an atomic */
inline mark_unqueued()
{
#ifdef UNQUEUED_FREE
	handed_over = false;
#else
	handed_over = true;
#endif
	assert(!unqueued);
	unqueued = true
}

/* The code may release the lock and take it again: here, that is before. */
inline file(i)
{
#ifdef FILED_EARLY
	handed_over = false;
#endif
#ifndef NOT_FILED
	atomic {
		LOCKED;
		if
		:: true ->
			handed_over = false;
			add_entry(i, BUCKET)
#ifdef NO_ROOM
		:: true -> mark_unqueued()
#endif
		fi
	}
#else
	skip
#endif
}

/* Of what lives on.  over: it was cancelled.  Under the lock */
inline rearm(seen, again, over)
{
	seen = word;
	again = false;
	if
	:: STATE(seen) == ENDING -> over = true
#ifndef NOT_AGAIN
	:: STATE(seen) == REPEATING ->
		change_state(seen, ARMED, again);
		over = !again;
		if
		:: again -> due = deadline
		:: else
		fi
#endif
	:: else ->
		unarm(seen, over);
		over = !over
	fi
}

/* The callback, and what comes after it. */
inline execute(i, seen, again, over)
{
	again = false;
	if
	:: !lives -> over = true
	:: lives ->
		LOCK;
		rearm(seen, again, over);
		UNLOCK
	fi;
	if
	:: over ->
		/* expiry_end */
		atomic {
			assert(RUNS(word) || STATE(word) == ENDING);
			set_free()
		}
	:: !over && again -> file(i)
	:: else
	fi;
	recycle(over)
}

/* owns: it is handed over */
inline hand_over(i, seen, owns)
{
#ifdef HAND_OVER_STORED
	owns = (STATE(seen) == ARMED && OWNS(i));
#endif
	atomic {
#ifndef HAND_OVER_STORED
		owns = (STATE(seen) == ARMED && OWNS(i));
#endif
		if
		:: owns ->
#ifndef NOT_MARKED
			handed_over = true;
#endif
			ticket = e_ticket[i];
			assert(!with_runner);
			with_runner = true
		:: else
		fi
	}
}

/*
 * Of what counts, with an entry of the deadline `entry`.  runs: it is due;
 * later: it is put back.  Else it is unarmed; or over, and free.  Under the
 * lock
 */
inline judge(seen, entry, runs, later, over)
{
	settle(seen, runs, over);
	if
	:: runs || over -> runs = false
#ifndef NO_PUT_BACK
	:: !runs && !over && (deadline > entry || deadline > now) ->
		change_state(seen, ARMED, later);
		if
		:: later -> due = deadline
		:: else ->
			seen = word;
			free_dead(seen);
			over = true
		fi
#endif
	:: else -> runs = true
	fi
}

/* For an entry that is due. */
inline fire(i, seen, runs, later, over)
{
	seen = word;
	hand_over(i, seen, runs);
	if
	:: runs -> drop_entry(i)
	:: else ->
		LOCK;
		if
		:: !OWNS(i)
		:: else -> judge(seen, e_deadline[i], runs, later, over)
		fi;
		atomic {
			if
			:: later -> e_deadline[i] = due
			:: else -> drop_entry(i)
			fi;
			if
			:: runs ->
				assert(!with_runner);
				handed_over = true;
				with_runner = true
			:: else
			fi
		};
		UNLOCK;
		recycle(over)
	fi
}

/* unqueued_leave, for an entry of the driver's */
inline leave_unqueued(i)
{
	atomic {
		LOCKED;
		if
#ifdef LEAVE_STALE
		:: true -> mark_unqueued()
#else
		:: OWNS(i) -> mark_unqueued()
		:: else
#endif
		fi;
		drop_entry(i)
	}
}

/* take_unqueued */
inline collect_unqueued(i)
{
	atomic {
		LOCKED;
		if
		:: unqueued ->
			unqueued = false;
			handed_over = false;
			add_entry(i, HEAP)
		:: else
		fi
	}
}

/* If another thread comes between the load and the swap, that fails. */
inline slot_begin(done)
{
	if
#ifdef BEGIN_MOVED
	:: IS_PENDING(word) ->
#else
	:: STATE(word) == ARMED ->
#endif
		start_run(word, done)
	:: else
	fi
}

/* runs: it has begun; later: it must be filed */
inline begin(seen, runs, later, over)
{
	if
	:: runs
	:: else ->
		LOCK;
		judge(seen, now, runs, later, over);
		if
		:: runs ->
			start_run(seen, runs);
			if
			:: runs
			:: else ->
				seen = word;
				free_dead(seen);
				over = true
			fi
		:: else
		fi;
		UNLOCK
	fi
}

proctype runner()
{
	byte seen, i;
	bool runs, later, over;

	do
	:: true;
end:	   atomic {
		with_runner;
		with_runner = false;
		slot_begin(runs)
	   };
	   begin(seen, runs, later, over);
	   if
	   :: runs -> execute(i, seen, later, over)
	   :: later -> file(i)
	   :: else -> recycle(over)
	   fi;
	   atomic {
		seen = 0;
		runs = false;
		later = false;
		over = false
	   }
	od
}

proctype timer_thread()
{
	byte i, seen;
	bool owns, later, over;

	do
	:: true;
end:	   if
	   :: atomic {
		!lock && (where[0] == BUCKET || where[1] == BUCKET ||
			  where[2] == BUCKET || where[3] == BUCKET ||
			  where[4] == BUCKET) ->
		collect(i)
	      }
	   :: where[0] == HEAP -> i = 0
	   :: where[1] == HEAP -> i = 1
	   :: where[2] == HEAP -> i = 2
	   :: where[3] == HEAP -> i = 3
	   :: where[4] == HEAP -> i = 4
	   :: atomic { now < LATEST -> now++; i = ENTRIES }
#ifdef NO_ROOM
	   :: unqueued -> collect_unqueued(i); i = ENTRIES
#endif
	   fi;
	   if
	   :: i == ENTRIES
	   :: i < ENTRIES && e_deadline[i] > now -> look(i, seen, owns, over)
	   :: i < ENTRIES && e_deadline[i] <= now ->
		fire(i, seen, owns, later, over)
#ifdef NO_ROOM
	   :: i < ENTRIES && e_deadline[i] > now -> leave_unqueued(i)
#endif
	   fi;
	   atomic {
		i = 0;
		seen = 0;
		owns = false;
		later = false;
		over = false
	   }
	od
}

init
{
	byte i;

	atomic {
		for (i : 1 .. USERS) {
			run user()
		}
		run timer_thread();
		run runner()
	};
	timeout;
	assert(users == 0 && !with_runner && !unqueued);
	assert(!armed);
	assert((STATE(word) == FREE && on_list) ||
	       (STATE(word) == UNARMED && !on_list && !handed_over));
	assert(now == LATEST)
}
