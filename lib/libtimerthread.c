/* SPDX-License-Identifier: MIT */
/*
 * The library, as one unit for the compiler: what its sources share is static
 * here (see base/base.h).  The lowest wing is first.
 */
#include <config.h>

#define TT_ONE_UNIT

#include "base/keep.c"

#include "os/call.c"
#include "os/clock.c"
#include "os/fork.c"
#include "os/lock.c"
#include "os/memory.c"
#include "os/thread.c"
#include "os/tool.c"
#ifdef TT_OS_LINUX
#include "os/linux/futex.c"
#include "os/linux/system.c"
#else
#include "os/posix/futex.c"
#include "os/posix/system.c"
#endif
#ifdef TT_TIMERFD
#include "os/linux/sleeper.c"
#else
#include "os/posix/sleeper.c"
#endif

#include "store/block.c"
#include "store/slot.c"
#include "store/slots.c"

#include "intake/arrival.c"
#include "intake/bucket.c"
#include "intake/expiry.c"
#include "intake/recycle.c"
#include "intake/schedule.c"
#include "intake/sweep.c"
#include "intake/wakeup.c"

#include "engine/engine.c"
#include "engine/fire.c"
#include "engine/inside.c"
#include "engine/reclaim.c"
#include "engine/turn.c"

#include "api/cancel_many.c"
#include "api/default.c"
#include "api/driver.c"
#include "api/driver_thread.c"
#include "api/executor.c"
#include "api/instance.c"
#include "api/instances.c"
#include "api/life.c"
#include "api/options.c"
#include "api/start.c"
#include "api/time.c"
#include "api/timerthread.c"

#include "view/dump.c"
#include "view/metrics.c"
#include "view/stats.c"
