/* SPDX-License-Identifier: MIT */
/*
 * A filter of system calls that permits no futex.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Makes every futex call with a time fail in this process, and nothing else. */
static bool refuse_timed_futexes(void)
{
#ifdef SYS_futex_time64
	const unsigned nr = SYS_futex_time64;
#else
	const unsigned nr = SYS_futex;
#endif
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[1])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAIT_BITSET, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Without futexes the timer thread would spin: better not to start. */
START_TEST(no_futex)
{
	setup();
	if (!refuse_timed_futexes()) {
		puts("no_futex: no filters here, nothing was tested");
	} else {
		ck_assert_int_eq(timerthread_start(tt, NULL), -ENOSYS);
		ck_assert_int_eq(timerthread_schedule(tt, 0, never, NULL, NULL),
				 -EINVAL);
	}
	timerthread_destroy(tt);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		no_futex,
	};

	return RUN_TESTS("no_futex", tests);
}
