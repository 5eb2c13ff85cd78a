// SPDX-License-Identifier: MIT
//
// A function of the program that throws: a callback; or, as "throws cancel_all", the
// function that cancel_all calls.  The program would catch it around the call that
// runs it; but it is terminated where the exception was thrown.
#include <timerthread.h>

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

static void visit(timerthread_id, timerthread_fn *, void *, void *)
{
	callback(NULL);
}

int main(int argc, char **argv)
{
	bool polled = argc == 2 && std::strcmp(argv[1], "polled") == 0;
	bool all = argc == 2 && std::strcmp(argv[1], "cancel_all") == 0;
	struct timerthread *tt;
	int fd;

	std::set_terminate(terminated);
	if (timerthread_create(&tt) != 0)
		return 1;
	if ((polled ? timerthread_start_polled(tt, &fd)
		    : timerthread_start(tt, NULL)) != 0)
		return 1;
	timerthread_schedule(tt, all ? TIMERTHREAD_NEVER : 0, callback, NULL,
			     NULL);
	try {
		if (all)
			timerthread_cancel_all(tt, visit, NULL);
		while (!polled || timerthread_dispatch(tt) >= 0)
			;
	} catch (...) {
		std::puts("caught");
	}
	return 1;
}
