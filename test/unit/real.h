/* SPDX-License-Identifier: MIT */
/*
 * The C library's function behind one that a test defines itself.  On a 32-bit
 * machine with a 64-bit time_t, those with times have another name there.
 */
#ifndef TT_REAL_H
#define TT_REAL_H

#include <dlfcn.h>
#include <time.h>

#if defined(__USE_TIME_BITS64) && defined(__TIMESIZE) && __TIMESIZE == 32
#define real_with_times(name) dlsym(RTLD_NEXT, "__" name "64")
#else
#define real_with_times(name) dlsym(RTLD_NEXT, name)
#endif

#endif
