/* SPDX-License-Identifier: MIT */
/*
 * Messages on standard error, for a programmer who looks for a mistake.
 *
 * Any thread.  This takes no lock and allocates no memory.
 */
#ifndef TT_REPORT_H
#define TT_REPORT_H

/* Writes one line: the library's name, then `what`, at most 110 bytes of it. */
void report(const char *what);

#endif
