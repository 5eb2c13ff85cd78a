/* SPDX-License-Identifier: MIT */
/*
 * The driver ends a timer's last run, and gives the memory of its slot back.
 * Then the memory is used again.  Another thread counts the timers that there
 * are and those that have ended, without the lock, as the statistics do.
 *
 * The timer is counted at least once: else it would be counted as cancelled.
 *
 * BUG_RELAXED_NOTE: the driver does not release when it notes a vacant word.
 * BUG_RELAXED_HAS: who finds the word vacant does not acquire.
 * BUG_RELAXED_FILL: who fills the word again does not release its states.
 */
#include "stand_ins.h"

#include "base/word64.h"
#include "intake/intake.h"
#include "os/memory.h"
#include "os/system.h"

/* As with POSIX alone. */
bool system_empty_pages(void *p, size_t size)
{
	atom32 *state = &((struct slot *)p)->state;

	(void)size;
	atom32_store_release(state, 0);
	return true;
}

size_t pages_size(void)
{
	return SLOT_FIRST_NUMBER * sizeof(struct slot);
}

void *pages_alloc(size_t size)
{
	(void)size;
	return NULL;
}

void pages_free(void *p, size_t size)
{
	(void)p;
	(void)size;
}

#include "store/slots.c"

/* The first slot of the second chunk, which has two words. */
#define NUMBER (2 * SLOT_FIRST_NUMBER)

static struct bucket bucket;

#ifdef BUG_RELAXED_NOTE
#define RELAXED(of_fill) (!(of_fill))
#elif defined(BUG_RELAXED_FILL)
#define RELAXED(of_fill) (of_fill)
#else
#define RELAXED(of_fill) false
#endif

/* The slot's state is stored by vacancy_fill, anything else by note. */
static void store_release(atom32 *a, uint32_t value)
{
	if (RELAXED(a == &slots_get(&bucket.slots, NUMBER)->state))
		atom32_store(a, value);
	else
		atom32_store_release(a, value);
}

#define atom32_store_release store_release
#ifdef BUG_RELAXED_HAS
#define atom32_load_acquire atom32_load
#endif
#include "store/vacancy.h"
#undef atom32_store_release
#undef atom32_load_acquire

#include "intake/sweep.c"
#include "intake/walk.h"

static struct counter ended;
static char chunks[3 * SLOT_FIRST_NUMBER * sizeof(struct slot) +
		   2 * SLOT_WORD_BYTES + sizeof(atom32)]
	__attribute__((aligned(4096)));
static uint64_t counted;
static const struct slot *others; /* behind the one that is used */

/* It runs, and all other slots are free. */
static void setup(void)
{
	struct slots *t = &bucket.slots;
	struct slot *s;

	memset(&bucket, 0, sizeof(bucket));
	memset(&ended, 0, sizeof(ended));
	memset(chunks, 0, sizeof(chunks));
	slots_init(t, 0, 0);
	slots_add_chunk(t, 0, chunks);
	slots_add_chunk(t, 1, chunks + SLOT_FIRST_NUMBER * sizeof(struct slot));
	/* Both have memory. */
	t->vacancies = 0;
	atom32_store(slots_there(t, 2), 1 << 2 | 1 << 3);
	t->fresh = 3;
	t->least = 0;
	*slots_word(t, 1) = UINT64_MAX;
	*slots_word(t, 2) = ~UINT64_C(1);
	t->used = 1;
	s = slots_get(t, NUMBER);
	s->index = NUMBER;
	s->state = SLOT_RUNNING;
	others = s + 1;
	counted = 0;
}

static void end_and_give_back(void)
{
	struct slot *s = slots_get(&bucket.slots, NUMBER);
	struct sweeping sweep = {.at = 2};

	counter_add(&ended, 1);
	slot_free(s, atom32_load(&s->state));
	lock_acquire(&bucket.lock);
	slots_give(&bucket.slots, s, NUMBER);
	lock_release(&bucket.lock);
	sweep_step(&bucket, &sweep);
	weak_check(sweep.gave, "nothing was given back");
}

static void use_again(void)
{
	struct words w;

	lock_acquire(&bucket.lock);
	w = vacancy_take(&bucket.slots);
	lock_release(&bucket.lock);
	weak_check(w.first == NUMBER >> SLOT_WORD_LOG2, "it is not the one");
	vacancy_fill(&bucket.slots, w);
	lock_acquire(&bucket.lock);
	vacancy_add(&bucket.slots, w);
	lock_release(&bucket.lock);
}

static void drive(void)
{
	end_and_give_back();
	use_again();
}

static void count(void)
{
	struct seen_timer seen[WALK_STEP];

	counted = look_at_some(&bucket, NUMBER, false, seen);
	counted += counter_read(&ended);
}

static void check(void)
{
	weak_check(counted > 0, "a timer that has run counts as cancelled");
}

/* The other slots of the word are free at all times, as this one at the end. */
bool weak_is_plain(const volatile void *p)
{
	return p >= (const void *)others &&
	       p < (const void *)(others + WALK_STEP - 1);
}

const struct weak weak = {setup, {drive, count, NULL}, check};
