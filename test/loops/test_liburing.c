/* SPDX-License-Identifier: MIT */
/*
 * Timers in a loop around an io_uring.
 */
#include "loop_test.h"

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * Has always one completion to come that is its last, unless that is being
 * handled.
 */
struct request {
	struct watch *watch; /* NULL: the clock */
	struct __kernel_timespec t;
	bool cancelled;
};

/* Whether one request reports all events, or is made anew after each. */
static bool multishot;
static struct io_uring ring;
static struct request *clock_request;
static int to_come; /* requests that are not over */
static bool quitting;

void loop_open(void)
{
	ck_assert_int_eq(io_uring_queue_init(64, &ring, 0), 0);
}

static struct io_uring_sqe *get_entry(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	ck_assert_ptr_nonnull(sqe);
	to_come++;
	return sqe;
}

/* At once: the descriptor may be closed before the loop waits again. */
static void submit(void)
{
	ck_assert_int_eq(io_uring_submit(&ring), 1);
}

static void ask_for(struct request *q)
{
	struct io_uring_sqe *sqe = get_entry();

	if (!q->watch)
		io_uring_prep_timeout(sqe, &q->t, 0, 0);
	else if (multishot)
		io_uring_prep_poll_multishot(sqe, q->watch->fd, POLLIN);
	else
		io_uring_prep_poll_add(sqe, q->watch->fd, POLLIN);
	io_uring_sqe_set_data(sqe, q);
	submit();
}

static struct request *new_request(struct watch *w, int ms)
{
	struct request *q = calloc(1, sizeof(*q));

	ck_assert_ptr_nonnull(q);
	q->watch = w;
	q->t.tv_nsec = ms * 1000000LL;
	ask_for(q);
	return q;
}

/* It is freed with its last completion. */
static void cancel_request(struct request *q)
{
	struct io_uring_sqe *sqe = get_entry();

	q->cancelled = true;
	io_uring_prep_cancel(sqe, q, 0);
	io_uring_sqe_set_data(sqe, NULL);
	submit();
}

static void handle(struct request *q, int result)
{
	if (q->watch) {
		ck_assert_int_eq(result, POLLIN);
		q->watch->readable(q->watch);
	} else {
		ck_assert_int_eq(result, -ETIME);
		beat();
	}
}

static void complete(struct request *q, int result, bool last)
{
	if (last)
		to_come--;
	if (!q)
		return;
	if (!q->cancelled)
		handle(q, result);
	if (last && q->cancelled)
		free(q);
	else if (last)
		ask_for(q);
}

static bool complete_one(void)
{
	struct io_uring_cqe *cqe;
	struct request *q;
	bool last;
	int result;

	if (io_uring_peek_cqe(&ring, &cqe) != 0)
		return false;
	q = io_uring_cqe_get_data(cqe);
	result = cqe->res;
	last = !(cqe->flags & IORING_CQE_F_MORE);
	io_uring_cqe_seen(&ring, cqe);
	complete(q, result, last);
	return true;
}

/* Valgrind before 3.21 runs no other thread while one waits in io_uring. */
static void wait_for_valgrind(void)
{
	struct pollfd p = {.fd = ring.ring_fd, .events = POLLIN};

	if (getenv("TT_VALGRIND") && io_uring_cq_ready(&ring) == 0)
		poll(&p, 1, -1);
}

bool loop_turn(void)
{
	int r;

	if (to_come == 0)
		return false;
	wait_for_valgrind();
	r = io_uring_submit_and_wait(&ring, 1);
	ck_assert(r >= 0 || r == -EINTR);
	while (!quitting && complete_one())
		;
	return true;
}

void loop_run(void)
{
	quitting = false;
	while (!quitting && loop_turn())
		;
	quitting = false;
}

void loop_quit(void)
{
	quitting = true;
}

void loop_close(void)
{
	loop_run();
	ck_assert_int_eq(to_come, 0);
	io_uring_queue_exit(&ring);
}

void loop_watch(struct watch *w)
{
	w->handle = new_request(w, 0);
}

void loop_unwatch(struct watch *w)
{
	cancel_request(w->handle);
}

void loop_start_clock(int ms)
{
	clock_request = new_request(NULL, ms);
}

void loop_stop_clock(void)
{
	cancel_request(clock_request);
}

/* Systems may have it switched off, and sandboxes filter it. */
static bool refused(void)
{
	int r = io_uring_queue_init(8, &ring, 0);

	if (r == 0)
		io_uring_queue_exit(&ring);
	return r == -ENOSYS || r == -EPERM || r == -EACCES || r == -ENOMEM;
}

/* Since Linux 5.13.  Without Check, which knows of no test here. */
static bool has_multishot(void)
{
	int fd = eventfd(1, EFD_CLOEXEC);
	struct io_uring_cqe *cqe;
	bool has = false;

	if (io_uring_queue_init(8, &ring, 0) < 0)
		return false;
	io_uring_prep_poll_multishot(io_uring_get_sqe(&ring), fd, POLLIN);
	if (io_uring_submit(&ring) == 1 && io_uring_wait_cqe(&ring, &cqe) == 0)
		has = cqe->res == POLLIN;
	io_uring_queue_exit(&ring);
	close(fd);
	return has;
}

int main(void)
{
	int failed;

	if (refused()) {
		puts("io_uring is not to be had here");
		return EXIT_SKIPPED;
	}
	failed = run_loop_tests("io_uring");
	multishot = has_multishot();
	if (multishot)
		failed |= run_loop_tests("io_uring, multishot");
	return failed;
}
