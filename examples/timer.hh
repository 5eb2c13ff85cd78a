// SPDX-License-Identifier: MIT
//
// timer: a timer with a function of its own, in C++14; to be copied.
//
//     timer t{tt, [&] { time_out(); }};
//     t.after(5s); // armed, or its deadline is changed
//     t.stop();    // its function is not running, and will not run
//     t.after(1s); // again, as often as one likes
//
// The timer has memory for its function from its beginning to its end: after()
// and at() need none.  The instance must outlive the timer.
//
// The destructor waits until the function has returned.  So when a timer has
// been destroyed its function is not running and will not run, and what that
// refers to may end next.  It is the same for stop(), until the timer is armed
// again.  So the caller of either must not hold a lock that the function takes.
// Declare a timer behind what its function uses: then it ends first.
//
// A function may destroy its own timer.  It cannot wait for itself.  So the
// destructor leaves it to run on, with all that it has captured by value, and
// the memory of both is freed when it has returned.  It must not use the timer
// any more.  This may happen before the after() or at() that armed the timer
// has returned: these do not touch it after that.
//
// A function may also arm its own timer, and stop it.  Its runs do not overlap.
// It must not let an exception out: that would end the process.
//
// Any thread may call after(), at(), stop() and pending(), at any time.  As
// with other objects, the thread that destroys a timer, moves it or assigns to
// it must be the only one that uses it.  (A function that is running need not
// have returned.)  A timer that was moved from may only be destroyed or
// assigned to.  The function moves with it, but what the function captured by
// reference does not: it must not capture the timer if that may move.
//
// What the function has captured lives as long as the timer.  If the timer is a
// member, the function must not capture a shared_ptr to its owner, or neither
// is ever freed: it captures a weak_ptr.
//
// With an executor, two functions that destroy or stop each other's timers at
// the same time wait for each other for ever.
#ifndef TIMER_HH
#define TIMER_HH

#include <timerthread.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <ratio>
#include <system_error>
#include <type_traits>
#include <utility>

class timer
{
      public:
	// Makes a timer that is not armed.  Throws std::system_error if the
	// library has no memory for it, or the cap is reached, or tt is not
	// running; std::bad_alloc if there is none for the function.
	template <class F>
	timer(timerthread *tt, F &&fn)
	    : closure_(std::make_unique<closure_of<std::decay_t<F>>>(
		      tt, std::forward<F>(fn)))
	{
		const int r = timerthread_prepare(tt, run, closure_.get(),
						  &closure_->id);

		if (r < 0)
			throw std::system_error(-r, std::generic_category(),
						"timerthread_prepare");
	}

	timer(timer &&) = default;

	timer &operator=(timer &&other) noexcept
	{
		if (this != &other) {
			end();
			closure_ = std::move(other.closure_);
		}
		return *this;
	}

	~timer()
	{
		end();
	}

	// Arms the timer, or changes its deadline.  0 or less: as soon as
	// possible.  If the function is running, it runs again after that.
	// False if it will not run, because the instance was stopped, or
	// timerthread_cancel_all or timerthread_cancel_matching took the timer back.
	// This may happen at any time, also to a function that arms its own
	// timer: so it is not an exception.
	// The delay may be of any duration type, also of a floating-point one.
	// If it is too long for the library, the timer does not expire.  If it
	// is not a number, it counts as 0.
	template <class Rep, class Period>
	bool after(std::chrono::duration<Rep, Period> delay) noexcept
	{
		return timerthread_reschedule_after(closure_->tt, closure_->id,
						    nanoseconds(delay)) == 0;
	}

	// The same, with a time of the instance's clock, as timerthread_now()
	// returns it.
	template <class Rep, class Period>
	bool at(std::chrono::duration<Rep, Period> deadline) noexcept
	{
		return timerthread_reschedule(closure_->tt, closure_->id,
					      nanoseconds(deadline)) == 0;
	}

	// The same, for instances with the default clock: on Linux the steady
	// clock is CLOCK_MONOTONIC.
	template <class Duration>
	bool at(std::chrono::time_point<std::chrono::steady_clock, Duration>
			deadline) noexcept
	{
		return at(deadline.time_since_epoch());
	}

	// Takes the next run back, and waits for the function if it is running,
	// but not for its caller.  True if the timer was pending: that run will
	// not be.
	bool stop() noexcept
	{
		const int r =
			timerthread_disarm_wait(closure_->tt, closure_->id);

		if (r != -EDEADLK)
			return r == 0;
		// The function is the caller: only a run that it, or another
		// thread, has asked for meanwhile is taken back.
		timerthread_disarm(closure_->tt, closure_->id);
		return false;
	}

	// Whether it is armed.  It may expire the moment after.
	bool pending() const noexcept
	{
		int64_t deadline;

		return timerthread_get_deadline(closure_->tt, closure_->id,
						&deadline) == 0;
	}

      private:
	static int64_t nanoseconds(std::chrono::nanoseconds d) noexcept
	{
		return d.count();
	}

	// 9.2e18 nanoseconds are 291 years.  A little more overflows.
	template <class Rep, class Period>
	static int64_t
	nanoseconds(std::chrono::duration<Rep, Period> d) noexcept
	{
		using exact = std::chrono::nanoseconds;
		using wide = std::chrono::duration<long double, std::nano>;
		const long double ns = wide(d).count();

		if (ns > 9.2e18L)
			return TIMERTHREAD_NEVER;
		if (!(ns >= -9.2e18L)) // or not a number
			return std::numeric_limits<int64_t>::min();
		// A long double may hold fewer digits than an integer.
		return std::is_convertible<decltype(d), exact>::value
			       ? std::chrono::duration_cast<exact>(d).count()
			       : static_cast<int64_t>(ns);
	}

	struct closure {
		explicit closure(timerthread *of) : tt(of)
		{
		}
		virtual ~closure() = default;
		virtual void call() = 0;

		timerthread *const tt;
		timerthread_id id = 0;
		bool abandoned = false; // by the function, on its own thread
	};

	template <class F> struct closure_of final : closure {
		template <class G>
		closure_of(timerthread *of, G &&f)
		    : closure(of), fn(std::forward<G>(f))
		{
		}
		void call() override
		{
			fn();
		}

		F fn;
	};

	// Nobody else frees the closure while this runs: who would waits.
	static void run(void *arg) noexcept
	{
		closure *c = static_cast<closure *>(arg);

		c->call();
		if (c->abandoned)
			delete c;
	}

	// After a cancel that did not fail with -EDEADLK the function does not
	// run and will not, whatever else was the result: then it goes with
	// closure_.
	void end() noexcept
	{
		if (!closure_)
			return;
		if (timerthread_cancel_wait(closure_->tt, closure_->id) !=
		    -EDEADLK) {
			closure_.reset();
			return;
		}
		// The function is the caller.  This is its last run.
		timerthread_cancel(closure_->tt, closure_->id);
		closure_.release()->abandoned = true;
	}

	std::unique_ptr<closure> closure_;
};

#endif
