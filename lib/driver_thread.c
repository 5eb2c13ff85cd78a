/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "driver_thread.h"

#include <signal.h>
#include <sys/prctl.h>

/*
 * By default the kernel may end a sleep 50 us late to save wake-ups, which
 * here would be the larger part of a timer's lateness.
 */
static void set_timer_slack(void)
{
	prctl(PR_SET_TIMERSLACK, 1UL);
}

static void block_all_signals(sigset_t *ret_old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, ret_old);
}

/*
 * The instance whose thread this is.  Comparing thread ids would not do: that
 * of a thread that was joined goes to the next one that is created.  In the
 * static block, so that it takes no call into the dynamic linker.
 */
static _Thread_local const struct timerthread *own
	__attribute__((tls_model("initial-exec")));

/*
 * In which generation that was so.  The child that a callback has forked has
 * this thread's memory, but is not the thread of what it creates, which may
 * get the address of what it has destroyed.
 */
static _Thread_local uint32_t own_since
	__attribute__((tls_model("initial-exec")));

bool driver_thread_is_self(const struct timerthread *tt)
{
	return own == tt && own_since == fork_generation();
}

static void *thread_main(void *arg)
{
	struct timerthread *tt = arg;

	own = tt;
	own_since = fork_generation();
	/* The attributes may have asked for another mask. */
	block_all_signals(NULL);
	pthread_setname_np(pthread_self(), tt->options.name);
	set_timer_slack();
	if (tt->options.on_start)
		fork_call(tt->options.on_start, tt->options.hook_arg);
	while (!wakeup_stopping(&tt->wakeup))
		wakeup_sleep(&tt->wakeup, engine_run(&tt->engine));
	if (tt->options.on_exit)
		fork_call(tt->options.on_exit, tt->options.hook_arg);
	own = NULL;
	instance_thread_ends(tt);
	return NULL;
}

int driver_thread_start(struct timerthread *tt, const pthread_attr_t *attr)
{
	sigset_t old;
	int r;

	/* A thread inherits its creator's mask: no moment without it. */
	block_all_signals(&old);
	r = pthread_create(&tt->thread, attr, thread_main, tt);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}
