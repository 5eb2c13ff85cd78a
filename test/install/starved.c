/* SPDX-License-Identifier: MIT */
/*
 * A program that loads the library when it has threads already, and then has no
 * more memory.  With a reserve no call and no callback takes any, on no thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <timerthread.h>
#include <unistd.h>

static atomic_bool starving;
static atomic_int refused;

static bool is_refused(void)
{
	if (!atomic_load(&starving))
		return false;
	atomic_fetch_add(&refused, 1);
	errno = ENOMEM;
	return true;
}

/* The C library allocates with these, too. */
#ifdef __GLIBC__

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return is_refused() ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return is_refused() ? NULL : __libc_memalign(alignment, size);
}

#endif

void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);

	if (is_refused())
		return MAP_FAILED;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "mmap");
	return next(addr, size, prot, flags, fd, offset);
}

/* What is loaded. */
static struct {
	__typeof__(timerthread_create) *create;
	__typeof__(timerthread_set_max_timers) *set_max_timers;
	__typeof__(timerthread_set_reserve) *set_reserve;
	__typeof__(timerthread_set_executor) *set_executor;
	__typeof__(timerthread_start) *start;
	__typeof__(timerthread_start_polled) *start_polled;
	__typeof__(timerthread_start_virtual) *start_virtual;
	__typeof__(timerthread_dispatch) *dispatch;
	__typeof__(timerthread_advance) *advance;
	__typeof__(timerthread_schedule) *schedule;
	__typeof__(timerthread_cancel) *cancel;
	__typeof__(timerthread_get_current) *get_current;
	__typeof__(timerthread_stop) *stop;
	__typeof__(timerthread_destroy) *destroy;
} tt;

static void check(bool holds, const char *what)
{
	if (!holds) {
		atomic_store(&starving, false);
		fprintf(stderr, "starved: %s\n", what);
		_exit(1);
	}
}

#define LOAD(name)                                                             \
	(*(void **)&tt.name = dlsym(library, "timerthread_" #name),            \
	 check(tt.name != NULL, #name))

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	check(library != NULL, "dlopen");
	LOAD(create);
	LOAD(set_max_timers);
	LOAD(set_reserve);
	LOAD(set_executor);
	LOAD(start);
	LOAD(start_polled);
	LOAD(start_virtual);
	LOAD(dispatch);
	LOAD(advance);
	LOAD(schedule);
	LOAD(cancel);
	LOAD(get_current);
	LOAD(stop);
	LOAD(destroy);
}

enum { POLLED, VIRTUAL, EXECUTED, OLD, THREAD = OLD, ALL };

enum { TIMERS = 100 };

static struct timerthread *instance[ALL];
static int fd;
static sem_t begin[OLD], ran[ALL];
static timerthread_fn *given;
static void *given_arg;

static void callback(void *arg)
{
	struct timerthread *current;
	timerthread_id id;
	sem_t *mine = arg;

	check(tt.get_current(&current, &id) == 0, "get_current");
	check(current == instance[mine - ran], "another instance");
	sem_post(mine);
}

static int keep(void *ctx, timerthread_fn *run, void *arg)
{
	(void)ctx;
	given = run;
	given_arg = arg;
	sem_post(&begin[EXECUTED]);
	return 0;
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0)
		continue;
}

/* They are here before the library is. */
static void *old_thread(void *arg)
{
	struct pollfd p = {.events = POLLIN};
	sem_t *mine = arg;

	wait_for(mine);
	if (mine == &begin[EXECUTED]) {
		given(given_arg);
		return NULL;
	}
	if (mine == &begin[VIRTUAL]) {
		check(tt.advance(instance[VIRTUAL], 1) == 1, "advance");
		return NULL;
	}
	p.fd = fd;
	while (poll(&p, 1, -1) != 1)
		continue;
	check(tt.dispatch(instance[POLLED]) == 1, "dispatch");
	return NULL;
}

static int start(int i)
{
	switch (i) {
	case POLLED:
		return tt.start_polled(instance[i], &fd);
	case THREAD:
		return tt.start(instance[i], NULL);
	default:
		return tt.start_virtual(instance[i], 0);
	}
}

static void make(int i)
{
	check(tt.create(&instance[i]) == 0, "create");
	check(tt.set_max_timers(instance[i], TIMERS) == 0, "set_max_timers");
	check(tt.set_reserve(instance[i], 2 * TIMERS) == 0, "set_reserve");
	if (i == EXECUTED)
		check(tt.set_executor(instance[i], keep, NULL) == 0,
		      "set_executor");
	check(start(i) == 0, "start");
}

/* As many timers as there may be, of which one runs. */
static void use(int i)
{
	timerthread_id id[TIMERS];

	for (int k = 1; k < TIMERS; k++)
		check(tt.schedule(instance[i], TIMERTHREAD_NEVER, callback,
				  NULL, &id[k]) == 0,
		      "schedule");
	check(tt.schedule(instance[i], 0, callback, &ran[i], NULL) == 0,
	      "schedule");
	if (i == EXECUTED)
		check(tt.advance(instance[i], 1) == 1, "advance here");
	else if (i < OLD)
		sem_post(&begin[i]);
	wait_for(&ran[i]);
	for (int k = 1; k < TIMERS; k++)
		check(tt.cancel(instance[i], id[k]) == 0, "cancel");
}

int main(int argc, char **argv)
{
	pthread_t thread[OLD];

	check(argc == 2, "usage");
	for (int i = 0; i < ALL; i++)
		sem_init(&ran[i], 0, 0);
	for (int i = 0; i < OLD; i++) {
		sem_init(&begin[i], 0, 0);
		check(pthread_create(&thread[i], NULL, old_thread, &begin[i]) ==
			      0,
		      "pthread_create");
	}
	load(argv[1]);
	for (int i = 0; i < ALL; i++)
		make(i);
	atomic_store(&starving, true);
	for (int i = 0; i < ALL; i++)
		use(i);
	for (int i = 0; i < OLD; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < ALL; i++)
		check(tt.stop(instance[i]) == 0, "stop");
	atomic_store(&starving, false);
	check(atomic_load(&refused) == 0, "something took memory");
	for (int i = 0; i < ALL; i++)
		tt.destroy(instance[i]);
	puts("starved");
	return 0;
}
