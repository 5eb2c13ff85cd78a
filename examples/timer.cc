// SPDX-License-Identifier: MIT
/*
 * timer: what a timer of timer.hh can do, in C++14.
 *
 *     c++ -std=c++14 timer.cc -o timer \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Nothing here depends on how quick the machine is: what must happen is waited
 * for, and what must not happen has an hour.
 */
#include "timer.hh"
#include <timerthread.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <limits>
#include <memory>
#include <ratio>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

static int failures;

static void expect(bool good, const char *what)
{
	std::printf("%s: %s\n", good ? "so" : "NOT SO", what);
	failures += !good;
}

// An instance with a timer thread.
class instance
{
      public:
	instance()
	{
		int r = timerthread_create(&tt_);

		if (r == 0)
			r = timerthread_start(tt_, nullptr);
		if (r < 0)
			throw std::system_error(-r, std::generic_category());
	}
	instance(const instance &) = delete;
	~instance()
	{
		timerthread_destroy(tt_);
	}
	operator timerthread *() const
	{
		return tt_;
	}

      private:
	timerthread *tt_;
};

static std::chrono::nanoseconds now(timerthread *tt)
{
	return std::chrono::nanoseconds(timerthread_now(tt));
}

static void in_time(timerthread *tt)
{
	timer t{tt, [] { std::abort(); }};

	expect(!t.pending(), "a new timer is not armed");
	t.after(1h);
	expect(t.pending(), "after an hour: it is pending");
	expect(t.stop(), "stopped: it will not run");
	expect(!t.pending() && !t.stop(), "then it is not armed");
	t.after(1h); // and destroyed while it is pending
}

// The ways to give a deadline; one timer, which is armed for each.
static void expires(timerthread *tt)
{
	std::promise<void> *expired = nullptr;
	timer t{tt, [&] { expired->set_value(); }};
	const auto once = [&](auto arm) {
		std::promise<void> promise;

		expired = &promise;
		arm();
		promise.get_future().wait();
		t.stop(); // waits: set_value() has returned
	};

	once([&] { t.after(1ms); });
	once([&] { t.after(0s); });
	once([&] { t.after(-1s); });
	once([&] { t.at(now(tt) + 1ms); });
	once([&] { t.at(std::chrono::steady_clock::now() + 1ms); });
	once([&] {
		t.after(1h);
		t.after(0s);
	});
	expect(!t.pending(), "it ran each time that it was armed");
}

// Durations that are too long to be counted in nanoseconds.  What has expired
// runs before a timer that is armed later.
static void far_away(timerthread *tt)
{
	using years = std::chrono::duration<int, std::ratio<31556952>>;
	using seconds = std::chrono::duration<double>;
	using limits = std::numeric_limits<double>;
	timer never{tt, [] { std::abort(); }};
	const auto at_once = [&](auto arm) {
		std::promise<void> expired;
		timer t{tt, [&] { expired.set_value(); }};

		arm(t);
		expired.get_future().wait();
		t.stop();
	};
	const auto far = [&](auto delay) {
		never.after(delay);
		at_once([&](timer &t) { t.after(-delay); });
		never.at(delay);
		at_once([&](timer &t) { t.at(-delay); });
	};

	far(std::chrono::hours::max());
	far(std::chrono::milliseconds::max());
	far(std::chrono::nanoseconds::max());
	far(years::max());
	far(years(300));
	far(seconds::max());
	far(seconds(limits::infinity()));
	never.at(std::chrono::time_point<std::chrono::steady_clock,
					 std::chrono::hours>::max());
	at_once([](timer &t) { t.after(seconds(limits::quiet_NaN())); });
	at_once([](timer &t) { t.after(seconds(0.001)); });
	at_once([](timer &t) { t.after(std::chrono::hours::min()); });
	expect(never.stop(), "what is too far away does not expire");
}

static void armed_by_its_function(timerthread *tt)
{
	std::promise<void> done;
	int runs = 0;
	timer t{tt, [&] {
			if (++runs < 10)
				t.after(0s);
			else
				done.set_value();
		}};

	t.after(0s);
	done.get_future().wait();
	t.stop();
	expect(runs == 10 && !t.pending(), "armed ten times by its function");
}

static void stopped_by_its_function(timerthread *tt)
{
	std::promise<bool> stopped;
	timer t{tt, [&] {
			t.after(0s);
			stopped.set_value(t.stop());
		}};

	t.after(0s);
	expect(!stopped.get_future().get(), "its function can stop it");
	t.stop();
	expect(!t.pending(), "what its function armed it for is taken back");
}

// It waits for the function, on any thread.
static void stopped_by_another_thread(timerthread *tt)
{
	std::promise<void> began;
	std::atomic<bool> stopping{false};
	bool ended = false; // no atomic: stop() makes it visible
	timer t{tt, [&] {
			began.set_value();
			while (!stopping)
				std::this_thread::yield();
			std::this_thread::sleep_for(1ms);
			ended = true;
		}};

	t.after(0s);
	began.get_future().wait();
	std::thread([&] {
		stopping = true;
		expect(!t.stop(), "it is too late to take that run back");
		expect(ended, "stop waits for the function");
	}).join();
}

static void armed_by_many_threads(timerthread *tt)
{
	std::atomic<int> inside{0}, armed{0}, taken_back{0}, runs{0};
	timer t{tt, [&] {
			if (inside++ != 0)
				std::abort();
			runs++;
			inside--;
		}};
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			for (int j = 0; j < 500; j++) {
				t.after(std::chrono::microseconds(j % 5));
				armed++;
				taken_back += t.stop();
			}
		});
	for (auto &thread : threads)
		thread.join();
	expect(!t.pending() && runs + taken_back <= armed,
	       "each run was asked for, on four threads");
}

// Sets a flag when the function that has captured it ends.
class canary
{
      public:
	explicit canary(std::atomic<bool> *gone) : gone_(gone)
	{
	}
	canary(canary &&other) noexcept
	    : gone_(std::exchange(other.gone_, nullptr))
	{
	}
	~canary()
	{
		if (gone_)
			*gone_ = true;
	}

      private:
	std::atomic<bool> *gone_;
};

// Here nothing could wait for the function any more but what it has left.
static void await(const std::atomic<bool> &flag)
{
	while (!flag)
		std::this_thread::yield();
}

static void destroyed_by_its_function(timerthread *tt)
{
	std::promise<void> there;
	std::promise<bool> alive;
	std::atomic<bool> gone{false};
	std::unique_ptr<timer> t;

	t = std::make_unique<timer>(tt, [&, c = canary(&gone)] {
		there.get_future().wait();
		t->after(0s); // that run will not be
		t.reset();
		alive.set_value(!gone);
	});
	t->after(0s);
	there.set_value(); // t is not touched from here on
	expect(alive.get_future().get(), "its function runs on");
	await(gone);
	expect(!t, "it ended when it had returned");
}

// The timer is in what its function belongs to, which ends with it.
static void destroyed_with_its_owner(timerthread *tt)
{
	struct owner {
		owner(timerthread *tt, std::atomic<bool> *flag)
		    : gone(flag), t(tt, [this] { delete this; })
		{
		}
		canary gone;
		timer t;
	};
	std::atomic<bool> gone{false};

	(new owner(tt, &gone))->t.after(0s);
	await(gone);
	expect(true, "a function may delete its owner, with the timer in it");
}

static void moved(timerthread *tt)
{
	std::atomic<bool> gone{false};
	std::promise<void> expired;
	std::vector<timer> many;

	for (int i = 0; i < 100; i++) {
		many.emplace_back(tt, [] {});
		many.back().after(1h);
	}
	many[0] = timer(tt, [&] { expired.set_value(); });
	many[1] = timer(tt, [c = canary(&gone)] {});
	many[1] = std::move(many[0]);
	expect(gone, "a timer that another is moved to ends");
	many[1].after(0s);
	expired.get_future().wait();
	expect(many[99].pending(), "a hundred in a vector");
}

static void needs_a_driver()
{
	timerthread *tt;

	if (timerthread_create(&tt) < 0)
		std::abort();
	try {
		timer t{tt, [] {}};
		expect(false, "it is not made");
	} catch (const std::system_error &e) {
		expect(e.code() == std::errc::invalid_argument,
		       "without a driver there is no timer");
	}
	timerthread_destroy(tt);
}

static void outlives_its_driver()
{
	instance in;
	timer t{in, [] { std::abort(); }};

	t.after(1h);
	timerthread_stop(in);
	expect(!t.after(0s), "stopped: it can not be armed");
	expect(t.pending() && t.stop(), "but disarmed, and destroyed");
}

static uint64_t count(timerthread *tt, enum timerthread_stat which)
{
	uint64_t n = 0;

	timerthread_get_stat(tt, which, &n);
	return n;
}

int main()
{
	alarm(60); // if something that is waited for never comes
	instance in;

	in_time(in);
	expires(in);
	far_away(in);
	armed_by_its_function(in);
	stopped_by_its_function(in);
	stopped_by_another_thread(in);
	armed_by_many_threads(in);
	destroyed_by_its_function(in);
	destroyed_with_its_owner(in);
	moved(in);
	needs_a_driver();
	outlives_its_driver();
	timerthread_stop(in);
	expect(count(in, TIMERTHREAD_STAT_PENDING) == 0 &&
		       count(in, TIMERTHREAD_STAT_UNARMED) == 0,
	       "no timer is left");
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
