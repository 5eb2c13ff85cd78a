// SPDX-License-Identifier: MIT
//
// A callback that throws.  The program would catch it around the call that
// runs the timers; but it is terminated where the exception was thrown.  Or, as
// "throws drain", the function that a drain calls: that is caught, and what was
// drained until then is counted.
#include <timerthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

static bool in_callback;

static void terminated()
{
	std::puts(in_callback ? "terminated in the callback"
			      : "terminated later");
	std::fflush(stdout);
	std::_Exit(0);
}

struct Scope {
	Scope()
	{
		in_callback = true;
	}
	~Scope()
	{
		in_callback = false;
	}
};

static void callback(void *)
{
	Scope scope;

	throw 1;
}

static void visit(timerthread_id, timerthread_fn *, void *arg, void *)
{
	if (arg)
		throw 1;
}

static std::uint64_t drained(struct timerthread *tt)
{
	std::uint64_t n = 0;

	timerthread_get_stat(tt, TIMERTHREAD_STAT_DRAINED, &n);
	return n;
}

static int drain()
{
	struct timerthread *tt;
	int caught = 0;

	if (timerthread_create(&tt) != 0 ||
	    timerthread_set_buckets(tt, 1) != 0 ||
	    timerthread_start_virtual(tt, 0) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		timerthread_schedule(tt, 1, callback, i == 1 ? tt : NULL, NULL);
	try {
		timerthread_drain(tt, visit, NULL);
	} catch (int n) {
		caught = n;
	}
	if (caught == 1 && drained(tt) == 2 &&
	    timerthread_drain(tt, visit, NULL) == 1 && drained(tt) == 3)
		std::puts("caught and counted");
	timerthread_destroy(tt);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && std::strcmp(argv[1], "drain") == 0)
		return drain();

	bool polled = argc == 2 && std::strcmp(argv[1], "polled") == 0;
	struct timerthread *tt;
	int fd;

	std::set_terminate(terminated);
	if (timerthread_create(&tt) != 0)
		return 1;
	if ((polled ? timerthread_start_polled(tt, &fd)
		    : timerthread_start(tt, NULL)) != 0)
		return 1;
	timerthread_schedule(tt, 0, callback, NULL, NULL);
	try {
		while (!polled || timerthread_dispatch(tt) >= 0)
			;
	} catch (...) {
		std::puts("caught");
	}
	return 1;
}
