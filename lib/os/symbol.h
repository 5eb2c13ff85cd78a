/* SPDX-License-Identifier: MIT */
/*
 * Finds an address in the files that the process has loaded.  The name is the
 * nearest one before the address that the dynamic linker knows.  For an address
 * in the program itself there is usually none; then pass the place in the file
 * to addr2line(1).
 *
 * Any thread.  The result is valid while that file is loaded.
 */
#ifndef TT_SYMBOL_H
#define TT_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

struct symbol {
	const char *file;
	size_t in_file;   /* distance from the beginning of the file */
	const char *name; /* NULL: there is none */
	size_t in_name;
};

/* False: the address is in no file. */
bool symbol_find(const void *address, struct symbol *ret);

#endif
