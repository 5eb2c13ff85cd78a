/* SPDX-License-Identifier: MIT */
/*
 * What a user of the slot in slot.pml does; and the sweep, which the driver
 * does as well.
 */

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
