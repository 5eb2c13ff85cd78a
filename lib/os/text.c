/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A longer piece is cut. */
#define PIECE_MAX 512

static void flush(struct text *t)
{
	size_t done = 0;

	while (done < t->held && t->error == 0) {
		ssize_t n = write(t->fd, t->to + done, t->held - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			t->error = -EIO; /* else this would not end */
		else if (errno != EINTR)
			t->error = -errno;
	}
	t->held = 0;
}

static void add(struct text *t, const char *piece, size_t n)
{
	size_t room;

	t->length += n;
	if (t->to_file && n > t->size - t->held)
		flush(t);
	/* The last byte of a buffer is for the zero byte. */
	room = t->size - t->held;
	if (!t->to_file)
		room -= room > 0;
	if (n > room)
		n = room;
	if (n > 0)
		memcpy(t->to + t->held, piece, n);
	t->held += n;
}

int text_end(struct text *t)
{
	if (t->to_file)
		flush(t);
	else if (t->size > 0)
		t->to[t->held] = '\0';
	if (t->error != 0)
		return t->error;
	return t->length < INT_MAX ? (int)t->length : INT_MAX;
}

void text_add(struct text *t, const char *format, ...)
{
	char piece[PIECE_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(piece, sizeof(piece), format, args);
	va_end(args);
	if (n > 0)
		add(t, piece, n < PIECE_MAX ? (size_t)n : PIECE_MAX - 1);
}

void text_add_seconds(struct text *t, uint64_t ns)
{
	text_add(t, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void text_add_address(struct text *t, const void *address)
{
	const char *at = address;
	Dl_info i;

	text_add(t, "%p", address);
	if (dladdr(address, &i) == 0)
		return;
	text_add(t, " (%s", i.dli_fname);
	text_add(t, "+%#tx", at - (const char *)i.dli_fbase);
	if (i.dli_sname) {
		text_add(t, ": %s", i.dli_sname);
		text_add(t, "+%#tx", at - (const char *)i.dli_saddr);
	}
	text_add(t, ")");
}
