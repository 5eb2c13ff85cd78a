/* SPDX-License-Identifier: MIT */
/* rpc-io: messages, and the sockets that carry them. */
#ifndef RPC_IO_H
#define RPC_IO_H

#include <stddef.h>
#include <stdint.h>

/* A request or a reply, in host byte order: both ends are this process. */
struct message {
	uint32_t record; /* where the client keeps the request */
	uint32_t word;   /* and the word that it has there */
	uint64_t value;
};

enum { BATCH = 64 };

/* Messages to write, or those just read and perhaps part of another. */
struct batch {
	struct message msg[BATCH];
	size_t n;
	size_t bytes; /* when read */
};

/*
 * Reads once, in place of what the batch held.  Returns 1, with perhaps no
 * whole message yet, 0 at the end, or a negative errno.
 */
int batch_read(struct batch *b, int fd);

/* Sends all, and leaves the batch empty.  Returns 0 or a negative errno. */
int batch_send(struct batch *b, int fd);

/* A connection over loopback TCP.  Returns 0 or a negative errno. */
int tcp_pair(int fd[2]);

#endif
