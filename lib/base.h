/* SPDX-License-Identifier: MIT */
/*
 * What every part needs from the compiler.
 */
#ifndef TT_BASE_H
#define TT_BASE_H

#define TT_EXPORT   __attribute__((visibility("default")))
#define TT_NOINLINE __attribute__((noinline))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * What threads on different CPUs write lies this far apart: two lines,
 * because several CPUs fetch them in pairs.
 */
#define TT_FAR_APART  128
#define TT_CACHE_LINE 64

#endif
