// SPDX-License-Identifier: MIT
/*
 * raii: a timer in C++17 that is cancelled where its owner ends.
 *
 *     c++ -std=c++17 raii.cc -o raii \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * timer owns its function.  When a timer is destroyed its function is not
 * running and will not run, so what the function refers to may end next.
 */
#include <timerthread.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

static int checked(int r, const char *what)
{
	if (r < 0)
		throw std::system_error(-r, std::generic_category(), what);
	return r;
}

class instance
{
      public:
	instance()
	{
		timerthread *tt;

		checked(timerthread_create(&tt), "timerthread_create");
		tt_.reset(tt);
		checked(timerthread_start(tt, nullptr), "timerthread_start");
	}

	timerthread *get() const
	{
		return tt_.get();
	}

      private:
	struct destroy {
		void operator()(timerthread *tt) const
		{
			timerthread_destroy(tt);
		}
	};
	std::unique_ptr<timerthread, destroy> tt_;
};

class timer
{
      public:
	// fn runs once, on the timer thread, and must not throw.  The instance
	// must outlive the timer.
	timer(const instance &in, std::chrono::nanoseconds delay,
	      std::function<void()> fn)
	    : tt_(in.get()), state_(new state{std::move(fn)})
	{
		checked(timerthread_schedule_after(tt_, delay.count(), run,
						   state_.get(), &id_),
			"timerthread_schedule_after");
	}

	timer(timer &&) = default;

	timer &operator=(timer &&other)
	{
		cancel();
		tt_ = other.tt_;
		id_ = other.id_;
		state_ = std::move(other.state_);
		return *this;
	}

	// Waits for the function if it is running.  So the caller must not hold
	// a lock that the function takes.
	~timer()
	{
		cancel();
	}

	// True if the function will not run; false if it has run, or is the
	// caller.
	bool cancel()
	{
		if (!state_)
			return false;
		const int r = timerthread_cancel_wait(tt_, id_);

		if (r == -EDEADLK)
			state_.release()->abandoned = true;
		state_.reset();
		return r == 0;
	}

      private:
	struct state {
		std::function<void()> fn;
		bool abandoned = false; // by fn itself, on its own thread
	};

	// Nobody else frees the state while this runs: who would waits.
	static void run(void *arg)
	{
		state *s = static_cast<state *>(arg);

		s->fn();
		if (s->abandoned)
			delete s;
	}

	timerthread *tt_;
	timerthread_id id_;
	std::unique_ptr<state> state_;
};

int main()
{
	// Destroyed after the instance: the callback may still be in set_value.
	std::promise<void> gone;
	instance in;

	{
		timer unused(in, 1h, [] { std::puts("this is not printed"); });
	}
	std::puts("cancelled where it went out of scope");

	std::promise<void> expired;
	timer due(in, 1ms, [&] { expired.set_value(); });
	expired.get_future().wait();
	std::puts("expired");

	std::vector<timer> many;
	for (int i = 0; i < 1000; i++)
		many.emplace_back(in, 1h, [] {});
	many.clear();
	std::puts("1000 in a vector, cancelled with it");

	std::optional<timer> itself;
	std::promise<void> there;
	itself.emplace(in, 0ms, [&] {
		there.get_future().wait();
		itself.reset();
		gone.set_value();
	});
	there.set_value();
	gone.get_future().wait();
	std::puts("destroyed by its own function");
	return 0;
}
