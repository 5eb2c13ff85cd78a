/* SPDX-License-Identifier: MIT */
/*
 * A table of lists: each thread that waits is on the list that its word's
 * address selects, with a condition variable of its own.  So a wake wakes those
 * that it must and nobody else, and each thread waits on the clock that it
 * needs.  A waiter compares the word under the list's mutex.  Whoever changes
 * the word wakes after that, under the same mutex: either the waiter sees the
 * change, or it is on the list.
 *
 * A condition variable may not know the clock.  Then the wait ends after
 * WAIT_LOOK_NS, and the caller looks at the clock.
 *
 * A child of fork(2) has none of the threads that waited: there the lists are
 * empty.  A mutex may be held there for ever; then it is made anew.  The others
 * are not: where a mutex allocates when it is made, as on FreeBSD and OpenBSD,
 * that would be lost in each child.
 */
#include "os/futex.h"
#include "base/keep.h"
#include "os/clock.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#define LISTS        64
#define WAIT_LOOK_NS NS_PER_S
#define WAIT_NAP_NS  1000000 /* if there is no memory to wait */

struct waiter {
	/* Protected by the list's mutex. */
	struct waiter *next;
	atom32 *word; /* NULL: it was woken, and is on no list */
	pthread_cond_t woken;
};

static struct list {
	pthread_mutex_t mutex;
	struct waiter *first; /* protected by the mutex; the oldest */
} lists[LISTS];

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool works; /* constant after that, but in a child; false: no mutex */

static bool begin_list(struct list *l)
{
	l->first = NULL;
	if (pthread_mutex_trylock(&l->mutex) == 0)
		return pthread_mutex_unlock(&l->mutex) == 0;
	return pthread_mutex_init(&l->mutex, NULL) == 0;
}

static void begin_child(void)
{
	for (int i = 0; i < LISTS; i++)
		works = works && begin_list(&lists[i]);
}

static void begin_waits(void)
{
	int n = 0;

	while (n < LISTS && pthread_mutex_init(&lists[n].mutex, NULL) == 0)
		n++;
	works = n == LISTS && pthread_atfork(NULL, NULL, begin_child) == 0;
	while (!works && n > 0)
		pthread_mutex_destroy(&lists[--n].mutex);
}

/* When the library is loaded: later, no wait has to allocate for that. */
__attribute__((CONSTRUCTOR_FIRST)) static void begin_early(void)
{
	pthread_once(&once, begin_waits);
}

bool futex_works(void)
{
	pthread_once(&once, begin_waits);
	return works;
}

static struct list *list_of(const atom32 *word)
{
	uintptr_t at = (uintptr_t)word;

	pthread_once(&once, begin_waits);
	return &lists[(at / 8 ^ at / 4096) % LISTS];
}

/* Where the first waiter for the word is linked; NULL: the end of the list. */
static struct waiter **find(struct list *l, const atom32 *word)
{
	struct waiter **p = &l->first;

	while (*p && (*p)->word != word)
		p = &(*p)->next;
	return p;
}

/*
 * 0, or an error number.
 *
 * POSIX has let a condition variable choose its clock since 2008.  macOS does
 * not, and there the clock must be CLOCK_MONOTONIC; but it has a wait that
 * takes a length of time.  It stands still while the machine is suspended, and
 * the clock goes on: so no such wait is long.
 */
static int condition_init(pthread_cond_t *c, clockid_t clock)
{
	pthread_condattr_t attr;
	int r = pthread_condattr_init(&attr);

	if (r != 0)
		return r;
#ifdef HAVE_PTHREAD_CONDATTR_SETCLOCK
	r = pthread_condattr_setclock(&attr, clock);
#else
	(void)clock;
#endif
	if (r == 0)
		r = pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
	return r;
}

/* May return early for no reason. */
static void condition_wait(pthread_cond_t *c, pthread_mutex_t *m,
			   int64_t deadline)
{
	struct timespec t;

	if (deadline == INT64_MAX) {
		pthread_cond_wait(c, m);
		return;
	}
	deadline = clock_later(deadline, 0);
#ifdef HAVE_PTHREAD_CONDATTR_SETCLOCK
	t = clock_timespec(deadline);
	pthread_cond_timedwait(c, m, &t);
#else
	deadline -= clock_now(CLOCK_MONOTONIC);
	t = clock_timespec(deadline < NS_PER_S ? clock_later(deadline, 0)
					       : NS_PER_S);
	pthread_cond_timedwait_relative_np(c, m, &t);
#endif
}

/* With the mutex, which it releases meanwhile. */
static void wait_on(struct list *l, struct waiter *w, int64_t deadline)
{
	struct waiter **p = find(l, NULL);

	*p = w;
	condition_wait(&w->woken, &l->mutex, deadline);
	if (!w->word)
		return;
	for (p = &l->first; *p && *p != w;)
		p = &(*p)->next;
	/* In a child that a signal handler has made, it is not there. */
	if (*p)
		*p = w->next;
}

static void wait_once(atom32 *word, uint32_t expected, clockid_t clock,
		      int64_t deadline)
{
	const struct timespec nap = {0, WAIT_NAP_NS};
	struct list *l = list_of(word);
	struct waiter w = {.word = word};

	if (!works || condition_init(&w.woken, clock) != 0) {
		nanosleep(&nap, NULL);
		return;
	}
	pthread_mutex_lock(&l->mutex);
	if (atom32_load(word) == expected)
		wait_on(l, &w, deadline);
	pthread_mutex_unlock(&l->mutex);
	pthread_cond_destroy(&w.woken);
}

/*
 * Does a condition variable wait for a time on this clock, also if the clock is
 * set meanwhile?  Elsewhere it is computed once how long to wait.  (For a test,
 * STEPS_END_NO_WAIT makes Linux a system like these.)
 */
static bool is_known(clockid_t clock)
{
#if (defined(__GLIBC__) || defined(__FreeBSD__)) && !defined(STEPS_END_NO_WAIT)
	if (clock == CLOCK_REALTIME)
		return true;
#endif
	return clock == CLOCK_MONOTONIC;
}

/* For a clock that no condition variable knows; WAIT_LOOK_NS at most. */
static int64_t next_look(clockid_t clock, int64_t deadline)
{
	int64_t left = clock_add(deadline, -clock_now(clock));

	return clock_now(CLOCK_MONOTONIC) +
	       (left < WAIT_LOOK_NS ? left : WAIT_LOOK_NS);
}

void futex_wait_until(atom32 *word, uint32_t expected, clockid_t clock,
		      int64_t deadline)
{
	KEEP_THREAD;

	if (!is_known(clock)) {
		if (deadline < INT64_MAX)
			deadline = next_look(clock, deadline);
		clock = CLOCK_MONOTONIC;
	}
	wait_once(word, expected, clock, deadline);
}

void futex_wait_for(atom32 *word, uint32_t expected, long ns)
{
	futex_wait_until(word, expected, CLOCK_MONOTONIC,
			 clock_now(CLOCK_MONOTONIC) + ns);
}

/* A waiter is its thread's, which goes on when the mutex is free. */
void futex_wake(atom32 *word, int n)
{
	KEEP_ERRNO;
	struct list *l = list_of(word);
	struct waiter **p;

	if (!works)
		return;
	pthread_mutex_lock(&l->mutex);
	for (; n > 0 && *(p = find(l, word)); n--) {
		struct waiter *w = *p;

		*p = w->next;
		w->word = NULL;
		pthread_cond_signal(&w->woken);
	}
	pthread_mutex_unlock(&l->mutex);
}
