/* SPDX-License-Identifier: MIT */
/*
 * The atomic operations: what they return; and what they order, which only
 * ThreadSanitizer sees on most machines: a message that is passed by one that
 * does not release, or does not acquire, is a data race.
 */
#include "base/atomic.h"
#include "harness.h"

#include <pthread.h>
#include <sched.h>

static atom32 word;
static atomword wide;
static uint32_t message; /* not atomic */

/*
 * Each makes it 1, and says so.  And each looks whether it is 1.
 */
static void send_by_store(void)
{
	atom32_store_release(&word, 1);
}

static void send_by_swap(void)
{
	ck_assert_uint_eq(atom32_swap(&word, 0, 1), 0);
}

static void send_by_add(void)
{
	ck_assert_uint_eq(atom32_add(&word, 1), 0);
}

static void send_by_wide_store(void)
{
	atomword_store_release(&wide, 1);
}

static void send_by_wide_swap(void)
{
	ck_assert(atomword_swap(&wide, 0, 1));
}

static bool got_by_load(void)
{
	return atom32_load_acquire(&word) == 1;
}

static bool got_by_swap_acquire(void)
{
	return atom32_swap_acquire(&word, 1, 2) == 1;
}

/* It acquires, too, where it replaces nothing. */
static bool got_by_vain_swap_acquire(void)
{
	return atom32_swap_acquire(&word, 7, 8) == 1;
}

static bool got_by_swap(void)
{
	return atom32_swap(&word, 1, 2) == 1;
}

static bool got_by_add(void)
{
	return atom32_add(&word, 0) == 1;
}

static bool got_by_wide_load(void)
{
	return atomword_load_acquire(&wide) == 1;
}

static bool got_by_wide_swap(void)
{
	return atomword_swap(&wide, 1, 2);
}

static const struct pass {
	void (*send)(void);
	bool (*got)(void);
} passes[] = {
	{send_by_store, got_by_load},
	{send_by_swap, got_by_load},
	{send_by_add, got_by_load},
	{send_by_store, got_by_swap_acquire},
	{send_by_store, got_by_vain_swap_acquire},
	{send_by_store, got_by_swap},
	{send_by_store, got_by_add},
	{send_by_wide_store, got_by_wide_load},
	{send_by_wide_swap, got_by_wide_load},
	{send_by_wide_store, got_by_wide_swap},
};

enum { PASSES = sizeof(passes) / sizeof(passes[0]), TIMES = 20 };

static void *send_message(void *pass)
{
	message = 5;
	((const struct pass *)pass)->send();
	return NULL;
}

static void pass_message(const struct pass *p)
{
	pthread_t t;

	atom32_store(&word, 0);
	atomword_store(&wide, 0);
	message = 0;
	ck_assert_int_eq(
		pthread_create(&t, NULL, send_message, (void *)(uintptr_t)p),
		0);
	while (!p->got())
		sched_yield();
	ck_assert_uint_eq(message, 5);
	pthread_join(t, NULL);
}

START_TEST(messages_are_passed)
{
	for (int i = 0; i < PASSES * TIMES; i++)
		pass_message(&passes[i % PASSES]);
}
END_TEST

START_TEST(what_they_return)
{
	atom32_store(&word, UINT32_MAX);
	ck_assert_uint_eq(atom32_load(&word), UINT32_MAX);
	ck_assert_uint_eq(atom32_add(&word, 3), UINT32_MAX);
	ck_assert_uint_eq(atom32_load(&word), 2);
	ck_assert_uint_eq(atom32_swap(&word, 3, 4), 2);
	ck_assert_uint_eq(atom32_swap_acquire(&word, 3, 4), 2);
	ck_assert_uint_eq(atom32_load(&word), 2);
	ck_assert_uint_eq(atom32_swap_acquire(&word, 2, 3), 2);
	ck_assert_uint_eq(atom32_swap(&word, 3, 4), 3);
	ck_assert_uint_eq(atom32_load_acquire(&word), 4);

	atomword_store(&wide, UINTPTR_MAX);
	ck_assert_uint_eq(atomword_load(&wide), UINTPTR_MAX);
	atomword_add(&wide, 3);
	ck_assert_uint_eq(atomword_load_acquire(&wide), 2);
	ck_assert(!atomword_swap(&wide, 3, 4));
	ck_assert_uint_eq(atomword_load(&wide), 2);
	ck_assert(atomword_swap(&wide, 2, 4));
	ck_assert_uint_eq(atomword_load(&wide), 4);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		messages_are_passed,
		what_they_return,
	};

	return RUN_TESTS("atomic", tests);
}
