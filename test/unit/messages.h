/* SPDX-License-Identifier: MIT */
/*
 * What the library says on standard error, of descriptors.
 */
#pragma once

#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int messages;

/* Standard error goes into a file from now on. */
static inline void begin_messages(void)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	messages = fileno(f);
	ck_assert_int_ge(messages, 3);
	ck_assert_int_eq(fcntl(messages, F_SETFD, FD_CLOEXEC), 0);
	ck_assert_int_eq(dup2(messages, STDERR_FILENO), STDERR_FILENO);
}

static inline int reports(void)
{
	static const char what[] = "libtimerthread: somebody has ";
	char text[4096] = "";
	int n = 0;

	ck_assert_int_ge(pread(messages, text, sizeof(text) - 1, 0), 0);
	for (const char *s = text; (s = strstr(s, what)) != NULL; s++)
		n++;
	return n;
}
