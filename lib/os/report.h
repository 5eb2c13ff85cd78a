/* SPDX-License-Identifier: MIT */
/*
 * Messages on standard error, for a programmer who looks for a mistake.
 *
 * Any thread.  These functions take no lock and allocate no memory.
 */
#ifndef TT_REPORT_H
#define TT_REPORT_H

/* Writes one line: the library's name, then `what`. */
void report(const char *what);

/* The same, but in a process only the first call writes. */
void report_once(const char *what);

#endif
