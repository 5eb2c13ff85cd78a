/* SPDX-License-Identifier: MIT */
/*
 * pre-fork-server: worker processes, each with an instance of its own.
 *
 *     cc pre-fork-server.c -o pre-fork-server \
 *         $(pkg-config --cflags --libs timerthread) -pthread
 *
 * The master opens the socket, forks the workers, and starts another one in the
 * place of one that has died.  A child of fork has none of its parent's
 * threads, and calls on an instance that was started before fail with -ECHILD.
 * So the master starts no instance: each worker creates and starts its own.
 *
 * A worker waits in poll for new connections, for bytes, which it answers with
 * its process id, and for SIGTERM.  Each connection has an idle timer.  Its
 * callback, on the timer thread, only shuts the socket down; the worker then
 * sees the end of the stream, and closes it in the place where it closes all.
 *
 * SIGTERM ends the master, which ends the workers.  What is left out: workers
 * that notice when the master itself was killed; a pause before a worker that
 * dies at once is started again; what to do when no descriptor is free.
 *
 * Here one more child is the clients.  They kill two workers, and then let a
 * third one close an idle connection.
 */
#define _POSIX_PTHREAD_SEMANTICS /* illumos: sigwait has two arguments */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <timerthread.h>
#include <unistd.h>

#define IDLE (200 * TIMERTHREAD_MSEC)

enum { WORKERS = 2, CONNECTIONS = 64 };

static void check(const char *what, int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "pre-fork-server: %s: %s\n", what, strerror(-ret));
	_exit(EXIT_FAILURE);
}

static int must(const char *what, int ret)
{
	check(what, ret < 0 ? -errno : 0);
	return ret;
}

static void unblock_term(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/*
 * A worker.
 */

enum { TERM, LISTEN, FIRST };

struct worker {
	struct timerthread *tt;
	nfds_t n; /* of what poll watches; the connections begin at FIRST */
	struct pollfd watched[FIRST + CONNECTIONS];
	timerthread_id idle_timer[FIRST + CONNECTIONS];
};

static int term_pipe[2];

static void on_term(int signal)
{
	int error = errno;

	(void)signal;
	(void)!write(term_pipe[1], "", 1);
	errno = error;
}

/* Runs on the timer thread.  The socket is open until a cancel has waited. */
static void idle(void *arg)
{
	shutdown((int)(intptr_t)arg, SHUT_RDWR);
}

static void accept_one(struct worker *w)
{
	/* Another worker may have been faster. */
	int fd = accept(w->watched[LISTEN].fd, NULL, NULL);

	if (fd < 0)
		return;
	if (w->n == FIRST + CONNECTIONS ||
	    timerthread_schedule_after(w->tt, IDLE, idle, (void *)(intptr_t)fd,
				       &w->idle_timer[w->n]) < 0) {
		close(fd);
		return;
	}
	w->watched[w->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void close_one(struct worker *w, nfds_t i)
{
	timerthread_cancel_wait(w->tt, w->idle_timer[i]);
	close(w->watched[i].fd);
	w->n--;
	w->watched[i] = w->watched[w->n];
	w->idle_timer[i] = w->idle_timer[w->n];
}

static void answer(struct worker *w, nfds_t i)
{
	int fd = w->watched[i].fd;
	pid_t pid = getpid();
	char bytes[64];

	if (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0 &&
	    send(fd, &pid, sizeof(pid), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		timerthread_reschedule_after(w->tt, w->idle_timer[i], IDLE);
	else
		close_one(w, i);
}

static void serve(struct worker *w)
{
	for (;;) {
		if (poll(w->watched, w->n, -1) < 0) {
			check("poll", errno == EINTR ? 0 : -errno);
			continue;
		}
		if (w->watched[TERM].revents != 0)
			return;
		/* From the last on, as close_one puts the last into a gap. */
		for (nfds_t i = w->n; i-- > FIRST;)
			if (w->watched[i].revents != 0)
				answer(w, i);
		if (w->watched[LISTEN].revents != 0)
			accept_one(w);
	}
}

/* SIGTERM is blocked at first, as in the master: so none is lost. */
static _Noreturn void worker_main(int listen_fd)
{
	struct sigaction term = {.sa_handler = on_term};
	struct worker w = {.n = FIRST};

	must("pipe", pipe(term_pipe));
	w.watched[TERM] = (struct pollfd){term_pipe[0], POLLIN, 0};
	w.watched[LISTEN] = (struct pollfd){listen_fd, POLLIN, 0};
	check("timerthread_create", timerthread_create(&w.tt));
	check("timerthread_start", timerthread_start(w.tt, NULL));
	must("sigaction", sigaction(SIGTERM, &term, NULL));
	unblock_term();
	serve(&w);
	/* A real server would first finish what it has begun. */
	while (w.n > FIRST)
		close_one(&w, w.n - 1);
	timerthread_destroy(w.tt);
	_exit(EXIT_SUCCESS);
}

/*
 * The clients, in a process of their own.
 */

/* Returns the process that answers, and the connection to it. */
static pid_t ask(const struct sockaddr_in *address, int *ret_fd)
{
	const struct sockaddr *a = (const struct sockaddr *)address;
	pid_t pid;

	for (;;) {
		int fd = must("socket", socket(AF_INET, SOCK_STREAM, 0));

		must("connect", connect(fd, a, sizeof(*address)));
		*ret_fd = fd;
		if (send(fd, "", 1, MSG_NOSIGNAL) == 1 &&
		    recv(fd, &pid, sizeof(pid), MSG_WAITALL) == sizeof(pid))
			return pid;
		close(fd); /* its worker was killed, or was slow */
	}
}

static _Noreturn void clients_main(const struct sockaddr_in *address,
				   pid_t master)
{
	char byte;
	int fd;

	unblock_term();
	/* As many as there are.  So in the end a new one answers. */
	for (int i = 0; i < WORKERS; i++) {
		must("kill", kill(ask(address, &fd), SIGKILL));
		while (recv(fd, &byte, 1, 0) > 0)
			continue;
		close(fd);
	}
	printf("worker %d answers", (int)ask(address, &fd));
	if (recv(fd, &byte, 1, 0) != 0)
		exit(EXIT_FAILURE);
	puts(", and closes an idle connection");
	fflush(stdout);
	/* If the master was killed, another process is the parent now. */
	if (getppid() == master)
		must("kill", kill(master, SIGTERM));
	exit(EXIT_SUCCESS);
}

/*
 * The master.
 */

enum { CLIENTS = WORKERS, CHILDREN };

struct master {
	int listen_fd;
	struct sockaddr_in address;
	pid_t child[CHILDREN];
	bool failed;
};

static void on_child(int signal)
{
	(void)signal; /* some systems drop a signal that has no handler */
}

static void master_listen(struct master *m)
{
	struct sockaddr *a = (struct sockaddr *)&m->address;
	socklen_t size = sizeof(m->address);

	m->address.sin_family = AF_INET;
	m->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	m->listen_fd = must("socket", socket(AF_INET, SOCK_STREAM, 0));
	must("bind", bind(m->listen_fd, a, size));
	must("listen", listen(m->listen_fd, SOMAXCONN));
	must("getsockname", getsockname(m->listen_fd, a, &size));
	must("fcntl", fcntl(m->listen_fd, F_SETFL, O_NONBLOCK));
}

static bool master_fork(struct master *m, int i)
{
	pid_t self = getpid();

	fflush(stdout); /* else each child would have what is buffered */
	m->child[i] = fork();
	if (m->child[i] == 0 && i == CLIENTS)
		clients_main(&m->address, self);
	if (m->child[i] == 0)
		worker_main(m->listen_fd);
	return m->child[i] > 0;
}

/* Returns whether to go on. */
static bool master_reap(struct master *m)
{
	int status, i;
	pid_t pid;

	/* One SIGCHLD may stand for several children. */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < CHILDREN && m->child[i] != pid; i++)
			continue;
		if (i == CHILDREN)
			continue; /* not of this program */
		m->child[i] = 0;
		/* The clients kill workers; nothing kills the clients. */
		if (i == CLIENTS || WIFEXITED(status))
			m->failed |= status != 0;
		/* Another worker could not start either. */
		if (i == CLIENTS || m->failed)
			return false;
		printf("worker %d has died\n", (int)pid);
		if (!master_fork(m, i))
			m->failed = true;
	}
	return !m->failed;
}

static void master_end(struct master *m)
{
	int status;

	for (int i = 0; i < CHILDREN; i++) {
		if (m->child[i] <= 0)
			continue;
		kill(m->child[i], SIGTERM);
		waitpid(m->child[i], &status, 0);
		/* Killed by the clients, or these by the line above. */
		if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL ||
					    WTERMSIG(status) == SIGTERM))
			continue;
		m->failed |= status != 0;
	}
}

int main(void)
{
	struct sigaction child = {.sa_handler = on_child};
	struct master m = {0};
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	must("sigaction", sigaction(SIGCHLD, &child, NULL));
	master_listen(&m);
	for (int i = 0; i < CHILDREN && !m.failed; i++)
		m.failed = !master_fork(&m, i);
	while (!m.failed) {
		sigwait(&signals, &signal);
		if (signal != SIGCHLD || !master_reap(&m))
			break;
	}
	master_end(&m);
	return m.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
