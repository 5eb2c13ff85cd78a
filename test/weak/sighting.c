/* SPDX-License-Identifier: MIT */
/*
 * A callback begins, ends, and another one begins, while a thread looks which
 * one is running.
 *
 * What it sees belongs together.
 *
 * BUG_RELAXED_SHOW: what is shown is stored without release.
 * BUG_RELAXED_LOOK: it is loaded without acquire.
 * BUG_NO_SECOND_LOOK: the number is not looked at again.
 */
#include "harness.h"
#include "os/fork.h"

#ifdef BUG_RELAXED_SHOW
#define atom32_store_release(a, value)   atom32_store(a, value)
#define atomword_store_release(a, value) atomword_store(a, value)
#elif defined(BUG_RELAXED_LOOK)
#define atom32_load_acquire(a)   atom32_load(a)
#define atomword_load_acquire(a) atomword_load(a)
#elif defined(BUG_NO_SECOND_LOOK)
static uint32_t looked;
#define atom32_load_acquire(a) (looked = atom32_load_acquire(a))
#define atom32_load(a)         (weak_self() == 1 ? looked : atom32_load(a))
#endif

#include "base/word64.h"

#include <pthread.h>

/* The constructor of inside.c is not left out. */
#undef pthread_key_create
#define pthread_key_create(key, fn) ((void)(key), (void)(fn), EAGAIN)

#include "engine/inside.c"

static struct inside inside;
static bool seen;
static struct run sighting;

void memory_free(void *p)
{
	(void)p;
}

static void callback(void *arg)
{
	(void)arg;
}

static void another(void *arg)
{
	(void)arg;
}

static timerthread_fn *callback_of(uint64_t n)
{
	return n == 1 ? callback : another;
}

static void show_number(uint32_t n)
{
	const struct run run = {
		.id = n,
		.since = n,
		.fn = callback_of(n),
		.arg = (void *)(uintptr_t)n,
	};

	show_run(&inside, &run);
}

static void setup(void)
{
	memset(&inside, 0, sizeof(inside));
	show_number(1);
	seen = false;
}

static void call(void)
{
	hide_run(&inside);
	show_number(2);
	hide_run(&inside);
}

static void look(void)
{
	seen = inside_look(&inside, &sighting);
}

static void check(void)
{
	const struct run *s = &sighting;

	if (!seen)
		return;
	weak_check(s->id == 1 || s->id == 2, "a timer that there was not");
	weak_check(s->since == (int64_t)s->id && s->fn == callback_of(s->id) &&
			   (uintptr_t)s->arg == s->id,
		   "it does not belong together");
}

const struct weak weak = {setup, {call, look, NULL}, check};
