/* SPDX-License-Identifier: MIT */
/*
 * What an address is in the files that the process has loaded.  The name is the
 * nearest one before it that the dynamic linker knows; for a program there
 * is usually none, and then its place in the file serves addr2line(1).
 *
 * Any thread.  The answer is good while that file is loaded.
 */
#ifndef TT_SYMBOL_H
#define TT_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

struct symbol {
	const char *file;
	size_t in_file;   /* how far it is from where the file begins */
	const char *name; /* NULL: there is none */
	size_t in_name;
};

/* False: it is in no file. */
bool symbol_find(const void *address, struct symbol *ret);

#endif
