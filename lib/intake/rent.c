/* SPDX-License-Identifier: MIT */
/*
 * When rent rests.
 *
 * Where all that it comes upon lives, either these timers will live for long,
 * and those behind them are to be looked at; or rent has caught up with
 * whoever cancels.  Then it should look at nothing for a while: on another CPU
 * that thread is about to write the very lines that would be read here.
 * (With rests a pair between two CPUs went from 2.0 to 1.6 times a bare
 * hand-over.)
 *
 * It is the latter if there are about as many arrivals as usual, so that what
 * came in during the last rest has been cancelled and dropped by now.  What is
 * usual creeps up, for a load that grows.  To rest whenever all lived would
 * not do: each rest lets in what will be dead, and to get past as many as live
 * took so many rests that the dead were 15 times as many.
 */
#include "config.h"

#include "intake/rent.h"

/* Calls. */
#define RESTS 64

TT_NOINLINE void rent_rest(struct bucket *b)
{
	size_t n = queue_size(&b->arrivals);

	b->lived = 0;
	if (n <= b->usual + RESTS)
		b->rests = RESTS;
	if (n < b->usual)
		b->usual = n;
	else
		b->usual += 1 + (n - b->usual) / 16;
}

TT_NOINLINE bool rent_sweep(struct bucket *b)
{
	if (!b->arrivals.spares)
		return false;
	for (unsigned i = 0; i < BLOCK_ENTRIES && !slots_any(&b->slots); i++)
		rent_look(b);
	return slots_any(&b->slots);
}

/*
 * Nothing is prefetched: what lives here a thread on another CPU is likely to
 * write next.  Over those that live a look moves on by one.
 */
size_t rent_reclaim(struct bucket *b, uint64_t *left)
{
	size_t n = queue_size(&b->arrivals), found;
	size_t looks = n < RENT_RECLAIM ? n : RENT_RECLAIM;
	uint32_t lived = b->lived;

	for (size_t i = 0; i < looks; i++)
		rent_look(b);
	b->lived = lived;
	found = n - queue_size(&b->arrivals);
	if (*left > n)
		*left = n;
	if (found < looks)
		*left -= *left < looks ? *left : looks;
	if (*left > n - found)
		*left = n - found;
	return looks;
}
