/* SPDX-License-Identifier: MIT */
/*
 * The calls that set and wake a driver's sleeper.
 *
 * Who includes this is linked with $(sleeper_ldflags), and says what is done
 * before each of these calls, and after it.
 */
#pragma once

#include "os/sleeper.h"

static void before_call(void);
static void after_call(int64_t t); /* 0: a wake */

void __real_sleeper_set(struct sleeper *s, int64_t t);
void __wrap_sleeper_set(struct sleeper *s, int64_t t);
void __real_sleeper_wake(struct sleeper *s, atom32 *word);
void __wrap_sleeper_wake(struct sleeper *s, atom32 *word);

void __wrap_sleeper_set(struct sleeper *s, int64_t t)
{
	before_call();
	__real_sleeper_set(s, t);
	after_call(t);
}

void __wrap_sleeper_wake(struct sleeper *s, atom32 *word)
{
	before_call();
	__real_sleeper_wake(s, word);
	after_call(0);
}
