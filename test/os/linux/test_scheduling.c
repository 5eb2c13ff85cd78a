/* SPDX-License-Identifier: MIT */
/*
 * On which CPUs threads run, and how the thread of an instance is scheduled.
 */
#include "config.h"

#include "attributes.h"
#include "child.h"
#include "fail_alloc.h"
#include "os/cpu.h"
#include "placed.h"
#include "works.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Runs fn where the thread may use one CPU only. */
static void on_one_cpu(int cpu, void (*fn)(int cpu))
{
	cpu_set_t one, before;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	if (!CPU_ISSET(cpu, &before))
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	fn(cpu);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Do timers go to this bucket?  Not one for which the driver has locked it. */
static bool places_in(uint32_t bucket)
{
	for (int i = 0; i < 1000; i++) {
		if (bucket_of(far_timer()) == bucket)
			return true;
	}
	return false;
}

/* As under taskset(1): there is a bucket for each CPU that there may be. */
static void start_here(int cpu)
{
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	ck_assert_uint_eq(intake()->n, intake_default_buckets());
	ck_assert_int_ge(intake()->n, sysconf(_SC_NPROCESSORS_ONLN));
	ck_assert(places_in((uint32_t)cpu % intake()->cpus.n));
	schedule(0, post, &ran);
	wait_for(&ran);
	end();
}

START_TEST(restricted_to_one)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		on_one_cpu(cpu, start_here);
}
END_TEST

static void schedule_here(int cpu)
{
	ck_assert(places_in((uint32_t)cpu % intake()->cpus.n));
}

/* The thread is moved while the instance runs. */
START_TEST(moved)
{
	setup();
	ck_assert_int_eq(timerthread_start(tt, NULL), 0);
	for (int i = 0; i < 20; i++) {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			on_one_cpu(cpu, schedule_here);
	}
	end();
}
END_TEST

static cpu_set_t seen_cpus;
static int seen_slack;

/* As sched_getattr(2) gives them. */
static struct {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice, deadline, period;
} seen_attributes;

static void see_attributes(void)
{
	memset(&seen_attributes, 0, sizeof(seen_attributes));
	seen_attributes.size = sizeof(seen_attributes);
	if (syscall(SYS_sched_getattr, 0, &seen_attributes,
		    sizeof(seen_attributes), 0) != 0)
		seen_attributes.slice = 0;
}

static void inspect(void *arg)
{
	sched_getaffinity(0, sizeof(seen_cpus), &seen_cpus);
	seen_slack = prctl(PR_GET_TIMERSLACK);
	see_attributes();
	sem_post(arg);
}

static void inspect_when_started(const pthread_attr_t *attr)
{
	ck_assert_int_eq(timerthread_start(tt, attr), 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	timerthread_destroy(tt);
}

START_TEST(attributes_with_an_affinity)
{
	cpu_set_t all, one;
	pthread_attr_t attr;
	int last = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &all))
			last = cpu;
	}
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	pthread_attr_init(&attr);
	if (!set_affinity(&attr, &one))
		return;
	setup();
	inspect_when_started(&attr);
	ck_assert(CPU_EQUAL(&seen_cpus, &one));

	/* A set that no CPU is in fails as pthread_create does. */
	CPU_ZERO(&one);
	ck_assert(set_affinity(&attr, &one));
	setup();
	ck_assert_int_eq(timerthread_start(tt, &attr), -EINVAL);
	inspect_when_started(NULL);
	ck_assert(CPU_EQUAL(&seen_cpus, &all));
	pthread_attr_destroy(&attr);
}
END_TEST

/* Its sleeps end on time. */
START_TEST(no_timer_slack)
{
	setup();
	inspect_when_started(NULL);
	ck_assert_int_eq(seen_slack, 1);
}
END_TEST

/* It gets a CPU soon after it wakes up; all else is as before. */
START_TEST(a_short_slice)
{
	int nice;
	uint64_t slice;

	see_attributes();
	nice = seen_attributes.nice;
	slice = seen_attributes.slice;
	setup();
	inspect_when_started(NULL);
	ck_assert_int_eq(seen_attributes.nice, nice);
	/* 0: the kernel does not tell. */
	ck_assert_uint_eq(seen_attributes.slice,
			  slice < 100000 ? slice : 100000);
}
END_TEST

/* Not permitted to all. */
START_TEST(a_policy_of_its_own)
{
	const struct sched_param param = {.sched_priority = 1};
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	ck_assert_int_eq(pthread_attr_setschedpolicy(&attr, SCHED_FIFO), 0);
	ck_assert_int_eq(pthread_attr_setschedparam(&attr, &param), 0);
	setup();
	r = timerthread_start(tt, &attr);
	pthread_attr_destroy(&attr);
	if (r == -EPERM) {
		timerthread_destroy(tt);
		return;
	}
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(timerthread_schedule(tt, 0, inspect, &ran, NULL), 0);
	wait_for(&ran);
	timerthread_destroy(tt);
	ck_assert_uint_eq(seen_attributes.policy, SCHED_FIFO);
	ck_assert_uint_eq(seen_attributes.priority, 1);
}
END_TEST

/*
 * The default instance, if whoever comes first is a thread with a scheduling of
 * its own.
 */
static struct scheduling {
	int policy, nice;
	cpu_set_t cpus;
} seen;

static struct scheduling scheduling_here(void)
{
	struct scheduling s;
	struct sched_param param;

	NEED(pthread_getschedparam(pthread_self(), &s.policy, &param) == 0);
	s.nice = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
	NEED(sched_getaffinity(0, sizeof(s.cpus), &s.cpus) == 0);
	return s;
}

static void look(void *arg)
{
	seen = scheduling_here();
	sem_post(arg);
}

/* The policy that the caller shall have. */
static int odd_policy;
static bool refused; /* the kernel does not permit what undoes it */

static void be_odd(void)
{
	struct sched_param param = {.sched_priority = odd_policy == SCHED_FIFO};
	cpu_set_t one;
	int cpu = 0;

	NEED(sched_getaffinity(0, sizeof(one), &one) == 0);
	while (!CPU_ISSET(cpu, &one))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	NEED(sched_setaffinity(0, sizeof(one), &one) == 0);
	/* Nicer than now: the tests may be so already. */
	NEED(setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid),
			 scheduling_here().nice + 5) == 0);
	/* Not permitted to all: then the rest is tested. */
	pthread_setschedparam(pthread_self(), odd_policy, &param);
}

static void *first(void *arg)
{
	be_odd();
	errno = E2BIG;
	NEED(timerthread_default(&tt) == 0);
	NEED(errno == E2BIG);
	return arg;
}

static void first_is_odd(void)
{
	const struct scheduling main_thread = scheduling_here();
	pthread_t t;

	sem_init(&ran, 0, 0);
	NEED(pthread_create(&t, NULL, first, NULL) == 0);
	pthread_join(t, NULL);
	NEED(timerthread_schedule(tt, 0, look, &ran, NULL) == 0);
	wait_for(&ran);
	NEED(CPU_EQUAL(&seen.cpus, &main_thread.cpus));
	NEED(refused || seen.policy == SCHED_OTHER);
	NEED(refused || seen.nice == main_thread.nice);
}

START_TEST(its_thread_is_ordinary_whoever_comes_first)
{
	static const int policies[] = {
		SCHED_OTHER,
		SCHED_FIFO,
		SCHED_BATCH,
		SCHED_IDLE,
	};

	/* Only a privileged process may be less nice again. */
	refused = geteuid() != 0;
	for (size_t i = 0; i < 4; i++) {
		odd_policy = policies[i];
		in_child(first_is_odd);
	}
}
END_TEST

static void first_is_unprivileged(void)
{
	const struct rlimit none = {0, 0};

	if (setrlimit(RLIMIT_NICE, &none) != 0 ||
	    (geteuid() == 0 && setuid(65534) != 0)) {
		puts("starts_without_privileges: nothing was tested");
		return;
	}
	first_is_odd();
}

/* What it may not change stays as it is. */
START_TEST(starts_without_privileges)
{
	refused = true;
	odd_policy = SCHED_IDLE;
	in_child(first_is_unprivileged);
}
END_TEST

/* Sanitizers (see fail_alloc.h) need this call to start a thread. */
#ifdef FAIL_ALLOC_UNAVAILABLE
#define REFUSED_GETAFFINITY UINT32_MAX
#else
#define REFUSED_GETAFFINITY SYS_sched_getaffinity
#endif

/* Makes these calls fail in this process. */
static bool refuse_scheduling(void)
{
	const unsigned deny = SECCOMP_RET_ERRNO | EPERM;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setscheduler, 5,
			 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, REFUSED_GETAFFINITY, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 3,
			 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setpriority, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, deny),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void first_is_filtered(void)
{
	if (!refuse_scheduling()) {
		puts("starts_under_a_filter: nothing was tested");
		return;
	}
	errno = E2BIG;
	NEED(timerthread_default(&tt) == 0);
	NEED(errno == E2BIG);
	NEED(works(tt));
}

START_TEST(starts_under_a_filter)
{
	in_child(first_is_filtered);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		restricted_to_one,
		moved,
		attributes_with_an_affinity,
		no_timer_slack,
		a_short_slice,
		a_policy_of_its_own,
		its_thread_is_ordinary_whoever_comes_first,
		starts_without_privileges,
		starts_under_a_filter,
	};

	return RUN_TESTS("scheduling", tests);
}
