/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/errno.h"
#include "os/report.h"

#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* One system call, so that lines of several threads are not mixed. */
void report(const char *what)
{
	static const char name[] = "libtimerthread: ";
	static const char newline[] = "\n";
	const struct iovec line[] = {
		{(void *)(uintptr_t)name, sizeof(name) - 1},
		{(void *)(uintptr_t)what, strlen(what)},
		{(void *)(uintptr_t)newline, 1},
	};
	KEEP_ERRNO;

	/* If standard error is closed, nobody is left to be told. */
	if (writev(STDERR_FILENO, line, 3) < 0)
		return;
}
