/* SPDX-License-Identifier: MIT */
/*
 * Included before all else, this lets Linux lack what other systems lack: see
 * shim.c.
 */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <time.h>
#undef CLOCK_BOOTTIME

/* For lib/os/posix/futex.c. */
#define STEPS_END_NO_WAIT
