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
 * Where the code has these steps, which are here, in slot_user.pml and in
 * slot_driver.pml:
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

#include "slot_user.pml"
#include "slot_driver.pml"

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
