/* SPDX-License-Identifier: MIT */
/* echo-server: the server.  How it works is told in the .c file. */
#ifndef ECHO_SERVER_H
#define ECHO_SERVER_H

#include <signal.h>
#include <stdint.h>
#include <timerthread.h>

struct server {
	int64_t idle; /* set by the caller; all else is zero at first */

	struct timerthread *tt;
	int epoll;
	/* Their addresses tell their events from those of connections. */
	int listener, signals, timers;
	int end; /* what server_run returns; -1 while it runs */

	/* For the report. */
	unsigned long accepted, by_peer, by_timer, at_end;
	unsigned long full;    /* pauses, as no file could be opened */
	unsigned long stalled; /* waits for a peer to read */
};

/* These end the program if something fails; ret is a negative errno then. */
void check(const char *what, int ret);
/* The same for what sets errno.  Returns ret. */
int must(const char *what, int ret);

/* Listens on the loopback interface.  Returns the port, which 0 leaves open. */
uint16_t server_listen(struct server *s, uint16_t port);

/* signals are blocked already.  A duration of 0 has no end. */
void server_start(struct server *s, const sigset_t *signals, int64_t duration);

/*
 * Serves until a signal comes, and returns its number, or until the time is
 * up, and returns 0.  After a signal it may be called again.
 */
int server_run(struct server *s);

/* Closes all connections and the rest. */
void server_stop(struct server *s);

#endif
