/* SPDX-License-Identifier: MIT */
/*
 * Text that is made piece by piece, into a buffer or a file; and messages on
 * standard error, for a programmer who looks for a mistake.
 *
 * Guarantees:
 *  1. A buffer holds as much of the text as fits, and ends with a zero byte if
 *     it has room for one.  The reported length is that of the whole text.
 *  2. The whole text is written to a file, or text_end returns the error.
 *  3. No memory is allocated, and report takes no lock.
 *  4. The locale does not matter.
 *
 * report: any thread.  The rest: the thread that owns the text.
 */
#pragma once

#include "base/base.h"
#include "base/keep.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

struct text {
	/* The owner sets these, and all else to zero. */
	char *to; /* the buffer; may be NULL if size is 0 */
	size_t size;
	bool to_file; /* through the buffer; else it stays there */
	int fd;
	/* For the functions below only. */
	size_t held;   /* bytes in the buffer now */
	size_t length; /* of the whole text so far */
	int error;     /* a negative errno: nothing more is written */
};

/* A longer piece may be cut on its way to a file. */
#define TEXT_PIECE_MAX 512

/* write is a cancellation point. */
static void text_flush(struct text *t)
{
	KEEP_THREAD;
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

/* The length of the text, at most INT_MAX, or a negative errno. */
TT_PART int text_end(struct text *t)
{
	if (t->to_file)
		text_flush(t);
	else if (t->size > 0)
		t->to[t->held] = '\0';
	if (t->error != 0)
		return t->error;
	return t->length < INT_MAX ? (int)t->length : INT_MAX;
}

/*
 * A buffer always has room for the zero byte behind its text, unless its size
 * is 0.  vsnprintf takes no size above INT_MAX.
 */
TT_PART __attribute__((format(printf, 2, 3))) void
text_add(struct text *t, const char *format, ...)
{
	va_list args;
	size_t room, n;
	int r;

	if (t->to_file && t->size - t->held < TEXT_PIECE_MAX)
		text_flush(t);
	room = t->size - t->held;
	va_start(args, format);
	r = vsnprintf(room > 0 ? t->to + t->held : NULL,
		      room < INT_MAX ? room : INT_MAX, format, args);
	va_end(args);
	n = r > 0 ? (size_t)r : 0;
	t->length += n;
	t->held += n < room ? n : room - (room > 0);
}

struct seconds {
	char text[22];
};

/* Nanoseconds as seconds, with nine decimals. */
TT_PART struct seconds text_seconds(uint64_t ns)
{
	struct seconds s;
	struct text t = {.to = s.text, .size = sizeof(s.text)};

	text_add(&t, "%" PRIu64 ".%09" PRIu64, ns / 1000000000,
		 ns % 1000000000);
	text_end(&t);
	return s;
}

/*
 * An address, and where it is in the files that the process has loaded.  The
 * name is the nearest one before it that the dynamic linker knows.  For an
 * address in the program itself there is usually none; then pass the place in
 * the file to addr2line(1).
 *
 * It is not inlined: gcc 12 would warn of a dangling pointer, with -O3.
 */
TT_PART TT_NOINLINE void text_add_address(struct text *t, const void *address)
{
	text_add(t, "%p", address);
#ifdef HAVE_DLADDR
	const char *at = address;
	Dl_info i;

	/* On illumos, it takes no pointer to what is constant. */
	if (dladdr((void *)(uintptr_t)address, &i) == 0)
		return;
	text_add(t, " (%s", i.dli_fname);
	text_add(t, "+%#tx", at - (const char *)i.dli_fbase);
	if (i.dli_sname) {
		text_add(t, ": %s", i.dli_sname);
		text_add(t, "+%#tx", at - (const char *)i.dli_saddr);
	}
	text_add(t, ")");
#endif
}

/*
 * Writes one line: the library's name, then `what`, at most 110 bytes of it.
 *
 * One system call, so that lines of several threads are not mixed.  It is not
 * inlined, because it uses errno: see base.h.
 */
TT_PART TT_NOINLINE void report(const char *what)
{
	KEEP_ERRNO;
	char line[128];
	struct text t = {.to = line,
			 .size = sizeof(line),
			 .to_file = true,
			 .fd = STDERR_FILENO};

	text_add(&t, "libtimerthread: %s\n", what);
	/* If standard error is closed, nobody is left to be told. */
	(void)text_end(&t);
}
