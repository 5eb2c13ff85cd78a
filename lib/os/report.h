/* SPDX-License-Identifier: MIT */
/*
 * Messages on standard error, for a programmer who looks for a mistake.
 *
 * Any thread.  They take no lock and no memory.
 */
#ifndef TT_REPORT_H
#define TT_REPORT_H

/* Writes what, after the library's name, as one line. */
void report(const char *what);

/* The same, unless this has reported in this process before. */
void report_once(const char *what);

#endif
