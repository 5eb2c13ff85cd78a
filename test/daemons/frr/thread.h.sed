# SPDX-License-Identifier: MIT
#
# What FRR's lib/thread.h says of the timers in thread_timer.c.

/(thread_timer_list);/s/HEAP/DLIST/
/thread_timer_list_head timer;/a\
	struct timerthread *timer_tt; /* NULL until the loop runs */\
	int timer_fd;\
	bool timer_late;
/thread_timer_list_item timeritem;/a\
	uint64_t timer_id;
/Internal libfrr exports/i\
/* thread_timer.c; the caller has the master's lock */\
extern void thread_timers_start(struct thread_master *m);\
extern void thread_timers_run(struct thread_master *m);\
extern void thread_timer_add(struct thread *thread);\
extern void thread_timer_del(struct thread *thread);\

