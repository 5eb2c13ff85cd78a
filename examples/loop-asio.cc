// SPDX-License-Identifier: MIT
/*
 * loop-asio: timers in an io_context of Asio.
 *
 *     c++ -std=c++14 loop-asio.cc -o loop-asio \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * The io_context watches the descriptor of the instance as any other.
 * Callbacks run in timerthread_dispatch, so on the thread of the io_context:
 * they may use its sockets, and need no lock.  Other threads set timers, too;
 * that thread runs them.
 *
 * To copy from here: loop_timers.  It is for an io_context that has one thread.
 *
 * Here a connection has an idle timeout.  Its peer is a thread, which sets two
 * timers, sends some bytes, and falls silent.
 */
#include <timerthread.h>

#include <array>
#include <asio.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>

using stream = asio::local::stream_protocol::socket;

constexpr int64_t idle_time = 200 * TIMERTHREAD_MSEC;

static void check(const char *what, int ret)
{
	if (ret < 0)
		throw std::system_error(-ret, std::generic_category(), what);
}

// An instance whose timers an io_context runs.  It must not end before run()
// has returned: a handler may still come that refers to it.
class loop_timers {
public:
	explicit loop_timers(asio::io_context &io) : descriptor(io)
	{
		timerthread *created;
		int fd;

		check("timerthread_create", timerthread_create(&created));
		tt.reset(created);
		check("timerthread_start_polled",
		      timerthread_start_polled(get(), &fd));
		descriptor.assign(fd);
		try {
			wait();
		} catch (...) {
			descriptor.release(); // as in end()
			throw;
		}
	}
	loop_timers(const loop_timers &) = delete;
	loop_timers &operator=(const loop_timers &) = delete;

	// No other thread may use it any more.
	~loop_timers()
	{
		end(nullptr);
	}

	// On the thread of the io_context, but not in a callback of a timer.
	void end(timerthread_visit_fn *take_back)
	{
		// From now on no callback runs; other threads get -ESHUTDOWN.
		timerthread_stop(get());
		// The descriptor belongs to tt: Asio must not close it.
		if (descriptor.is_open())
			descriptor.release();
		if (take_back)
			timerthread_cancel_all(get(), take_back, nullptr);
	}

	timerthread *get() const
	{
		return tt.get();
	}

private:
	struct destroy {
		void operator()(timerthread *t) const
		{
			timerthread_destroy(t);
		}
	};

	void wait()
	{
		descriptor.async_wait(
			asio::posix::stream_descriptor::wait_read,
			[this](const asio::error_code &error) {
				if (!error)
					dispatch();
			});
	}

	void dispatch()
	{
		int ret = timerthread_dispatch(get());

		// Stopped elsewhere: the descriptor stays readable.
		if (ret == -ESHUTDOWN)
			return;
		check("timerthread_dispatch", ret);
		wait();
	}

	std::unique_ptr<timerthread, destroy> tt;
	asio::posix::stream_descriptor descriptor;
};

struct connection {
	connection(asio::io_context &io, loop_timers &t) : timers(t), socket(io)
	{
	}

	void begin()
	{
		check("timerthread_schedule_after",
		      timerthread_schedule_after(timers.get(), idle_time, idle,
						 this, &idle_timer));
		receive();
	}

	void receive()
	{
		socket.async_read_some(
			asio::buffer(buffer),
			[this](const asio::error_code &error, std::size_t n) {
				received(error, n);
			});
	}

	void received(const asio::error_code &error, std::size_t n)
	{
		if (error) { // also when idle() has closed the socket
			timerthread_cancel(timers.get(), idle_timer);
			timers.end(take_back);
			return;
		}
		bytes += n;
		timerthread_reschedule_after(timers.get(), idle_timer,
					     idle_time);
		receive();
	}

	static void idle(void *arg)
	{
		auto c = static_cast<connection *>(arg);
		asio::error_code ignored; // no exception may leave a callback

		std::printf("idle after %zu bytes\n", c->bytes);
		c->socket.close(ignored);
	}

	// If a timer owns memory, this frees it.
	static void take_back(timerthread_id, timerthread_fn *, void *arg,
			      void *)
	{
		std::printf("%s: did not run\n", static_cast<char *>(arg));
	}

	loop_timers &timers;
	stream socket;
	timerthread_id idle_timer = 0;
	std::array<char, 64> buffer;
	std::size_t bytes = 0;
};

static void say(void *arg)
{
	std::printf("%s: ran\n", static_cast<char *>(arg));
}

static void peer_main(timerthread *tt, stream &socket)
{
	static char soon[] = "a timer of another thread";
	static char late[] = "one of an hour";
	asio::error_code error;

	// -ESHUTDOWN after the end: memory of such a timer is freed here.
	timerthread_schedule_after(tt, 20 * TIMERTHREAD_MSEC, say, soon,
				   nullptr);
	timerthread_schedule_after(tt, 3600 * TIMERTHREAD_SEC, say, late,
				   nullptr);
	for (int i = 0; i < 5 && !error; i++) {
		socket.write_some(asio::buffer(soon, 1), error);
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	}
}

int main()
{
	asio::io_context io;
	loop_timers timers(io);
	connection c(io, timers);
	stream other(io);

	asio::local::connect_pair(c.socket, other);
	c.begin();
	std::thread peer(peer_main, timers.get(), std::ref(other));
	io.run(); // until there is nothing to wait for
	peer.join();
	return 0;
}
