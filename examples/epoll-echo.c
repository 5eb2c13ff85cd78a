/* SPDX-License-Identifier: MIT */
/*
 * epoll-echo: an echo server of one thread, with epoll and an idle timeout for
 * each connection.
 *
 *     cc epoll-echo.c echo-*.c -o epoll-echo \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * The part to copy is echo-server.c.  This is what runs it, and with
 * --self-test what puts it to the test: clients, each a process, that talk to
 * it over loopback TCP, some of them badly.  They are more than it can open
 * files for at a time.
 */
#define _GNU_SOURCE 1 /* F_DUPFD_CLOEXEC */
#include "echo-clients.h"
#include "echo-server.h"
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	uint16_t port;
	int64_t idle, duration;
	bool self_test;
	int files;
} setting = {.files = 6};

static _Noreturn void usage(void)
{
	fputs("usage: epoll-echo [option]...\n"
	      "An echo server on the loopback interface that closes idle"
	      " connections.\n\n"
	      "  --port N      where to listen (0: any that is free)\n"
	      "  --idle MS     how long a connection may be idle (60000;"
	      " self-test: 300)\n"
	      "  --seconds S   how long to run (0: until SIGINT or SIGTERM)\n"
	      "  --self-test   let clients put it to the test, and end\n"
	      "  --files N     in that test, connections that may be open at a"
	      " time (6); 100\n"
	      "                for valgrind, which loses one where no more can"
	      " be opened\n"
	      "  --help        show this\n\n"
	      "The exit status is 0, 1 if something failed, or 2 for a bad"
	      " option.\n",
	      stdout);
	exit(EXIT_SUCCESS);
}

static _Noreturn void bad_usage(void)
{
	fputs("Try 'epoll-echo --help'.\n", stderr);
	exit(2);
}

static double parse(const char *name, double low, double high)
{
	char *end;
	double value = strtod(optarg, &end);

	/* Asked this way round, NaN is out of range. */
	if (end != optarg && *end == '\0' && value >= low && value <= high)
		return value;
	fprintf(stderr, "epoll-echo: --%s: '%s' is no number in %g..%g\n", name,
		optarg, low, high);
	bad_usage();
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"port", required_argument, NULL, 'p'},
		{"idle", required_argument, NULL, 'i'},
		{"seconds", required_argument, NULL, 's'},
		{"self-test", no_argument, NULL, 't'},
		{"files", required_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			setting.port = (uint16_t)parse("port", 0, 65535);
		else if (c == 'i')
			setting.idle = (int64_t)(parse("idle", 1, 1e9) *
						 TIMERTHREAD_MSEC);
		else if (c == 's')
			setting.duration = (int64_t)(parse("seconds", 0, 1e9) *
						     TIMERTHREAD_SEC);
		else if (c == 't')
			setting.self_test = true;
		else if (c == 'f')
			setting.files = (int)parse("files", 1, 100);
		else if (c == 'h')
			usage();
		else
			bad_usage();
	}
	if (optind < argc) {
		fprintf(stderr, "epoll-echo: what is '%s'?\n", argv[optind]);
		bad_usage();
	}
	if (setting.idle == 0)
		setting.idle = setting.self_test ? 300 * TIMERTHREAD_MSEC
						 : 60 * TIMERTHREAD_SEC;
}

/* So that accept meets EMFILE. */
static void limit_files(void)
{
	struct rlimit limit;
	int end = 0;

	for (int i = 0; i < setting.files; i++) {
		end = must("dup", fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, end));
		close(end++);
	}
	must("getrlimit", getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = (rlim_t)end;
	must("setrlimit", setrlimit(RLIMIT_NOFILE, &limit));
}

/* One SIGCHLD may stand for several children.  Returns how many failed. */
static int reap(int *clients)
{
	int status, failed = 0;

	while (*clients > 0 && waitpid(-1, &status, WNOHANG) > 0) {
		if (WIFSIGNALED(status))
			fprintf(stderr, "client: killed by signal %d\n",
				WTERMSIG(status));
		if (status != 0)
			failed++;
		--*clients;
	}
	return failed;
}

/* Until the clients are done, or somebody wants no more of it. */
static bool self_test(struct server *s, int clients)
{
	int failed = 0;

	limit_files();
	while (clients > 0 && server_run(s) == SIGCHLD)
		failed += reap(&clients);
	if (s->by_timer < CLIENTS_IDLE || s->stalled == 0)
		failed++; /* a client missed something, then */
	return clients == 0 && failed == 0;
}

/* They come through a descriptor, so that no handler interrupts the loop. */
static sigset_t block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (setting.self_test) {
		signal(SIGCHLD, SIG_DFL); /* ignored, there would be none */
		sigaddset(&set, SIGCHLD);
	}
	must("sigprocmask", sigprocmask(SIG_BLOCK, &set, NULL));
	return set;
}

static bool report(const struct server *s)
{
	printf("%-28s %8lu\n", "connections", s->accepted);
	printf("%-28s %8lu\n", "  closed by the peer", s->by_peer);
	printf("%-28s %8lu\n", "  idle for too long", s->by_timer);
	printf("%-28s %8lu\n", "  open at the end", s->at_end);
	printf("%-28s %8lu\n", "pauses for want of files", s->full);
	printf("%-28s %8lu\n", "waits for a peer to read", s->stalled);
	return s->accepted == s->by_peer + s->by_timer + s->at_end;
}

int main(int argc, char **argv)
{
	struct server s = {0};
	bool good = true;
	int clients = 0;
	sigset_t signals;
	uint16_t port;

	parse_options(argc, argv);
	s.idle = setting.idle;
	signals = block_signals();
	port = server_listen(&s, setting.port);
	printf("listening on 127.0.0.1 port %u\n", (unsigned)port);
	fflush(stdout);
	/* Before there are timers: children could not use them. */
	if (setting.self_test)
		clients = clients_fork(port, s.idle);
	check("fork", clients);
	server_start(&s, &signals, setting.duration);
	if (setting.self_test)
		good = self_test(&s, clients);
	else
		server_run(&s);
	server_stop(&s);
	if (!report(&s) || !good) {
		fputs("epoll-echo: something went wrong\n", stderr);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
