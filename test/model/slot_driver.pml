/* SPDX-License-Identifier: MIT */
/*
 * What the driver does with the slot in slot.pml, and the runner.
 */

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
