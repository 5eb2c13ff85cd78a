/* SPDX-License-Identifier: MIT */
/*
 * Many threads, and the callbacks themselves, schedule, move and cancel timers
 * at random, wait for their ends, look at their deadlines, and drain and stop
 * the instance.  All of it is written down, and when a round is over an oracle
 * judges each timer's history (oracle.h) by what timerthread.h promises, and
 * the slots are counted (slots.h).
 *
 * Each round has options of its own: a driver, a clock, few or many buckets,
 * slack, spin, a cap, a reserve.  In rounds without a cap a last timer runs
 * before the stop, and what was scheduled before it and due before it must not
 * be left.
 */
#pragma once

#include "oracle.h"

#include <stdbool.h>
#include <stdint.h>

/* A round that takes more seconds hangs. */
void rounds_begin(uint64_t seed, unsigned seconds);

/* One round, with random numbers from there; adds what it has seen. */
void rounds_run_one(uint64_t *rng, struct totals *totals);

/*
 * Have timers run, been moved, and been cancelled?  On a slow machine one round
 * may take all the time, and have none that ran.
 */
bool rounds_have_seen_all(const struct totals *totals);

/* Says what there was, and fails where there was nothing. */
void rounds_end(const struct totals *totals);
