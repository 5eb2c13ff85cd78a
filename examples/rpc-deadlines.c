/* SPDX-License-Identifier: MIT */
/*
 * rpc-deadlines: an RPC client with a deadline on every request.
 *
 * Client and server talk over loopback TCP inside this one process.  Each
 * connection keeps a window of requests in flight: one thread sends them,
 * another reads the replies, and a timer guards each.  The server answers at
 * once, except now and then, about when the deadline passes or well after.
 *
 * The part to copy is the life of a request, for three threads meet in it:
 * the sender, the reader and the timer thread.  Two questions must have one
 * answer each.
 *
 * Who completes the request?  It has an atomic word that holds its state and
 * its generation, that is, which use of the record this is:
 *
 *	FREE -> ARMING -> SENT -> DONE -> FREE, of the next generation
 *
 * The sender arms the timer, then publishes the request as SENT.  The reader
 * takes it from SENT to DONE, the timer from ARMING or SENT to DONE, both by
 * compare-and-swap.  Whose swap succeeds completes the request; the other
 * leaves it alone.  A reply carries the generation, so one that comes late
 * cannot be taken for the answer to a later request in the same record.
 *
 * When may the record be used again?  Not when the request is complete: the
 * loser may still be looking at it.  So two references are held, one for the
 * completion and one for the timer, and the last to be dropped frees it:
 *
 *  - Whoever completes the request drops the first one.
 *  - The callback drops the second one, as the last thing that it does.  If
 *    timerthread_cancel returns 0 there will be no callback, and whoever
 *    cancelled drops it.  If it returns 1 or -ENOENT, the callback is running
 *    or has run, and nobody else touches that reference.
 *
 * Records are never given back to the allocator while the threads run, so a
 * stale word can always be looked at, and loses.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <timerthread.h>
#include <unistd.h>

#define USEC INT64_C(1000)
#define MSEC (1000 * USEC)
#define SEC  (1000 * MSEC)

enum {
	WINDOW = 64,         /* requests in flight on a connection */
	BATCH = 64,          /* messages read or written at once */
	LATE_BUCKETS = 50000 /* of a microsecond each */
};

/* A request or a reply, in host byte order: both ends are this process. */
struct message {
	uint64_t id; /* the record's index, and below it 32 bits of word */
	uint64_t value;
};

enum state { FREE, ARMING, SENT, DONE };

enum outcome { REPLIED = 1, TIMED_OUT = 2 };

struct client;

struct request {
	struct client *client;
	_Atomic uint32_t word; /* generation and state */
	atomic_uint refs;
	atomic_uint outcomes; /* only to check that there is exactly one */
	timerthread_id timer; /* the reader's, once it is SENT */
	int64_t deadline;
	uint64_t value;
};

enum count {
	REQUESTS,
	REPLIES,
	TIMEOUTS,
	BOTH,    /* requests that got a reply and a timeout */
	NEITHER, /* requests that got none of them */
	WRONG,   /* replies to another request than theirs */
	EARLY,   /* timers that ran before the deadline */
	STRAY,   /* timers that ran after cancel had returned 0 */
	MET,     /* replies that came while the timer fired */
	DROPPED, /* replies to requests that had timed out */
	COUNTS
};

/* The client's end of a connection. */
struct client {
	int fd;
	pthread_t sender;
	pthread_t reader;
	struct request requests[WINDOW];

	pthread_mutex_t lock;
	pthread_cond_t freed;
	struct request *free[WINDOW]; /* guarded by lock */
	unsigned nfree;               /* guarded by lock */

	atomic_ulong counts[COUNTS];
	atomic_bool closing; /* no more requests: the end is not an error */
	atomic_int error;    /* the first one, or 0 */
};

/* A reply that the server holds back. */
struct held {
	struct conn *conn;
	struct held *next;
	struct message reply;
};

/* The server's end of a connection. */
struct conn {
	int fd;
	int wake; /* eventfd: something is due */
	pthread_t thread;
	uint64_t random;
	unsigned long nheld;

	pthread_mutex_t lock;
	struct held *due; /* guarded by lock */

	struct message out[BATCH];
	size_t nout;
	bool broken;
};

/* What arrived on a socket: n whole messages, and perhaps part of another. */
struct inbox {
	struct message msg[BATCH];
	size_t n;
	size_t bytes;
};

static const char timer_name[] = "rpc-timers";

static struct {
	int threads;
	int64_t duration;
	int64_t timeout;
	double slow; /* share of the replies */
} opt = {4, 5 * SEC, 100 * MSEC, 0.001};

static struct timerthread *timers;      /* the client's deadlines */
static struct timerthread *slow_timers; /* the server's slow replies */
static struct client *clients;
static struct conn *conns;
static atomic_bool stopping;

/* How late something happened, over and over. */
struct lateness {
	unsigned long bucket[LATE_BUCKETS];
	unsigned long n;
	int64_t max;
};

static struct lateness timer_late; /* the timer thread's, until it stops */
static struct lateness sleep_late; /* the main thread's */

static _Noreturn void fail(const char *what, int error)
{
	fprintf(stderr, "rpc-deadlines: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

static void late_record(struct lateness *late, int64_t ns)
{
	int64_t us = ns / USEC;

	late->bucket[us < LATE_BUCKETS ? us : LATE_BUCKETS - 1]++;
	late->n++;
	if (ns > late->max)
		late->max = ns;
}

/*
 * Sockets.
 */

static int write_all(int fd, const void *buf, size_t size)
{
	const char *p = buf;

	while (size > 0) {
		ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Reads once.  Returns 1, with perhaps no whole message yet; 0 at the end. */
static int inbox_read(struct inbox *in, int fd)
{
	size_t whole = in->n * sizeof(in->msg[0]);
	ssize_t n;

	memmove(in->msg, &in->msg[in->n], in->bytes - whole);
	in->bytes -= whole;
	in->n = 0;
	do
		n = recv(fd, (char *)in->msg + in->bytes,
			 sizeof(in->msg) - in->bytes, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0)
		return in->bytes == 0 ? 0 : -ECONNRESET;
	in->bytes += (size_t)n;
	in->n = in->bytes / sizeof(in->msg[0]);
	return 1;
}

/*
 * The life of a request.
 */

static uint32_t word_of(uint32_t generation, enum state state)
{
	return generation << 2 | state;
}

static enum state state_of(uint32_t word)
{
	return word & 3;
}

static uint32_t generation_of(uint32_t word)
{
	return word >> 2;
}

static void count(struct client *c, enum count which)
{
	atomic_fetch_add_explicit(&c->counts[which], 1, memory_order_relaxed);
}

/* Done once a request, by the one whose swap to DONE succeeded. */
static void request_complete(struct request *r, enum outcome outcome)
{
	atomic_fetch_or(&r->outcomes, outcome);
	count(r->client, outcome == REPLIED ? REPLIES : TIMEOUTS);
	/* This is where a real client would hand the result to its caller. */
}

/* The callback may call this: nobody holds the lock for long. */
static void request_free(struct request *r)
{
	struct client *c = r->client;
	unsigned outcomes = atomic_load(&r->outcomes);
	uint32_t generation = generation_of(atomic_load(&r->word));

	if (outcomes == 0)
		count(c, NEITHER);
	if (outcomes == (REPLIED | TIMED_OUT))
		count(c, BOTH);

	atomic_store(&r->word, word_of(generation + 1, FREE));
	pthread_mutex_lock(&c->lock);
	c->free[c->nfree++] = r;
	pthread_cond_signal(&c->freed);
	pthread_mutex_unlock(&c->lock);
}

/* Drops n references.  Whoever drops the last is alone with the record. */
static void request_put(struct request *r, unsigned n)
{
	if (atomic_fetch_sub(&r->refs, n) == n)
		request_free(r);
}

/* The timer's callback. */
static void request_expire(void *arg)
{
	struct request *r = arg;
	int64_t by = timerthread_now(timers) - r->deadline;
	uint32_t word = atomic_load(&r->word);

	if (by < 0 || state_of(word) == FREE) {
		/* A promise is broken: count it, and keep off the record. */
		count(r->client, state_of(word) == FREE ? STRAY : EARLY);
		return;
	}
	late_record(&timer_late, by);
	/* The sender may be publishing it meanwhile: then try again. */
	while (state_of(word) != DONE) {
		uint32_t done = word_of(generation_of(word), DONE);

		if (!atomic_compare_exchange_weak(&r->word, &word, done))
			continue;
		request_complete(r, TIMED_OUT);
		request_put(r, 2); /* the completion's and the timer's */
		return;
	}
	request_put(r, 1); /* the reply was first; this is the timer's */
}

/*
 * Guards a request with a timer, and publishes it.  Returns 1 when m is to
 * be sent, 0 when the deadline has passed already, or a negative errno.
 */
static int request_arm(struct request *r, uint64_t value, struct message *m)
{
	struct client *c = r->client;
	uint32_t generation = generation_of(atomic_load(&r->word));
	uint32_t arming = word_of(generation, ARMING);
	uint32_t sent = word_of(generation, SENT);
	uint64_t index = (uint64_t)(r - c->requests);
	int ret;

	r->value = value;
	r->deadline = timerthread_now(timers) + opt.timeout;
	atomic_store(&r->outcomes, 0);
	atomic_store(&r->refs, 2);
	atomic_store(&r->word, arming);

	ret = timerthread_schedule(timers, r->deadline, request_expire, r,
				   &r->timer);
	if (ret < 0) {
		/* Without a timer there is no request. */
		atomic_store(&r->word, word_of(generation, FREE));
		return ret;
	}
	count(c, REQUESTS);
	*m = (struct message){.id = index << 32 | sent, .value = value};
	/*
	 * Published only now, for the reader needs r->timer.  From here on
	 * the sender must not touch the record.
	 */
	return atomic_compare_exchange_strong(&r->word, &arming, sent);
}

/* A reply has come: on time, late, or just as the timer fires. */
static void request_reply(struct client *c, const struct message *m)
{
	uint32_t index = (uint32_t)(m->id >> 32);
	uint32_t sent = (uint32_t)m->id;
	uint32_t done = word_of(generation_of(sent), DONE);
	struct request *r;

	if (index >= WINDOW || state_of(sent) != SENT) {
		count(c, WRONG); /* no request of ours ever had that id */
		return;
	}
	r = &c->requests[index];
	if (!atomic_compare_exchange_strong(&r->word, &sent, done)) {
		count(c, DROPPED);
		return;
	}
	/* The completion's reference keeps r, and r->timer, as they are. */
	if (m->value != ~r->value)
		count(c, WRONG);
	request_complete(r, REPLIED);
	if (timerthread_cancel(timers, r->timer) == 0) {
		request_put(r, 2); /* there will be no callback */
	} else {
		count(c, MET);
		request_put(r, 1); /* the callback drops its own */
	}
}

/*
 * The client.
 */

static void client_fail(struct client *c, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&c->error, &none, error);
	/* Whoever waits for the other end, there or here, waits no more. */
	shutdown(c->fd, SHUT_RDWR);
}

/* Takes all free records; waits until there is one, or for the end. */
static unsigned client_take(struct client *c, struct request **taken)
{
	unsigned n;

	pthread_mutex_lock(&c->lock);
	while (c->nfree == 0 && !atomic_load(&stopping))
		pthread_cond_wait(&c->freed, &c->lock);
	n = c->nfree;
	memcpy(taken, c->free, n * sizeof(taken[0]));
	c->nfree = 0;
	pthread_mutex_unlock(&c->lock);
	return n;
}

static void client_give_back(struct client *c, struct request **taken,
			     unsigned n)
{
	pthread_mutex_lock(&c->lock);
	memcpy(&c->free[c->nfree], taken, n * sizeof(taken[0]));
	c->nfree += n;
	pthread_mutex_unlock(&c->lock);
}

/*
 * Waits until every record is free again, which takes no longer than the
 * timeout: what the replies do not complete, the timers do.  If one never
 * comes back, then neither reply nor timer has acted on its request.
 */
static void client_drain(struct client *c)
{
	int64_t until = timerthread_now(timers) + opt.timeout + 5 * SEC;
	struct timespec ts = {until / SEC, until % SEC};
	int err = 0;

	pthread_mutex_lock(&c->lock);
	while (c->nfree < WINDOW && err == 0)
		err = pthread_cond_timedwait(&c->freed, &c->lock, &ts);
	atomic_fetch_add(&c->counts[NEITHER], WINDOW - c->nfree);
	pthread_mutex_unlock(&c->lock);
}

/* Sends a request from each of the n records. */
static int client_send(struct client *c, struct request **taken, unsigned n,
		       uint64_t *value)
{
	struct message out[WINDOW];
	size_t nout = 0;

	for (unsigned i = 0; i < n; i++) {
		int ret = request_arm(taken[i], ++*value, &out[nout]);

		if (ret < 0) {
			client_give_back(c, &taken[i], n - i);
			return ret;
		}
		nout += (size_t)ret;
	}
	return write_all(c->fd, out, nout * sizeof(out[0]));
}

static void *client_sender(void *arg)
{
	struct client *c = arg;
	struct request *taken[WINDOW];
	uint64_t value = 0;

	while (!atomic_load(&stopping) && atomic_load(&c->error) == 0) {
		unsigned n = client_take(c, taken);
		int ret = client_send(c, taken, n, &value);

		if (ret < 0)
			client_fail(c, -ret);
	}
	client_drain(c);
	atomic_store(&c->closing, true);
	shutdown(c->fd, SHUT_WR);
	return NULL;
}

static void *client_reader(void *arg)
{
	struct client *c = arg;
	struct inbox in = {.n = 0};
	int ret;

	while ((ret = inbox_read(&in, c->fd)) > 0)
		for (size_t i = 0; i < in.n; i++)
			request_reply(c, &in.msg[i]);
	if (ret == 0 && !atomic_load(&c->closing))
		ret = -ECONNRESET;
	if (ret < 0)
		client_fail(c, -ret);
	return NULL;
}

static void client_init(struct client *c, int fd)
{
	pthread_condattr_t attr;

	c->fd = fd;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->freed, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned i = 0; i < WINDOW; i++) {
		c->requests[i].client = c;
		c->free[c->nfree++] = &c->requests[i];
	}
}

/*
 * The server.
 */

static void conn_flush(struct conn *conn)
{
	if (!conn->broken && conn->nout > 0 &&
	    write_all(conn->fd, conn->out, conn->nout * sizeof(conn->out[0])))
		conn->broken = true;
	conn->nout = 0;
}

static void conn_reply(struct conn *conn, const struct message *reply)
{
	conn->out[conn->nout++] = *reply;
	if (conn->nout == BATCH)
		conn_flush(conn);
}

/*
 * The callback of a slow reply.  Sending may block, and a callback that
 * blocks holds up every other timer, so the connection's thread sends.
 */
static void held_due(void *arg)
{
	struct held *held = arg;
	struct conn *conn = held->conn;

	pthread_mutex_lock(&conn->lock);
	held->next = conn->due;
	conn->due = held;
	pthread_mutex_unlock(&conn->lock);
	eventfd_write(conn->wake, 1);
}

/* Xorshift: good enough to decide who waits. */
static uint64_t conn_random(struct conn *conn)
{
	conn->random ^= conn->random << 13;
	conn->random ^= conn->random >> 7;
	conn->random ^= conn->random << 17;
	return conn->random >> 11;
}

/*
 * How long to hold a reply back; 0 for most.  Half of the slow ones come
 * within a sixty-fourth of the deadline, so that replies and timers meet.
 */
static int64_t conn_delay(struct conn *conn)
{
	uint64_t random = conn_random(conn);
	int64_t near = opt.timeout / 64 + 1;

	if ((double)random >= opt.slow * 0x1p53)
		return 0;
	random = conn_random(conn);
	if (random & 1)
		return opt.timeout + opt.timeout / 2;
	return opt.timeout - near + (int64_t)(random / 2) % (2 * near);
}

static void conn_answer(struct conn *conn, const struct message *request)
{
	struct message reply = {.id = request->id, .value = ~request->value};
	int64_t delay = conn_delay(conn);
	struct held *held;

	held = delay == 0 ? NULL : malloc(sizeof(*held));
	if (held) {
		*held = (struct held){.conn = conn, .reply = reply};
		if (timerthread_schedule_after(slow_timers, delay, held_due,
					       held, NULL) == 0) {
			conn->nheld++;
			return;
		}
		free(held);
	}
	conn_reply(conn, &reply);
}

static void conn_answer_due(struct conn *conn)
{
	struct held *held, *next;
	eventfd_t n;

	eventfd_read(conn->wake, &n); /* before looking, or one is missed */
	pthread_mutex_lock(&conn->lock);
	held = conn->due;
	conn->due = NULL;
	pthread_mutex_unlock(&conn->lock);
	for (; held; held = next) {
		next = held->next;
		conn_reply(conn, &held->reply);
		free(held);
		conn->nheld--;
	}
}

/*
 * Serves until the client is done and every reply held back has been sent;
 * the last of them comes due half a timeout after its deadline.
 */
static void *conn_serve(void *arg)
{
	struct conn *conn = arg;
	struct inbox in = {.n = 0};
	int patience = (int)(2 * opt.timeout / MSEC) + 5000;
	struct pollfd fds[] = {{.fd = conn->fd, .events = POLLIN},
			       {.fd = conn->wake, .events = POLLIN}};

	while (fds[0].fd >= 0 || conn->nheld > 0) {
		int n = poll(fds, 2, fds[0].fd >= 0 ? -1 : patience);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail("poll", errno);
		if (n == 0)
			break; /* what is still held will never be due */
		if (fds[0].revents) {
			if (inbox_read(&in, conn->fd) <= 0)
				fds[0].fd = -1; /* poll skips it from now on */
			for (size_t i = 0; i < in.n; i++)
				conn_answer(conn, &in.msg[i]);
		}
		if (fds[1].revents)
			conn_answer_due(conn);
		conn_flush(conn);
	}
	shutdown(conn->fd, SHUT_WR);
	return NULL;
}

static void conn_init(struct conn *conn, int fd, unsigned seed)
{
	conn->fd = fd;
	conn->wake = eventfd(0, EFD_CLOEXEC);
	if (conn->wake < 0)
		fail("eventfd", errno);
	conn->random = UINT64_C(0x9e3779b97f4a7c15) * (seed + 1);
	pthread_mutex_init(&conn->lock, NULL);
}

/*
 * What can be seen from outside.
 */

/* Reads the first line of a file that begins with prefix; false if none. */
static bool read_line(const char *path, const char *prefix, char *line,
		      int size)
{
	FILE *file = fopen(path, "re");
	bool found = false;

	if (!file)
		return false;
	while (!found && fgets(line, size, file))
		found = strncmp(line, prefix, strlen(prefix)) == 0;
	fclose(file);
	return found;
}

/* How often the thread of that name has gone to sleep; -1 if unknown. */
static long thread_sleeps(const char *name)
{
	static const char key[] = "voluntary_ctxt_switches:";
	DIR *dir = opendir("/proc/self/task");
	struct dirent *task;
	char path[300], line[128];
	long sleeps = -1;

	if (!dir)
		return -1;
	while (sleeps < 0 && (task = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 task->d_name);
		if (!read_line(path, name, line, sizeof(line)))
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 task->d_name);
		if (read_line(path, key, line, sizeof(line)))
			sleeps = strtol(line + strlen(key), NULL, 10);
	}
	closedir(dir);
	return sleeps;
}

/* The microseconds within which a share of them all happened. */
static int64_t late_quantile(const struct lateness *late, double share)
{
	unsigned long seen = 0;
	double rank = share * (double)late->n;

	for (int64_t us = 0; us < LATE_BUCKETS - 1; us++) {
		seen += late->bucket[us];
		if ((double)seen >= rank)
			return us;
	}
	return late->max / USEC;
}

static unsigned long total(enum count which)
{
	unsigned long sum = 0;

	for (int i = 0; i < opt.threads; i++)
		sum += atomic_load(&clients[i].counts[which]);
	return sum;
}

static void row(const char *label, enum count which)
{
	printf("%-28s %12lu\n", label, total(which));
}

static void row_late(const char *label, const struct lateness *late)
{
	if (late->n > 0)
		printf("%-28s %12" PRId64 " %12" PRId64 " %12" PRId64 "\n",
		       label, late_quantile(late, 0.5),
		       late_quantile(late, 0.99), late->max / USEC);
}

static void report(double seconds, long sleeps)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	row("requests", REQUESTS);
	row("  replies", REPLIES);
	row("  timeouts", TIMEOUTS);
	row("  both", BOTH);
	row("  neither", NEITHER);
	row("replies that met their timer", MET);
	row("late replies dropped", DROPPED);
	row("replies to a wrong request", WRONG);
	row("timers before their deadline", EARLY);
	row("timers after their cancel", STRAY);
	printf("%-28s %12.0f\n", "requests a second",
	       (double)total(REQUESTS) / seconds);
	if (sleeps >= 0)
		printf("%-28s %12.0f\n", "timer wake-ups a second",
		       (double)sleeps / seconds);
	printf("%-28s %12.1f\n", "peak memory, MiB",
	       (double)usage.ru_maxrss / 1024);
	printf("%-28s %12s %12s %12s\n", "late by, in us", "p50", "p99", "max");
	row_late("  timers", &timer_late);
	row_late("  the main thread's sleeps", &sleep_late);
}

static bool one_end_each(void)
{
	return total(BOTH) == 0 && total(NEITHER) == 0 && total(WRONG) == 0 &&
	       total(EARLY) == 0 && total(STRAY) == 0 &&
	       total(REPLIES) + total(TIMEOUTS) == total(REQUESTS);
}

static bool verdict(void)
{
	bool good = one_end_each();

	if (!good)
		fprintf(stderr, "rpc-deadlines: reply and timer disagree\n");
	for (int i = 0; i < opt.threads; i++) {
		int error = atomic_load(&clients[i].error);
		unsigned long nheld = conns[i].nheld;

		if (error != 0)
			fprintf(stderr, "rpc-deadlines: connection %d: %s\n", i,
				strerror(error));
		if (nheld > 0)
			fprintf(stderr,
				"rpc-deadlines: connection %d: %lu slow replies"
				" never came due\n",
				i, nheld);
		good = good && error == 0 && nheld == 0;
	}
	return good;
}

/*
 * Setting up, running, taking down.
 */

static void usage(FILE *out)
{
	fputs("usage: rpc-deadlines [option]...\n"
	      "An RPC client with a deadline on every request, and its"
	      " server.\n\n"
	      "  --threads N   connections, of three threads each (4)\n"
	      "  --seconds S   how long to run (5)\n"
	      "  --timeout MS  deadline of a request (100)\n"
	      "  --slow PCT    share of the replies that are slow (0.1)\n"
	      "  --help        show this\n\n"
	      "The exit status is 0 if every request ended once, by its"
	      " reply or by its\ntimer; 1 if not, or if something failed;"
	      " 2 for a bad option.\n",
	      out);
}

static _Noreturn void bad_usage(void)
{
	fputs("Try 'rpc-deadlines --help'.\n", stderr);
	exit(2);
}

static double parse(const char *option, double low, double high)
{
	char *end;
	double value = strtod(optarg, &end);

	/* Asked this way round, NaN is out of range. */
	if (end != optarg && *end == '\0' && value >= low && value <= high)
		return value;
	fprintf(stderr, "rpc-deadlines: --%s: '%s' is no number in %g..%g\n",
		option, optarg, low, high);
	bad_usage();
}

static int parse_threads(void)
{
	double value = parse("threads", 1, 64);

	if (value == (int)value)
		return (int)value;
	fprintf(stderr, "rpc-deadlines: --threads: '%s' is not whole\n",
		optarg);
	bad_usage();
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"threads", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 's'},
		{"timeout", required_argument, NULL, 't'},
		{"slow", required_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'},
		{0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'n')
			opt.threads = parse_threads();
		else if (c == 's')
			opt.duration = (int64_t)(parse("seconds", 0.1, 3600) *
						 (double)SEC);
		else if (c == 't')
			opt.timeout = (int64_t)(parse("timeout", 0.1, 10000) *
						(double)MSEC);
		else if (c == 'p')
			opt.slow = parse("slow", 0, 100) / 100;
		else if (c == 'h') {
			usage(stdout);
			exit(EXIT_SUCCESS);
		} else
			bad_usage();
	}
	if (optind == argc)
		return;
	fprintf(stderr, "rpc-deadlines: what is '%s'?\n", argv[optind]);
	bad_usage();
}

static struct timerthread *start_timers(const char *name)
{
	struct timerthread *tt;
	int ret = timerthread_create(&tt);

	if (ret == 0)
		ret = timerthread_set_name(tt, name);
	if (ret == 0)
		ret = timerthread_start(tt, NULL);
	if (ret < 0)
		fail(name, -ret);
	return tt;
}

static int listen_loopback(struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(*addr);

	/* Port 0: the kernel picks a free one. */
	*addr = (struct sockaddr_in){.sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)addr, size) < 0 ||
	    listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, (struct sockaddr *)addr, &size) < 0)
		fail("listen", errno);
	return fd;
}

/* Small messages must not wait for the acknowledgement of others. */
static void set_nodelay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		fail("setsockopt", errno);
}

static void connect_all(void)
{
	struct sockaddr_in addr;
	int listener = listen_loopback(&addr);

	for (int i = 0; i < opt.threads; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int peer;

		if (fd < 0 ||
		    connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
			fail("connect", errno);
		peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (peer < 0)
			fail("accept", errno);
		set_nodelay(fd);
		set_nodelay(peer);
		client_init(&clients[i], fd);
		conn_init(&conns[i], peer, (unsigned)i);
	}
	close(listener);
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	int error = pthread_create(thread, NULL, run, arg);

	if (error != 0)
		fail("pthread_create", error);
}

static void start_all(void)
{
	for (int i = 0; i < opt.threads; i++) {
		start(&conns[i].thread, conn_serve, &conns[i]);
		start(&clients[i].reader, client_reader, &clients[i]);
		start(&clients[i].sender, client_sender, &clients[i]);
	}
}

static void sleep_until(int64_t time)
{
	struct timespec ts = {time / SEC, time % SEC};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		continue;
	late_record(&sleep_late, timerthread_now(timers) - time);
}

static void progress(int64_t elapsed, bool last)
{
	bool tty = isatty(STDOUT_FILENO);

	printf("%s%6.1f s  %lu requests, %lu timeouts%s", tty ? "\r" : "",
	       (double)elapsed / (double)SEC, total(REQUESTS), total(TIMEOUTS),
	       tty && !last ? "" : "\n");
	fflush(stdout);
}

/*
 * Sleeps through the run, with a line of progress a second, which is one
 * line on a terminal.  It sleeps in short steps to learn how late the kernel
 * wakes a thread that does nothing else: on a busy machine most of what the
 * timers are late by is that.
 */
static void watch(void)
{
	int64_t begin = timerthread_now(timers);
	int64_t end = begin + opt.duration;
	int64_t tick = begin + SEC;

	prctl(PR_SET_TIMERSLACK, 1); /* as exact as the timer thread */
	for (int64_t next = begin; next < end;) {
		next = next + 5 * MSEC < end ? next + 5 * MSEC : end;
		sleep_until(next);
		if (next >= tick || next == end) {
			progress(next - begin, next == end);
			tick += SEC;
		}
	}
}

static void stop_all(void)
{
	atomic_store(&stopping, true);
	for (int i = 0; i < opt.threads; i++) {
		pthread_mutex_lock(&clients[i].lock);
		pthread_cond_signal(&clients[i].freed);
		pthread_mutex_unlock(&clients[i].lock);
	}
	for (int i = 0; i < opt.threads; i++) {
		pthread_join(clients[i].sender, NULL);
		pthread_join(conns[i].thread, NULL);
		pthread_join(clients[i].reader, NULL);
	}
}

/* Only once no callback can run any more. */
static void free_all(void)
{
	for (int i = 0; i < opt.threads; i++) {
		close(clients[i].fd);
		pthread_cond_destroy(&clients[i].freed);
		pthread_mutex_destroy(&clients[i].lock);
		close(conns[i].fd);
		close(conns[i].wake);
		pthread_mutex_destroy(&conns[i].lock);
	}
	free(clients);
	free(conns);
}

int main(int argc, char **argv)
{
	int64_t begin;
	double seconds;
	long sleeps;
	bool good;

	parse_options(argc, argv);
	/* Ends the program should all else fail to. */
	alarm((unsigned)((opt.duration + 3 * opt.timeout) / SEC) + 30);
	clients = calloc((size_t)opt.threads, sizeof(*clients));
	conns = calloc((size_t)opt.threads, sizeof(*conns));
	if (!clients || !conns)
		fail("calloc", ENOMEM);
	timers = start_timers(timer_name);
	slow_timers = start_timers("rpc-slow");
	connect_all();

	begin = timerthread_now(timers);
	start_all();
	watch();
	seconds = (double)(timerthread_now(timers) - begin) / (double)SEC;
	sleeps = thread_sleeps(timer_name);
	stop_all();
	timerthread_destroy(timers);
	timerthread_destroy(slow_timers);

	report(seconds, sleeps);
	good = verdict();
	free_all();
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
