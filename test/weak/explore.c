/* SPDX-License-Identifier: MIT */
/*
 * Runs a harness through its executions on a weakly ordered machine.
 *
 * The harness is compiled with -fsanitize=thread, so that each access to memory
 * calls a function; and those functions are here, not the sanitizer's.  The
 * threads are run one at a time.  Before each atomic operation another one may
 * go on; a load may find an older value than the last; a store may come before
 * another thread's that was made first.  All that is decided by choices, and
 * the next execution takes the next choice: so what is found is found again.
 *
 * The rules are those of C11 without seq_cst, which the library does not need:
 * it counts as acquire and release.
 *
 *  - The values of an atomic word have an order.  A thread has a view: for each
 *    word the oldest value that it may still find.  What it finds or writes is
 *    the oldest from then on.
 *  - A store with release, and a read-modify-write with it, puts the thread's
 *    view beside the value; a load with acquire adds that to its own.  What a
 *    read-modify-write finds has its view beside the new value, too.
 *  - A read-modify-write comes next to what it has found.
 *  - Two accesses to other memory, one of them a write, of which none is before
 *    the other by that, are a race, which is an error.
 *  - No load finds what is yet to be written.
 *
 * The arguments say how many of these an execution may have: switches away from
 * a thread that could go on; and choices of another value than the last.
 */
#include "explore.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum {
	WORDS = 240,    /* atomic, in an execution */
	VALUES = 64,    /* of one of them */
	STEPS = 4000,   /* of an execution */
	SHADOWS = 4096, /* bytes of other memory, a power of two */
	STACK = 65536,
};

/* What a thread knows: values of words, and steps of threads. */
struct view {
	uint8_t value[WORDS];
	uint32_t step[WEAK_THREADS];
};

struct value {
	uint64_t is;
	unsigned place; /* in the order of the word's values */
	bool tied;      /* a read-modify-write has made the next of it */
	struct view with;
};

struct word {
	const volatile void *at;
	size_t size;
	unsigned n;
	struct value value[VALUES];
};

/* A byte of other memory. */
struct shadow {
	uintptr_t at;
	unsigned long execution;
	int writer; /* -1: none */
	uint32_t written;
	uint32_t read[WEAK_THREADS];
};

struct thread {
	ucontext_t context;
	struct view view;
	bool there, done, waits;
	bool naps;       /* it waits, but not for ever */
	bool old;        /* has found an old value since it waited */
	unsigned own;    /* stores */
	unsigned stores; /* of others, when it waited last */
};

struct choice {
	uint8_t of, taken;
};

struct step {
	const char *what;
	int thread;
	unsigned word;
	uint64_t value;
};

static struct word words[WORDS];
static unsigned n_words;
static struct shadow shadows[SHADOWS];
static struct thread threads[WEAK_THREADS];
static char stacks[WEAK_THREADS][STACK] __attribute__((aligned(64)));
static struct choice choices[STEPS];
static unsigned n_choices, at_choice;
static struct step steps[STEPS];
static unsigned n_steps, stores;
static unsigned max_switches, max_olds;
static unsigned switches, olds; /* that are left in this execution */
static unsigned long execution;
static ucontext_t scheduler;
static int me = -1; /* the thread that runs; -1: none, all is plain */

static void show_steps(void)
{
	for (unsigned i = 0; i < n_steps; i++)
		printf("  thread %d  %-12s word %u  %llx\n", steps[i].thread,
		       steps[i].what, steps[i].word,
		       (unsigned long long)steps[i].value);
}

/* The status that says: the harness has an error. */
void weak_fail(const char *what)
{
	printf("execution %lu: %s\n", execution, what);
	show_steps();
	fflush(stdout);
	_Exit(WEAK_FAILED);
}

/* What bounds this file is too small: that is no verdict. */
static void need(bool holds, const char *what)
{
	if (holds)
		return;
	printf("explore.c is too small: %s\n", what);
	fflush(stdout);
	_Exit(1);
}

static void note(const char *what, const struct word *w, uint64_t value)
{
	need(n_steps < STEPS, "steps");
	steps[n_steps++] =
		(struct step){what, me, (unsigned)(w - words), value};
}

/* One of 0 to n - 1; all of them in the end. */
static unsigned choose(unsigned n)
{
	if (n < 2)
		return 0;
	need(at_choice < STEPS, "choices");
	if (at_choice == n_choices)
		choices[n_choices++] = (struct choice){(uint8_t)n, 0};
	return choices[at_choice++].taken;
}

/* False: there was every combination of choices. */
static bool next_choices(void)
{
	while (n_choices > 0 &&
	       choices[n_choices - 1].taken + 1 == choices[n_choices - 1].of)
		n_choices--;
	if (n_choices == 0)
		return false;
	choices[n_choices - 1].taken++;
	return true;
}

/* Threads. */

static unsigned stores_of_others(const struct thread *t)
{
	return stores - t->own;
}

static bool can_go_on(const struct thread *t)
{
	return t->there && !t->done &&
	       (!t->waits || t->old || t->stores != stores_of_others(t));
}

/* Those that can go on, `first` before the others. */
static unsigned find_ready(int first, int *ready)
{
	unsigned n = 0;

	if (first >= 0 && can_go_on(&threads[first]))
		ready[n++] = first;
	for (int i = 0; i < WEAK_THREADS; i++)
		if (i != first && can_go_on(&threads[i]))
			ready[n++] = i;
	return n;
}

static void go_to(int next)
{
	int was = me;

	if (next == was)
		return;
	me = next;
	swapcontext(&threads[was].context, &threads[next].context);
}

/* Another thread may go on here. */
static void let_others(void)
{
	int ready[WEAK_THREADS];
	unsigned n = find_ready(me, ready), taken;

	taken = switches > 0 ? choose(n) : 0;
	switches -= taken > 0;
	go_to(ready[taken]);
}

/* Nothing happens any more before a nap is over. */
static unsigned end_naps(int *ready)
{
	for (int i = 0; i < WEAK_THREADS; i++)
		if (threads[i].naps)
			threads[i].waits = false;
	return find_ready(-1, ready);
}

/* This thread cannot go on. */
static void leave(void)
{
	int ready[WEAK_THREADS];
	unsigned n = find_ready(-1, ready);

	if (n == 0)
		n = end_naps(ready);
	if (n > 0) {
		go_to(ready[choose(n)]);
		return;
	}
	for (int i = 0; i < WEAK_THREADS; i++)
		if (threads[i].there && !threads[i].done)
			weak_fail("a thread waits for ever");
	setcontext(&scheduler);
}

void weak_wait(void)
{
	struct thread *t = &threads[me];

	t->waits = true;
	if (can_go_on(t))
		let_others();
	else
		leave();
	t->waits = t->naps = t->old = false;
	t->stores = stores_of_others(t);
}

void weak_nap(void)
{
	threads[me].naps = true;
	weak_wait();
}

void weak_exit(void)
{
	threads[me].done = true;
	leave();
}

int weak_self(void)
{
	return me;
}

static void begin(void)
{
	weak.thread[me]();
	weak_exit();
}

static void make_thread(int i)
{
	struct thread *t = &threads[i];

	memset(&t->view, 0, sizeof(t->view));
	t->there = weak.thread[i] != NULL;
	t->done = t->waits = t->naps = t->old = false;
	t->stores = t->own = 0;
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = stacks[i];
	t->context.uc_stack.ss_size = STACK;
	t->context.uc_link = NULL;
	makecontext(&t->context, begin, 0);
}

/* Atomic operations. */

static uint64_t memory_load(const volatile void *p, size_t size)
{
	return size == 4 ? *(const volatile uint32_t *)p
			 : *(const volatile uint64_t *)p;
}

static void memory_store(volatile void *p, size_t size, uint64_t value)
{
	if (size == 4)
		*(volatile uint32_t *)p = (uint32_t)value;
	else
		*(volatile uint64_t *)p = value;
}

static struct word *find_word(const volatile void *at, size_t size)
{
	struct word *w;

	for (unsigned i = 0; i < n_words; i++)
		if (words[i].at == at)
			return &words[i];
	need(n_words < WORDS, "words");
	w = &words[n_words++];
	w->at = at;
	w->size = size;
	w->n = 1;
	memset(&w->value[0], 0, sizeof(w->value[0]));
	w->value[0].is = memory_load(at, size);
	return w;
}

static unsigned oldest(const struct word *w)
{
	return w->value[threads[me].view.value[w - words]].place;
}

static struct value *at_place(struct word *w, unsigned place)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->value[i].place == place)
			return &w->value[i];
	abort();
}

static bool is_in(unsigned order, const char *orders)
{
	return strchr(orders, (int)('0' + order)) != NULL;
}

/* By the numbers of the compiler's: 1 consume to 5 seq_cst. */
static bool acquires(int order)
{
	return is_in((unsigned)order, "1245");
}

static bool releases(int order)
{
	return is_in((unsigned)order, "345");
}

/* What is known from other words is never older than what was known. */
static void join(struct view *v, const struct view *other)
{
	for (unsigned i = 0; i < n_words; i++) {
		const struct value *value = words[i].value;

		if (value[v->value[i]].place < value[other->value[i]].place)
			v->value[i] = other->value[i];
	}
	for (int i = 0; i < WEAK_THREADS; i++)
		if (v->step[i] < other->step[i])
			v->step[i] = other->step[i];
}

/* The value that a load finds. */
static struct value *find(struct word *w)
{
	unsigned last = w->n - 1, first = oldest(w), back;

	back = olds > 0 ? choose(last - first + 1) : 0;
	olds -= back > 0;
	threads[me].old |= back > 0;
	return at_place(w, last - back);
}

static void know(struct word *w, const struct value *v, int order)
{
	threads[me].view.value[w - words] = (uint8_t)(v - w->value);
	if (acquires(order))
		join(&threads[me].view, &v->with);
}

/* Behind the value at that place. */
static struct value *put(struct word *w, unsigned place, uint64_t is)
{
	struct value *v = &w->value[w->n];

	need(w->n < VALUES, "values");
	for (unsigned i = 0; i < w->n; i++)
		if (w->value[i].place > place)
			w->value[i].place++;
	w->n++;
	memset(v, 0, sizeof(*v));
	v->is = is;
	v->place = place + 1;
	threads[me].view.value[w - words] = (uint8_t)(v - w->value);
	if (v->place == w->n - 1)
		memory_store((volatile void *)w->at, w->size, is);
	stores++;
	threads[me].own++;
	return v;
}

static bool is_plain(const volatile void *p)
{
	return me < 0 || (weak_is_plain && weak_is_plain(p));
}

static void begin_operation(void)
{
	let_others();
	threads[me].view.step[me]++;
}

static uint64_t load(const volatile void *p, size_t size, int order)
{
	struct word *w;
	struct value *v;

	if (is_plain(p))
		return memory_load(p, size);
	begin_operation();
	w = find_word(p, size);
	v = find(w);
	know(w, v, order);
	note("load", w, v->is);
	return v->is;
}

/* Where a store goes: behind which place. */
static unsigned choose_place(struct word *w)
{
	unsigned places[VALUES], n = 0, taken;

	for (unsigned i = w->n; i-- > oldest(w);)
		if (!at_place(w, i)->tied)
			places[n++] = i;
	taken = olds > 0 ? choose(n) : 0;
	olds -= taken > 0;
	return places[taken];
}

static void store(volatile void *p, size_t size, uint64_t is, int order)
{
	struct word *w;
	struct value *v;

	if (is_plain(p)) {
		memory_store(p, size, is);
		return;
	}
	begin_operation();
	w = find_word(p, size);
	v = put(w, choose_place(w), is);
	if (releases(order))
		v->with = threads[me].view;
	note("store", w, is);
}

/* The new value of a read-modify-write, next to v. */
static void put_next(struct word *w, struct value *v, uint64_t is, int order)
{
	struct value *new;

	v->tied = true;
	new = put(w, v->place, is);
	/* One that was behind v goes with the new one no more. */
	if (releases(order))
		new->with = threads[me].view;
	join(&new->with, &v->with);
}

static uint64_t swap(volatile void *p, size_t size, uint64_t from, uint64_t to,
		     int order, int failed)
{
	struct word *w;
	struct value *v;

	if (is_plain(p)) {
		uint64_t was = memory_load(p, size);

		if (was == from)
			memory_store(p, size, to);
		return was;
	}
	begin_operation();
	w = find_word(p, size);
	v = find(w);
	/* It is no more to be had: who else was faster is what it finds. */
	if (v->is == from && v->tied)
		v = at_place(w, w->n - 1);
	know(w, v, v->is == from ? order : failed);
	note(v->is == from ? "swap" : "no swap", w, v->is);
	if (v->is == from)
		put_next(w, v, to, order);
	return v->is == from ? from : v->is;
}

static uint64_t add(volatile void *p, size_t size, uint64_t n, int order)
{
	struct word *w;
	struct value *v;
	uint64_t was;

	if (is_plain(p)) {
		was = memory_load(p, size);
		memory_store(p, size, was + n);
		return was;
	}
	begin_operation();
	w = find_word(p, size);
	v = at_place(w, w->n - 1);
	was = v->is;
	know(w, v, order);
	note("add", w, was);
	put_next(w, v, size == 4 ? (uint32_t)(was + n) : was + n, order);
	return was;
}

/* Other memory. */

static struct shadow *find_shadow(uintptr_t at)
{
	unsigned i = (unsigned)(at * 2654435761u) % SHADOWS;

	for (unsigned n = 0; n < SHADOWS; n++, i = (i + 1) % SHADOWS) {
		struct shadow *s = &shadows[i];

		if (s->execution == execution && s->at == at)
			return s;
		if (s->execution != execution) {
			*s = (struct shadow){at, execution, -1, 0, {0}};
			return s;
		}
	}
	need(false, "shadows");
	abort();
}

/* A step of a thread was before this one's next. */
static bool is_known(int thread, uint32_t step)
{
	return thread == me || threads[me].view.step[thread] > step;
}

static void touch(uintptr_t at, bool writes)
{
	struct shadow *s = find_shadow(at);

	if (s->writer >= 0 && !is_known(s->writer, s->written))
		weak_fail("a race with a write");
	for (int i = 0; writes && i < WEAK_THREADS; i++)
		if (s->read[i] > 0 && !is_known(i, s->read[i] - 1))
			weak_fail("a race with a read");
	if (writes) {
		s->writer = me;
		s->written = threads[me].view.step[me];
	} else {
		s->read[me] = threads[me].view.step[me] + 1;
	}
}

static void access(const volatile void *p, size_t size, bool writes)
{
	uintptr_t at = (uintptr_t)p;

	if (me < 0)
		return;
	for (size_t i = 0; i < size; i++)
		touch(at + i, writes);
}

/* What the compiler calls. */

#define TSAN_ACCESS(size)                                                      \
	void __tsan_read##size(void *p);                                       \
	void __tsan_read##size(void *p)                                        \
	{                                                                      \
		access(p, size, false);                                        \
	}                                                                      \
	void __tsan_write##size(void *p);                                      \
	void __tsan_write##size(void *p)                                       \
	{                                                                      \
		access(p, size, true);                                         \
	}                                                                      \
	void __tsan_unaligned_read##size(void *p);                             \
	void __tsan_unaligned_read##size(void *p)                              \
	{                                                                      \
		access(p, size, false);                                        \
	}                                                                      \
	void __tsan_unaligned_write##size(void *p);                            \
	void __tsan_unaligned_write##size(void *p)                             \
	{                                                                      \
		access(p, size, true);                                         \
	}

TSAN_ACCESS(1)
TSAN_ACCESS(2)
TSAN_ACCESS(4)
TSAN_ACCESS(8)
TSAN_ACCESS(16)

/* Of a size that has none of its own. */
void __tsan_read_range(void *p, size_t size);
void __tsan_read_range(void *p, size_t size)
{
	access(p, size, false);
}

void __tsan_write_range(void *p, size_t size);
void __tsan_write_range(void *p, size_t size)
{
	access(p, size, true);
}

void *__tsan_memset(void *p, int byte, size_t size);
void *__tsan_memset(void *p, int byte, size_t size)
{
	access(p, size, true);
	return memset(p, byte, size);
}

void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	access(from, size, false);
	access(to, size, true);
	return memcpy(to, from, size);
}

#define TSAN_ATOMIC(bits)                                                      \
	typedef uint##bits##_t u##bits;                                        \
	u##bits __tsan_atomic##bits##_load(const volatile u##bits *p, int o);  \
	u##bits __tsan_atomic##bits##_load(const volatile u##bits *p, int o)   \
	{                                                                      \
		return (u##bits)load(p, sizeof(*p), o);                        \
	}                                                                      \
	void __tsan_atomic##bits##_store(volatile u##bits *p, u##bits v,       \
					 int o);                               \
	void __tsan_atomic##bits##_store(volatile u##bits *p, u##bits v,       \
					 int o)                                \
	{                                                                      \
		store(p, sizeof(*p), v, o);                                    \
	}                                                                      \
	u##bits __tsan_atomic##bits##_fetch_add(volatile u##bits *p,           \
						u##bits n, int o);             \
	u##bits __tsan_atomic##bits##_fetch_add(volatile u##bits *p,           \
						u##bits n, int o)              \
	{                                                                      \
		return (u##bits)add(p, sizeof(*p), n, o);                      \
	}                                                                      \
	int __tsan_atomic##bits##_compare_exchange_strong(                     \
		volatile u##bits *p, u##bits *from, u##bits to, int o, int f); \
	int __tsan_atomic##bits##_compare_exchange_strong(                     \
		volatile u##bits *p, u##bits *from, u##bits to, int o, int f)  \
	{                                                                      \
		u##bits was = (u##bits)swap(p, sizeof(*p), *from, to, o, f);   \
		bool done = was == *from;                                      \
                                                                               \
		*from = was;                                                   \
		return done;                                                   \
	}                                                                      \
	u##bits __tsan_atomic##bits##_compare_exchange_val(                    \
		volatile u##bits *p, u##bits from, u##bits to, int o, int f);  \
	u##bits __tsan_atomic##bits##_compare_exchange_val(                    \
		volatile u##bits *p, u##bits from, u##bits to, int o, int f)   \
	{                                                                      \
		return (u##bits)swap(p, sizeof(*p), from, to, o, f);           \
	}

TSAN_ATOMIC(32)
TSAN_ATOMIC(64)

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* One execution. */

static void run(void)
{
	int ready[WEAK_THREADS];
	volatile bool begun = false;
	unsigned n;

	me = -1;
	execution++;
	n_words = n_steps = at_choice = stores = 0;
	switches = max_switches;
	olds = max_olds;
	weak.setup();
	for (int i = 0; i < WEAK_THREADS; i++)
		make_thread(i);
	getcontext(&scheduler);
	if (!begun) {
		begun = true;
		n = find_ready(-1, ready);
		me = ready[choose(n)];
		setcontext(&threads[me].context);
	}
	me = -1;
	weak.check();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 1;
	max_switches = (unsigned)strtoul(argv[1], NULL, 10);
	max_olds = (unsigned)strtoul(argv[2], NULL, 10);
	do
		run();
	while (next_choices());
	printf("%lu executions\n", execution);
	return 0;
}
