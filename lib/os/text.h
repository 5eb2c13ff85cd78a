/* SPDX-License-Identifier: MIT */
/*
 * Text that is made piece by piece, into a buffer or a file.
 *
 * Guarantees:
 *  1. A buffer ends with a zero byte, if it has room for one, and holds as much
 *     of the text as fits.  How long the text is does not depend on that.
 *  2. To a file all is written, or text_end returns the error.  No memory is
 *     taken.
 *  3. The locale does not matter.
 *
 * The thread that has the text.
 */
#ifndef TT_TEXT_H
#define TT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *to;
	size_t size;
	size_t held;   /* bytes there now */
	size_t length; /* of the whole text by now */
	bool to_file;  /* else it stays in the buffer */
	int fd;
	int error; /* a negative errno; nothing is written any more */
};

/* Into a buffer; to may be NULL if size is 0. */
void text_begin(struct text *t, char *to, size_t size);

/* To a file, by way of a buffer of some bytes. */
void text_begin_file(struct text *t, int fd, char *buffer, size_t size);

/* The length of the text, INT_MAX at most, or a negative errno. */
int text_end(struct text *t);

__attribute__((format(printf, 2, 3))) void text_add(struct text *t,
						    const char *format, ...);

/* Nanoseconds as seconds, with nine decimals. */
void text_add_seconds(struct text *t, uint64_t ns);

#endif
