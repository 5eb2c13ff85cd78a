/* SPDX-License-Identifier: MIT */
/* rpc-client: the client's end of a connection. */
#ifndef RPC_CLIENT_H
#define RPC_CLIENT_H

#include "rpc-request.h"

struct client {
	int fd;
	pthread_t sender;
	pthread_t reader;
	struct window window;
	atomic_int error; /* the first one, or 0 */
};

/*
 * Starts the threads; c is all zeroes.  They end once its window is closed
 * and drained.  Returns 0 or a negative errno.
 */
int client_start(struct client *c, int fd, struct timerthread *timers,
		 int64_t timeout);

#endif
