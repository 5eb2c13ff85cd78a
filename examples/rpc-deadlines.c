/* SPDX-License-Identifier: MIT */
/*
 * rpc-deadlines: an RPC client with a deadline on every request.
 *
 *     cc rpc-*.c -o rpc-deadlines \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * Client and server talk over loopback TCP inside this one process.  Each
 * connection keeps a window of requests in flight: one thread sends them,
 * another reads the replies, and a timer guards each.
 *
 * The part to copy is rpc-request.c, the life of a request.  rpc-client.c
 * uses it; all the rest is there to put it to the test.
 */
#include "rpc-client.h"
#include "rpc-server.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <time.h>
#include <unistd.h>

enum { THREADS, SECONDS, TIMEOUT, SLOW, HELP };

static struct setting {
	const char *name;
	double low, high;
	double value;
} settings[] = {
	[THREADS] = {"threads", 1, 64, 4},
	[SECONDS] = {"seconds", 0.1, 3600, 5},
	[TIMEOUT] = {"timeout", 0.1, 10000, 100},
	[SLOW] = {"slow", 0, 100, 0.1},
};

static int threads;
static int64_t duration, timeout;

struct connection {
	struct client client;
	struct server server;
};

static struct connection *conns;

static struct timerthread *timers;      /* the client's deadlines */
static struct timerthread *slow_timers; /* the server's slow replies */

static _Noreturn void usage(void)
{
	fputs("usage: rpc-deadlines [option]...\n"
	      "An RPC client with a deadline on every request, and its"
	      " server.\n\n"
	      "  --threads N   connections, of three threads each (4)\n"
	      "  --seconds S   how long to run (5)\n"
	      "  --timeout MS  timeout of a request (100)\n"
	      "  --slow PCT    share of the replies that are slow (0.1)\n"
	      "  --help        show this\n\n"
	      "The exit status is 0 if every request ended once, by its"
	      " reply or by its\ntimer; 1 if not, or if something failed;"
	      " 2 for a bad option.\n",
	      stdout);
	exit(EXIT_SUCCESS);
}

static _Noreturn void bad_usage(void)
{
	fputs("Try 'rpc-deadlines --help'.\n", stderr);
	exit(2);
}

static void parse(struct setting *s)
{
	char *end;

	s->value = strtod(optarg, &end);
	/* Asked this way round, NaN is out of range. */
	if (end == optarg || *end != '\0' ||
	    !(s->value >= s->low && s->value <= s->high))
		fprintf(stderr,
			"rpc-deadlines: --%s: '%s' is no number in %g..%g\n",
			s->name, optarg, s->low, s->high);
	else if (s == &settings[THREADS] && s->value != (int)s->value)
		fprintf(stderr, "rpc-deadlines: --%s: '%s' is not whole\n",
			s->name, optarg);
	else
		return;
	bad_usage();
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"threads", required_argument, NULL, THREADS},
		{"seconds", required_argument, NULL, SECONDS},
		{"timeout", required_argument, NULL, TIMEOUT},
		{"slow", required_argument, NULL, SLOW},
		{"help", no_argument, NULL, HELP},
		{0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == HELP)
			usage();
		if (c == '?')
			bad_usage();
		parse(&settings[c]);
	}
	if (optind < argc) {
		fprintf(stderr, "rpc-deadlines: what is '%s'?\n", argv[optind]);
		bad_usage();
	}
	threads = (int)settings[THREADS].value;
	duration = (int64_t)(settings[SECONDS].value * TIMERTHREAD_SEC);
	timeout = (int64_t)(settings[TIMEOUT].value * TIMERTHREAD_MSEC);
}

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "rpc-deadlines: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

static struct timerthread *start_timers(const char *name)
{
	struct timerthread *tt;

	check("timerthread_create", timerthread_create(&tt));
	check("timerthread_set_name", timerthread_set_name(tt, name));
	check("timerthread_start", timerthread_start(tt, NULL));
	return tt;
}

static void start(void)
{
	int fd[2] = {-1, -1};

	timers = start_timers("rpc-timers");
	slow_timers = start_timers("rpc-slow");
	conns = calloc((size_t)threads, sizeof(*conns));
	check("calloc", conns ? 0 : -ENOMEM);
	for (int i = 0; i < threads; i++) {
		struct server *s = &conns[i].server;
		struct client *c = &conns[i].client;

		check("connect", tcp_pair(fd));
		s->fd = fd[0];
		s->timers = slow_timers;
		s->timeout = timeout;
		s->slow = settings[SLOW].value / 100;
		s->seed = (unsigned)i;
		check("server", server_start(s));
		check("client", client_start(c, fd[1], timers, timeout));
	}
}

static void stop(void)
{
	for (int i = 0; i < threads; i++)
		window_close(&conns[i].client.window);
	for (int i = 0; i < threads; i++) {
		pthread_join(conns[i].client.sender, NULL);
		pthread_join(conns[i].client.reader, NULL);
		pthread_join(conns[i].server.thread, NULL);
	}
	timerthread_destroy(timers);
	timerthread_destroy(slow_timers);
	/* No callback can run any more, and use what this takes down. */
	for (int i = 0; i < threads; i++) {
		window_destroy(&conns[i].client.window);
		close(conns[i].client.fd);
		close(conns[i].server.fd);
		close(conns[i].server.due[0]);
		close(conns[i].server.due[1]);
	}
}

static unsigned long total(enum count which)
{
	unsigned long sum = 0;

	for (int i = 0; i < threads; i++)
		sum += atomic_load(&conns[i].client.window.counts[which]);
	return sum;
}

static void progress(int64_t elapsed, bool last)
{
	bool tty = isatty(STDOUT_FILENO);

	printf("%s%6.1f s  %lu requests, %lu timeouts%s", tty ? "\r" : "",
	       (double)elapsed / (double)TIMERTHREAD_SEC, total(REQUESTS),
	       total(TIMEOUTS), tty && !last ? "" : "\n");
	fflush(stdout);
}

/* How long the main thread sleeps at a time. */
#define STEP (5 * TIMERTHREAD_MSEC)

/*
 * Sleeps through the run, with a line of progress a second, which is one
 * line on a terminal.  It sleeps in short steps to learn how late the kernel
 * wakes a thread that does nothing else: on a busy machine most of what the
 * timers are late by is that.  Returns the seconds that the run has taken.
 */
static double watch(void)
{
	int64_t begin = timerthread_now(timers);
	int64_t end = begin + duration;
	int64_t tick = begin + TIMERTHREAD_SEC;

#ifdef __linux__
	prctl(PR_SET_TIMERSLACK, 1); /* as exact as the timer thread */
#endif
	for (int64_t next = begin; next < end;) {
		int64_t left;

		next = next + STEP < end ? next + STEP : end;
		while ((left = next - timerthread_now(timers)) > 0) {
			struct timespec ts = {left / TIMERTHREAD_SEC,
					      left % TIMERTHREAD_SEC};

			nanosleep(&ts, NULL);
		}
		late_record(LATE_SLEEP, timerthread_now(timers) - next);
		if (next >= tick || next == end) {
			progress(next - begin, next == end);
			tick += TIMERTHREAD_SEC;
		}
	}
	return (double)(timerthread_now(timers) - begin) / TIMERTHREAD_SEC;
}

static bool verdict(const unsigned long *n)
{
	bool good = n[BOTH] == 0 && n[NEITHER] == 0 && n[WRONG] == 0 &&
		    n[EARLY] == 0 && n[STRAY] == 0 &&
		    n[REPLIES] + n[TIMEOUTS] == n[REQUESTS];

	if (!good)
		fprintf(stderr, "rpc-deadlines: reply and timer disagree\n");
	for (int i = 0; i < threads; i++) {
		int error = atomic_load(&conns[i].client.error);
		unsigned long nheld = conns[i].server.nheld;

		if (error != 0)
			fprintf(stderr, "rpc-deadlines: connection %d: %s\n", i,
				strerror(error));
		if (nheld > 0)
			fprintf(stderr,
				"rpc-deadlines: connection %d: %lu slow replies"
				" were never sent\n",
				i, nheld);
		good = good && error == 0 && nheld == 0;
	}
	return good;
}

int main(int argc, char **argv)
{
	unsigned long counts[COUNTS];
	double seconds;
	long sleeps;
	bool good;

	parse_options(argc, argv);
	/* Ends the program should all else fail to. */
	alarm((unsigned)((duration + 3 * timeout) / TIMERTHREAD_SEC) + 30);
	start();
	seconds = watch();
	sleeps = timer_sleeps(timers);
	stop();

	for (int i = 0; i < COUNTS; i++)
		counts[i] = total(i);
	report(counts, seconds, sleeps);
	good = verdict(counts);
	free(conns);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
