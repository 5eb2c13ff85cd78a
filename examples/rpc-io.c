/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* accept4 */
#include "rpc-io.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int batch_read(struct batch *b, int fd)
{
	size_t whole = b->n * sizeof(b->msg[0]);
	ssize_t n;

	memmove(b->msg, &b->msg[b->n], b->bytes - whole);
	b->bytes -= whole;
	b->n = 0;
	do
		n = read(fd, (char *)b->msg + b->bytes,
			 sizeof(b->msg) - b->bytes);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	b->bytes += (size_t)n;
	b->n = b->bytes / sizeof(b->msg[0]);
	return 1;
}

int batch_send(struct batch *b, int fd)
{
	const char *p = (const char *)b->msg;
	size_t size = b->n * sizeof(b->msg[0]);

	b->n = 0;
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

/* A failure ends the program, so it closes nothing. */
int tcp_pair(int fd[2])
{
	/* Port 0: the kernel picks a free one. */
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr *addr = (struct sockaddr *)&in;
	socklen_t size = sizeof(in);
	int on = 1;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener < 0 || bind(listener, addr, size) < 0 ||
	    listen(listener, 1) < 0 || getsockname(listener, addr, &size) < 0)
		return -errno;
	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd[0] < 0 || connect(fd[0], addr, size) < 0)
		return -errno;
	fd[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	/* Small messages must not wait for the acknowledgement of others. */
	if (fd[1] < 0 ||
	    setsockopt(fd[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
	    setsockopt(fd[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		return -errno;
	close(listener);
	return 0;
}
