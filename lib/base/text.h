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

#include <stdbool.h>
#include <stddef.h>

struct text {
	/* The owner sets these, and all else to zero. */
	char *to; /* the buffer; may be NULL if size is 0 */
	size_t size;
	bool to_file; /* through the buffer; else it stays there */
	int fd;
	/* For text.c only. */
	size_t held;   /* bytes in the buffer now */
	size_t length; /* of the whole text so far */
	int error;     /* a negative errno: nothing more is written */
};

/* The length of the text, at most INT_MAX, or a negative errno. */
INTERNAL int text_end(struct text *t);

INTERNAL __attribute__((format(printf, 2, 3))) void
text_add(struct text *t, const char *format, ...);

/* Nanoseconds as seconds, with nine decimals. */
struct seconds {
	char text[22];
};
INTERNAL struct seconds text_seconds(uint64_t ns);

/*
 * An address, and where it is in the files that the process has loaded.  The
 * name is the nearest one before it that the dynamic linker knows.  For an
 * address in the program itself there is usually none; then pass the place in
 * the file to addr2line(1).
 */
INTERNAL void text_add_address(struct text *t, const void *address);

/* Writes one line: the library's name, then `what`, at most 110 bytes of it. */
INTERNAL void report(const char *what);
