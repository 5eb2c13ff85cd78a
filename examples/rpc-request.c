/* SPDX-License-Identifier: MIT */
/*
 * The life of a request: the part to copy.
 *
 * Three threads meet in a request: the sender, the reader and the timer
 * thread.  Two questions must have one answer each.
 *
 * Who completes the request?  It has an atomic word whose low two bits are
 * its state.  The bits above are its generation, that is, which use of the
 * record this is.  The word only ever counts up:
 *
 *	FREE -> ARMING -> SENT -> DONE -> FREE, of the next generation
 *
 * The sender schedules the timer, then publishes the request as SENT.  The
 * reader takes it from SENT to DONE, the timer from ARMING or SENT to DONE,
 * both atomically.  Who made it DONE completes the request; the other leaves it
 * alone.  A reply carries the word, so one that comes late cannot be taken for
 * the answer to a later request in the same record.
 *
 * When may the record be used again?  Not when the request is complete: the
 * loser may still be looking at it.  So two references are held, one for the
 * completion and one for the timer, and the last to be dropped frees it:
 *
 *  - Whoever completes the request drops the first one.
 *  - The callback drops the second one, as the last thing that it does.  If
 *    timerthread_cancel returns 0 there will be no callback, and whoever
 *    cancelled drops it.  If it returns 1 or -ENOENT, the callback is running
 *    or has run, and nobody else touches that reference.
 *
 * Records are never given back to the allocator while the threads run, so a
 * stale word can always be looked at, and loses.
 */
#include "rpc-request.h"

/* DONE has both bits set: or-ing it in makes any state DONE. */
enum { FREE, ARMING, SENT, DONE };

static unsigned state_of(uint32_t word)
{
	return word & DONE;
}

static void count(struct window *w, enum count which)
{
	atomic_fetch_add_explicit(&w->counts[which], 1, memory_order_relaxed);
}

/* Done once a request, by the one who made it DONE. */
static void request_complete(struct request *r, enum count how)
{
	atomic_fetch_add(&r->ends, 1);
	count(r->window, how);
	/* This is where a real client would hand the result to its caller. */
}

/* The callback may call this: nobody holds the lock for long. */
static void request_free(struct request *r)
{
	struct window *w = r->window;

	atomic_store(&r->word, (atomic_load(&r->word) | DONE) + 1);
	pthread_mutex_lock(&w->lock);
	w->free[w->nfree++] = r;
	pthread_cond_signal(&w->freed);
	pthread_mutex_unlock(&w->lock);
}

/* Drops n references.  Whoever drops the last is alone with the record. */
static void request_put(struct request *r, unsigned n)
{
	if (atomic_fetch_sub(&r->refs, n) != n)
		return;
	if (atomic_load(&r->ends) != 1)
		count(r->window, atomic_load(&r->ends) ? BOTH : NEITHER);
	request_free(r);
}

/* The timer's callback. */
static void request_expire(void *arg)
{
	struct request *r = arg;
	struct window *w = r->window;
	int64_t late = timerthread_now(w->timers) - r->deadline;
	bool stray = state_of(atomic_load(&r->word)) == FREE;

	if (stray || late < 0) {
		/* A promise is broken: count it, and keep off the record. */
		count(w, stray ? STRAY : EARLY);
		return;
	}
	late_record(LATE_TIMER, late);
	if (state_of(atomic_fetch_or(&r->word, DONE)) == DONE) {
		request_put(r, 1); /* the reply was first; the timer's */
	} else {
		request_complete(r, TIMEOUTS);
		request_put(r, 2); /* the completion's and the timer's */
	}
}

int request_arm(struct request *r, uint64_t value, struct message *m)
{
	struct window *w = r->window;
	uint32_t arming = atomic_load(&r->word) | ARMING;
	uint32_t sent = atomic_load(&r->word) | SENT;
	int ret;

	r->value = value;
	r->deadline = timerthread_now(w->timers) + w->timeout;
	atomic_store(&r->ends, 0);
	atomic_store(&r->refs, 2);
	atomic_store(&r->word, arming);

	ret = timerthread_schedule(w->timers, r->deadline, request_expire, r,
				   &r->timer);
	if (ret < 0) {
		request_free(r); /* without a timer there is no request */
		return ret;
	}
	count(w, REQUESTS);
	*m = (struct message){(uint32_t)(r - w->request), sent, value};
	/*
	 * Published only now, for the reader needs r->timer.  From here on
	 * the sender must not touch the record.
	 */
	return atomic_compare_exchange_strong(&r->word, &arming, sent);
}

void request_reply(struct window *w, const struct message *m)
{
	uint32_t word = m->word;
	struct request *r;

	if (m->record >= WINDOW || state_of(word) != SENT) {
		count(w, WRONG); /* no request of ours was ever named so */
		return;
	}
	r = &w->request[m->record];
	if (!atomic_compare_exchange_strong(&r->word, &word, word | DONE)) {
		count(w, DROPPED);
		return;
	}
	/* The completion's reference keeps r, and r->timer, as they are. */
	if (m->value != ~r->value)
		count(w, WRONG);
	request_complete(r, REPLIES);
	if (timerthread_cancel(w->timers, r->timer) == 0) {
		request_put(r, 2); /* there will be no callback */
	} else {
		count(w, MET);
		request_put(r, 1); /* the callback drops its own */
	}
}

/* The records of a connection, and which of them are free. */

void window_init(struct window *w, struct timerthread *timers, int64_t timeout)
{
	pthread_condattr_t attr;

	w->timers = timers;
	w->timeout = timeout;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->freed, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned i = 0; i < WINDOW; i++) {
		w->request[i].window = w;
		w->free[w->nfree++] = &w->request[i];
	}
}

void window_close(struct window *w)
{
	atomic_store(&w->closed, true);
	pthread_mutex_lock(&w->lock);
	pthread_cond_signal(&w->freed);
	pthread_mutex_unlock(&w->lock);
}

struct request *window_take(struct window *w, bool wait)
{
	struct request *r = NULL;

	pthread_mutex_lock(&w->lock);
	while (wait && w->nfree == 0 && !atomic_load(&w->closed))
		pthread_cond_wait(&w->freed, &w->lock);
	if (w->nfree > 0 && !atomic_load(&w->closed))
		r = w->free[--w->nfree];
	pthread_mutex_unlock(&w->lock);
	return r;
}

void window_drain(struct window *w)
{
	int64_t until =
		timerthread_now(w->timers) + w->timeout + 5 * TIMERTHREAD_SEC;
	struct timespec ts = {until / TIMERTHREAD_SEC, until % TIMERTHREAD_SEC};
	int err = 0;

	pthread_mutex_lock(&w->lock);
	while (w->nfree < WINDOW && err == 0)
		err = pthread_cond_timedwait(&w->freed, &w->lock, &ts);
	/* Neither reply nor timer has acted on those that are left. */
	atomic_fetch_add(&w->counts[NEITHER], WINDOW - w->nfree);
	pthread_mutex_unlock(&w->lock);
}

void window_destroy(struct window *w)
{
	pthread_cond_destroy(&w->freed);
	pthread_mutex_destroy(&w->lock);
}
