/* SPDX-License-Identifier: MIT */
/*
 * metrics-server: a daemon at work that shows how its timers do.
 *
 *     od -An -v -tx1 metrics-server.html | \
 *         sed 's/[0-9a-f][0-9a-f]/0x&,/g' >metrics-server.inc &&
 *     cc metrics-server.c -o metrics-server \
 *         $(pkg-config --cflags --libs timerthread libmicrohttpd) -pthread
 *
 * metrics-server.inc is the page metrics-server.html, as numbers.
 *
 *     metrics-server [PORT]     without PORT the system chooses one
 *
 * It prints its address.  A browser shows charts there; Prometheus reads the
 * same numbers at /metrics.  GNU libmicrohttpd serves both.  To copy from here:
 *
 *  - make_metrics: the text that Prometheus reads.
 *  - ran_long and report_slow: a log of callbacks that take long, of at most
 *    one line a second, however many they are.
 *  - hangs: a watchdog for a callback that does not return.
 *  - main: how to start and to end all this.
 *
 * The work is made up: threads set a timeout on each request and take nearly
 * all of them back; some expire, and of these callbacks a few are slow.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timerthread.h>

#define TIMEOUT (50 * TIMERTHREAD_MSEC)
#define ANSWER  (5 * TIMERTHREAD_MSEC) /* a request takes as long */
#define SLOW    (10 * TIMERTHREAD_MSEC)
#define HANGING TIMERTHREAD_SEC

enum { WORKERS = 3, MIN_LOAD = 20, MAX_LOAD = 120, SLOW_ONE_IN = 1000 };

static struct timerthread *tt;
static atomic_int load = MIN_LOAD; /* requests of a worker at a time */
static atomic_bool ending;

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "metrics-server: %s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

/* The work. */

static void take(int64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Callbacks run one at a time, so n needs no lock. */
static void expired(void *arg)
{
	static unsigned long n;

	(void)arg;
	if (++n % SLOW_ONE_IN == 0)
		take(2 * SLOW);
}

/* Periodic: the load goes up and down, so that there is something to see. */
static void change_load(void *arg)
{
	static int step = 1;
	int now = atomic_load(&load);

	(void)arg;
	if (now + step < MIN_LOAD || now + step > MAX_LOAD)
		step = -step;
	atomic_store(&load, now + step);
}

static void *work(void *arg)
{
	timerthread_id timeout[MAX_LOAD];

	while (!atomic_load(&ending)) {
		int n = atomic_load(&load);

		for (int i = 0; i < n; i++)
			check("timerthread_schedule_after",
			      timerthread_schedule_after(tt, TIMEOUT, expired,
							 NULL, &timeout[i]));
		take(ANSWER);
		/* The first request is never answered: its timeout expires. */
		for (int i = 1; i < n; i++)
			timerthread_cancel(tt, timeout[i]);
	}
	return arg;
}

/* Slow callbacks. */

static const char *name_of(timerthread_fn *fn)
{
	return fn == expired ? "expired" : "change_load";
}

static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	unsigned n;
	timerthread_fn *fn; /* the slowest one */
	int64_t run_time;
} slow; /* since the last report */

/*
 * Runs on the timer thread, where all timers wait for it: so it only takes
 * note.  To write a log can take long.
 */
static void ran_long(timerthread_id id, timerthread_fn *fn, void *arg,
		     int64_t run_time, void *ctx)
{
	(void)id, (void)arg, (void)ctx;
	pthread_mutex_lock(&slow_lock);
	slow.n++;
	if (run_time > slow.run_time) {
		slow.run_time = run_time;
		slow.fn = fn;
	}
	pthread_mutex_unlock(&slow_lock);
}

static void report_slow(void)
{
	timerthread_fn *fn;
	int64_t run_time;
	unsigned n;

	pthread_mutex_lock(&slow_lock);
	n = slow.n;
	fn = slow.fn;
	run_time = slow.run_time;
	slow.n = 0;
	slow.run_time = 0;
	pthread_mutex_unlock(&slow_lock);
	if (n > 0)
		fprintf(stderr,
			"slow callbacks: %u, the slowest: %s, %.1f ms\n", n,
			name_of(fn), (double)run_time / TIMERTHREAD_MSEC);
}

/* The hook is not called for a callback that never returns: this is. */
static void hangs(timerthread_id id, timerthread_fn *fn, void *arg,
		  int64_t run_time, void *ctx)
{
	(void)id, (void)arg, (void)ctx;
	fprintf(stderr, "%s hangs, for %.1f s now\n", name_of(fn),
		(double)run_time / TIMERTHREAD_SEC);
}

/* The server.  It has one thread, which makes the answers. */

static unsigned char page[] = {
#include "metrics-server.inc"
};

static struct MHD_Response *make_metrics(void)
{
	static size_t size = 1024; /* grows to what it takes */
	struct MHD_Response *response = NULL;
	char *text;

	while ((text = malloc(size)) != NULL) {
		int length = timerthread_format_metrics(
			&tt, 1, TIMERTHREAD_FORMAT_OPENMETRICS, text, size);

		if (length >= 0 && (size_t)length < size)
			response = MHD_create_response_from_buffer(
				(size_t)length, text, MHD_RESPMEM_MUST_FREE);
		if (response)
			break;
		free(text);
		if (length < 0 || (size_t)length < size)
			break;
		/* A bit more: the numbers may be longer the next time. */
		size = (size_t)length + 1024;
	}
	return response;
}

static struct MHD_Response *make_static(void *text, size_t length)
{
	return MHD_create_response_from_buffer(length, text,
					       MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer(void *ctx, struct MHD_Connection *connection,
			      const char *url, const char *method,
			      const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	static char bad_method[] = "There is only GET.\n";
	static char no_page[] = "There are / and /metrics.\n";
	const char *type = "text/plain; charset=utf-8";
	unsigned status = MHD_HTTP_OK;
	struct MHD_Response *response;
	enum MHD_Result ret;

	(void)ctx, (void)version, (void)upload;
	/*
	 * Called for the head of a request, for pieces of its body, which
	 * nobody wants, and at its end.  An answer before that would close the
	 * connection.
	 */
	if (!*request || *upload_size > 0) {
		*request = page; /* not NULL */
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
		response = make_static(bad_method, strlen(bad_method));
	} else if (strcmp(url, "/metrics") == 0) {
		type = "application/openmetrics-text; version=1.0.0; "
		       "charset=utf-8";
		response = make_metrics();
	} else if (strcmp(url, "/") == 0) {
		type = "text/html; charset=utf-8";
		response = make_static(page, sizeof(page));
	} else {
		status = MHD_HTTP_NOT_FOUND;
		response = make_static(no_page, strlen(no_page));
	}
	if (!response)
		return MHD_NO; /* no memory: the connection is closed */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					MHD_HTTP_METHOD_GET);
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response); /* it lives until it is sent */
	return ret;
}

/* Serves this machine alone: there is no password. */
static struct MHD_Daemon *serve(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct MHD_Daemon *server = MHD_start_daemon(
		MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ERROR_LOG, port, NULL,
		NULL, answer, NULL, MHD_OPTION_SOCK_ADDR, &address,
		MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_END);

	/* It has said why: errno may be of what it did after that. */
	if (!server) {
		fputs("metrics-server: the server cannot start\n", stderr);
		exit(EXIT_FAILURE);
	}
	printf("listening on 127.0.0.1:%u\n",
	       MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	return server;
}

static void start_timers(void)
{
	check("timerthread_create", timerthread_create(&tt));
	/* Metrics have it as their label "name". */
	check("timerthread_set_name",
	      timerthread_set_name(tt, "metrics-timers"));
	check("timerthread_set_slow_hook",
	      timerthread_set_slow_hook(tt, SLOW, ran_long, NULL));
	check("timerthread_start", timerthread_start(tt, NULL));
	check("timerthread_schedule_every",
	      timerthread_schedule_every(tt, timerthread_now(tt),
					 100 * TIMERTHREAD_MSEC, change_load,
					 NULL, NULL));
}

/* Until a signal comes: the watchdog, and the log of slow callbacks. */
static void watch(const sigset_t *signals)
{
	const struct timespec second = {.tv_sec = 1};

	while (sigtimedwait(signals, NULL, &second) < 0) {
		timerthread_visit_running(tt, HANGING, hangs, NULL);
		report_slow();
	}
}

int main(int argc, char **argv)
{
	char *end = NULL;
	unsigned long port = argc == 2 ? strtoul(argv[1], &end, 10) : 0;
	struct MHD_Daemon *server;
	pthread_t worker[WORKERS];
	sigset_t signals;

	if (argc > 2 || (end && (end == argv[1] || *end)) || port > 65535) {
		fputs("usage: metrics-server [PORT]\n", stderr);
		return 2;
	}
	/* Blocked in all threads, so that main gets them by sigtimedwait. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);

	start_timers();
	for (int i = 0; i < WORKERS; i++)
		check("pthread_create",
		      -pthread_create(&worker[i], NULL, work, NULL));
	server = serve((uint16_t)port);
	watch(&signals);

	/* Who uses the timers ends first, then the timers. */
	MHD_stop_daemon(server);
	atomic_store(&ending, true);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
	timerthread_destroy(tt);
	return EXIT_SUCCESS;
}
