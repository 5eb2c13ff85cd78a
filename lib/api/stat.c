/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "api/stat.h"

_Static_assert(offsetof(struct facts, stats) == 0, "offsets are the same");

#define AT(member)          offsetof(struct facts, member)
#define STAT(which, member) TIMERTHREAD_STAT_##which, AT(stats.member)

const struct fact stat_table[] = {
	{STAT(PENDING, pending), "pending_timers", GAUGE, NUMBER,
	 "Timers that wait for their callback to begin."},
	{STAT(RUNNING, running), "running_timers", GAUGE, NUMBER,
	 "Timers whose callback is running."},
	{STAT(DEAD, dead), "dead_timers", GAUGE, NUMBER,
	 "Cancelled timers whose memory was not yet recycled."},
	{STAT(SLOTS, slots), "slots", GAUGE, NUMBER,
	 "Timers that there is memory for."},
	{STAT(BYTES, bytes), "memory_bytes", GAUGE, BYTES,
	 "Memory that the instance has taken."},
	{STAT(SCHEDULED, scheduled), "scheduled_timers", COUNTER, NUMBER,
	 "Timers that were scheduled."},
	{STAT(CANCELLED, cancelled), "cancelled_timers", COUNTER, NUMBER,
	 "Timers that were cancelled, drained ones included."},
	{STAT(DRAINED, drained), "drained_timers", COUNTER, NUMBER,
	 "Timers that were drained."},
	{STAT(RECYCLED, recycled), "recycled_timers", COUNTER, NUMBER,
	 "Cancelled timers whose memory was recycled."},
	{STAT(FIRED, fired), "fired_callbacks", COUNTER, NUMBER,
	 "Callbacks that have returned."},
	{STAT(RESCHEDULED, rescheduled), "rescheduled_calls", COUNTER, NUMBER,
	 "Calls that rescheduled a timer."},
	{STAT(CAPPED, capped), "capped_calls", COUNTER, NUMBER,
	 "Calls that scheduled no timer because of the cap."},
	{STAT(NO_MEMORY, no_memory), "no_memory_calls", COUNTER, NUMBER,
	 "Calls that scheduled no timer for want of memory."},
	{STAT(WAKEUPS, wakeups), "wakeups", COUNTER, NUMBER,
	 "Sleeps of the driver that have ended."},
	{STAT(EARLY_WAKEUPS, early_wakeups), "early_wakeups", COUNTER, NUMBER,
	 "Those that ended because an earlier timer was scheduled."},
	{STAT(AWAKE_TIME, awake_time), "awake_seconds", COUNTER, SECONDS,
	 "Time that the driver was awake."},
	{STAT(RUN_TIME, run_time), NULL, COUNTER, SECONDS, NULL},
	{STAT(LONGEST_RUN, longest_run), "longest_run_seconds", GAUGE, SECONDS,
	 "The longest time that a callback has run."},
	{STAT(LARGEST_LATENESS, largest_lateness), "largest_lateness_seconds",
	 GAUGE, SECONDS, "The longest time from a deadline to its callback."},
	{NO_STAT, AT(stats.current_run), "current_run_seconds", GAUGE, SECONDS,
	 "How long the callback that runs the longest runs now."},
	{NO_STAT, AT(measured.lateness), "lateness_seconds", HISTOGRAM, SECONDS,
	 "From the deadline to the callback."},
	{NO_STAT, AT(measured.run_time), "run_seconds", HISTOGRAM, SECONDS,
	 "How long callbacks have run."},
};

const struct fact *const stat_end =
	stat_table + sizeof(stat_table) / sizeof(stat_table[0]);
