/* SPDX-License-Identifier: MIT */
/*
 * What tests ask of a system that not every Unix has, or has by this name.  No
 * other part of the tests knows systems, but for test/os/SET.  What a system
 * cannot do is not done, and the function says so.
 */
#pragma once

#include "random.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#endif
#if defined(__FreeBSD__) || defined(__OpenBSD__)
#include <pthread_np.h>
#endif

/*
 * Clocks.
 */

/* FreeBSD has this name for the other; NetBSD, illumos and macOS have none. */
#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME CLOCK_MONOTONIC
#endif
enum { HAS_BOOTTIME = CLOCK_BOOTTIME != CLOCK_MONOTONIC };

/* On which no timer can run. */
static const clockid_t other_clocks[] __attribute__((unused)) = {
	CLOCK_PROCESS_CPUTIME_ID,
	CLOCK_THREAD_CPUTIME_ID,
#ifdef __linux__
	CLOCK_MONOTONIC_RAW,
	CLOCK_REALTIME_COARSE,
	CLOCK_MONOTONIC_COARSE,
	CLOCK_REALTIME_ALARM,
	CLOCK_BOOTTIME_ALARM,
	CLOCK_TAI,
#endif
	-1,
	12345,
};

enum { OTHER_CLOCKS = sizeof(other_clocks) / sizeof(other_clocks[0]) };

/* The caller's children will have other times.  False: not here. */
static inline bool enter_time_namespace(void)
{
#ifdef __linux__
	const int newtime = 0x80; /* CLONE_NEWTIME */

	return unshare(newtime) == 0 || unshare(newtime | CLONE_NEWUSER) == 0;
#else
	return false;
#endif
}

/*
 * CPUs.
 */

/* -1: unknown. */
static inline int this_cpu(void)
{
#ifdef __linux__
	return sched_getcpu();
#else
	return -1;
#endif
}

/* The caller runs on no other from now on. */
static inline bool stay_on(int cpu)
{
#ifdef __linux__
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
#else
	(void)cpu;
	return false;
#endif
}

/* Where there is another CPU. */
static inline void change_cpu(void)
{
#ifdef __linux__
	cpu_set_t all;
	int here = this_cpu();

	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (i != here && CPU_ISSET(i, &all)) {
			(void)stay_on(i);
			return;
		}
	}
#endif
}

/* To any CPUs. */
static inline bool move_thread(pid_t thread, uint64_t *rng)
{
#ifdef __linux__
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (random_below(rng, 2))
			CPU_SET(cpu, &cpus);
	}
	return sched_setaffinity(thread, sizeof(cpus), &cpus) == 0;
#else
	(void)thread;
	(void)rng;
	return false;
#endif
}

/*
 * Threads.
 */

/* As /proc names it; 0: no thread has a number there. */
static inline pid_t thread_number(void)
{
#ifdef __linux__
	return (pid_t)syscall(SYS_gettid);
#else
	return 0;
#endif
}

/* To that thread, or to any. */
static inline bool signal_thread(pid_t thread, int sig)
{
#ifdef __linux__
	return syscall(SYS_tgkill, getpid(), thread, sig) == 0;
#else
	(void)thread;
	return kill(getpid(), sig) == 0;
#endif
}

/* The caller's. */
static inline void get_thread_name(char *name, size_t size)
{
#ifdef __OpenBSD__
	pthread_get_name_np(pthread_self(), name, size);
#else
	pthread_getname_np(pthread_self(), name, size);
#endif
}

/* The size of the caller's stack; 0: unknown. */
static inline size_t stack_size(void)
{
	size_t size = 0;
#if defined(__linux__) || defined(__NetBSD__)
	pthread_attr_t attr;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstacksize(&attr, &size);
	pthread_attr_destroy(&attr);
#endif
	return size;
}

/* Else a process may have real-time threads without privileges. */
static inline bool forbid_real_time(void)
{
#ifdef RLIMIT_RTPRIO
	const struct rlimit none = {0, 0};

	return setrlimit(RLIMIT_RTPRIO, &none) == 0;
#else
	return true;
#endif
}

/* Signals have lower numbers. */
enum { SIGNALS = 256 };

/* OpenBSD has no real-time signals; musl and OpenBSD no other stacks. */
#ifndef SIGRTMIN
#define SIGRTMIN NSIG
#define SIGRTMAX (NSIG - 1)
#endif
#ifdef __GLIBC__
#define HAS_UCONTEXT
#include <ucontext.h>
#endif

/*
 * Processes, memory.
 */

/* A child that the C library does not know of; where there is none, another. */
static inline pid_t bare_fork(void)
{
#if defined(__linux__) && defined(__s390x__)
	return (pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#elif defined(__linux__)
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#else
	return fork();
#endif
}

/* By the system itself: sanitizers take the place of mlock, and do nothing. */
static inline bool lock_memory(void *p, size_t size)
{
#ifdef __linux__
	return syscall(SYS_mlock, p, size) == 0;
#else
	return mlock(p, size) == 0;
#endif
}

static inline bool unlock_memory(void *p, size_t size)
{
#ifdef __linux__
	return syscall(SYS_munlock, p, size) == 0;
#else
	return munlock(p, size) == 0;
#endif
}

/* What malloc has given for it; 0: unknown. */
static inline size_t size_of_piece(void *p)
{
#ifdef __linux__
	return malloc_usable_size(p);
#else
	(void)p;
	return 0;
#endif
}

/* A test may take the place of malloc, and call the one behind it. */
#ifdef __linux__
#define HAS_MALLOC_BEHIND
#endif

/* An empty file that nobody else sees; negative: none. */
static inline int memory_file(void)
{
#ifdef __linux__
	return memfd_create("test", MFD_CLOEXEC);
#else
	char name[] = "/tmp/timerthread-XXXXXX";
	int fd = mkstemp(name);

	if (fd >= 0)
		unlink(name);
	return fd;
#endif
}

/*
 * epoll: an event loop that is told of changes alone.
 */

enum { TOLD_ALWAYS, TOLD_CHANGES, TOLD_ONCE };

#ifdef __linux__

static inline bool has_epoll(void)
{
	return true;
}

static inline struct epoll_event epoll_for(int way)
{
	struct epoll_event e = {.events = EPOLLIN};

	if (way != TOLD_ALWAYS)
		e.events |= EPOLLET;
	if (way == TOLD_ONCE)
		e.events |= EPOLLONESHOT;
	return e;
}

/* A descriptor, or -1. */
static inline int epoll_for_one(int fd, int way)
{
	struct epoll_event e = epoll_for(way);
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0 ? epoll : -1;
}

static inline bool epoll_again(int epoll, int fd, int way)
{
	struct epoll_event e = epoll_for(way);

	return epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e) == 0;
}

static inline bool epoll_tells(int epoll, int ms)
{
	struct epoll_event e;

	return epoll_wait(epoll, &e, 1, ms) == 1;
}

#else

static inline bool has_epoll(void)
{
	return false;
}

static inline int epoll_for_one(int fd, int way)
{
	(void)fd;
	(void)way;
	return -1;
}

static inline bool epoll_again(int epoll, int fd, int way)
{
	(void)epoll;
	(void)fd;
	(void)way;
	return false;
}

static inline bool epoll_tells(int epoll, int ms)
{
	(void)epoll;
	(void)ms;
	return false;
}

#endif
