/* SPDX-License-Identifier: MIT */
/*
 * echo-clients: the peers of epoll-echo's self-test, each a process of its
 * own.  Some behave and some do not.  Each checks what the server does to it,
 * says on standard error what was wrong, and ends with status 0 if nothing was.
 */
#ifndef ECHO_CLIENTS_H
#define ECHO_CLIENTS_H

#include <stdint.h>

/* So many of the clients must be closed by the server, for being idle. */
enum { CLIENTS_IDLE = 7 };

/*
 * Forks them all, for a server at that port of the loopback interface which
 * closes a connection after idle nanoseconds.  Returns how many there are, or
 * a negative errno.
 */
int clients_fork(uint16_t port, int64_t idle);

#endif
