/* SPDX-License-Identifier: MIT */
/*
 * rpc-server: the server's end of a connection.  It answers at once, except
 * now and then, about when the deadline passes or well after.
 */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H

#include "rpc-io.h"
#include <pthread.h>
#include <timerthread.h>

struct server {
	/* Set by the caller; all else is zero at first. */
	int fd;
	struct timerthread *timers; /* for the slow replies */
	int64_t timeout;            /* of the client's requests */
	double slow;                /* share of the replies */
	unsigned seed;

	pthread_t thread;
	struct batch out;
	int due[2];          /* a pipe of slow replies whose time has come */
	unsigned long nheld; /* slow replies still held back */
};

/*
 * Starts the thread.  It ends once the client is done and all replies held
 * back have been sent.  Returns 0 or a negative errno.
 */
int server_start(struct server *s);

#endif
