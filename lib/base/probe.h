/* SPDX-License-Identifier: MIT */
/*
 * Static probes.  Tracers (bpftrace, perf, SystemTap, gdb) find them in the
 * library by name; the provider is "timerthread".  A probe that is switched off
 * is one instruction that does nothing, and its arguments stay where they are
 * anyway.  timerthread-watching(7) lists the probes.  Users rely on their names
 * and arguments.
 *
 * No lock of a bucket is held at a probe, because one that is switched on costs
 * a microsecond.
 */
#pragma once

#ifdef HAVE_SDT

#include <sys/sdt.h>

#define PROBE1(name, a)          DTRACE_PROBE1(timerthread, name, a)
#define PROBE2(name, a, b)       DTRACE_PROBE2(timerthread, name, a, b)
#define PROBE3(name, a, b, c)    DTRACE_PROBE3(timerthread, name, a, b, c)
#define PROBE4(name, a, b, c, d) DTRACE_PROBE4(timerthread, name, a, b, c, d)

#else

#define PROBE1(name, a)          ((void)(a))
#define PROBE2(name, a, b)       ((void)(a), (void)(b))
#define PROBE3(name, a, b, c)    ((void)(a), (void)(b), (void)(c))
#define PROBE4(name, a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))

#endif
