/* SPDX-License-Identifier: MIT */
/*
 * Asio: an io_context with a thread that runs it, and a steady_timer in each
 * timer's memory.  The context is thread-safe, so any thread starts a wait and
 * cancels it.  It is told that one thread runs it (the hint is 1), and timers
 * have the context's executor itself, not one that may be any: both are what
 * its documentation has for speed.
 *
 * A cancelled wait is not gone: its handler is queued, and the loop's thread
 * calls it, with an error.  A wait that is over cannot be cancelled any more,
 * although its handler may be queued still.  Such a handler must not look into
 * the timer, whose memory may be another one's meanwhile: so "void_runs" says
 * which timers' next handler is not to do anything.  Handlers are called in the
 * order in which they were queued, so it is the right one.
 *
 * A steady_timer that waits for nothing owns nothing.  So it is not destroyed,
 * and made again if the context is another.
 */
#include "peer.h"

#include <algorithm>
#include <asio.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace
{

using steady_clock = std::chrono::steady_clock;
using steady_timer =
	asio::basic_waitable_timer<steady_clock,
				   asio::wait_traits<steady_clock>,
				   asio::io_context::executor_type>;
using work_guard = asio::executor_work_guard<asio::io_context::executor_type>;

struct timer {
	alignas(steady_timer) unsigned char memory[sizeof(steady_timer)];
	unsigned long instance; /* that the steady_timer belongs to */
	peer_fn *fn;
	void *arg;
	bool pending;

	steady_timer &steady()
	{
		return *std::launder(reinterpret_cast<steady_timer *>(memory));
	}
};

constexpr peer_info describe()
{
	peer_info p{};

	p.name = "asio";
	p.clock = "monotonic";
	p.resolution = 1;
	p.timer_size = sizeof(timer);
	p.cancel_tells = true;
	p.callbacks_wait = true;
	p.notes = "a cancelled wait still has the loop call its handler";
	return p;
}

std::unique_ptr<asio::io_context> context;
std::unique_ptr<work_guard> guard;
std::thread thread;
unsigned long instance;
thread_local bool in_loop;

std::mutex lock;
std::condition_variable is_over;
std::vector<timer *> void_runs;
timer *running;
int waiters;

/* Of a handler that came too late to be cancelled.  Locked. */
bool is_void(timer *t)
{
	auto it = std::find(void_runs.begin(), void_runs.end(), t);

	if (it == void_runs.end())
		return false;
	void_runs.erase(it);
	return true;
}

void expire(timer *t)
{
	std::unique_lock<std::mutex> guard_of_lock(lock);
	peer_fn *fn;
	void *arg;

	if (is_void(t))
		return;
	t->pending = false;
	fn = t->fn;
	arg = t->arg;
	running = t;
	guard_of_lock.unlock();
	fn(arg);
	guard_of_lock.lock();
	running = nullptr;
	if (waiters > 0)
		is_over.notify_all();
}

/* The timer is not looked into if the wait was cancelled. */
struct handler {
	timer *t;

	void operator()(const asio::error_code &error) const
	{
		if (!error)
			expire(t);
	}
};

steady_clock::time_point time_point_of(int64_t ns)
{
	return steady_clock::time_point(std::chrono::nanoseconds(ns));
}

void wait_until(timer *t, int64_t due)
{
	t->pending = true;
	t->steady().expires_at(time_point_of(due));
	t->steady().async_wait(handler{t});
}

/* True: its queued handler will do nothing.  Otherwise it has begun. */
bool make_void(timer *t)
{
	std::lock_guard<std::mutex> guard_of_lock(lock);

	if (!t->pending)
		return false;
	void_runs.push_back(t);
	t->pending = false;
	return true;
}

/* True: its function will not be called. */
bool revoke(timer *t)
{
	if (t->instance != instance)
		return false;
	if (t->steady().cancel() == 0)
		return make_void(t);
	t->pending = false;
	return true;
}

void wait_until_over(const timer *t)
{
	std::unique_lock<std::mutex> guard_of_lock(lock);

	waiters++;
	is_over.wait(guard_of_lock, [t] { return running != t; });
	waiters--;
}

void run()
{
	in_loop = true;
	context->run();
}

} // namespace

const struct peer_info peer = describe();

const char *peer_version(void)
{
	static char version[32];

	std::snprintf(version, sizeof(version), "%d.%d.%d",
		      ASIO_VERSION / 100000, ASIO_VERSION / 100 % 1000,
		      ASIO_VERSION % 100);
	return version;
}

void peer_start(const struct peer_setup *)
{
	instance++;
	context = std::make_unique<asio::io_context>(1);
	guard = std::make_unique<work_guard>(context->get_executor());
	thread = std::thread(run);
}

void peer_stop(void)
{
	context->stop();
	thread.join();
	guard.reset();
	context.reset();
	void_runs.clear();
}

void peer_enter(void)
{
}

void peer_leave(void)
{
}

int peer_schedule(void *memory, int64_t now, int64_t delay, peer_fn *fn,
		  void *arg)
{
	timer *t = static_cast<timer *>(memory);

	if (t->instance != instance)
		new (t->memory) steady_timer(context->get_executor());
	t->instance = instance;
	t->fn = fn;
	t->arg = arg;
	try {
		wait_until(t, now + delay);
	} catch (const std::bad_alloc &) {
		t->pending = false;
		return -ENOMEM;
	}
	return 0;
}

int peer_cancel(void *memory)
{
	timer *t = static_cast<timer *>(memory);

	if (revoke(t))
		return 1;
	if (!in_loop)
		wait_until_over(t);
	return 0;
}

int peer_reschedule(void *memory, int64_t now, int64_t delay)
{
	timer *t = static_cast<timer *>(memory);

	if (!revoke(t))
		return 1;
	wait_until(t, now + delay);
	return 0;
}
