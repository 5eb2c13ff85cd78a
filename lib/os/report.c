/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/keep.h"
#include "os/report.h"
#include "os/text.h"

#include <unistd.h>

/* One system call, so that lines of several threads are not mixed. */
void report(const char *what)
{
	KEEP_ERRNO;
	char line[128];
	struct text t = {.to = line,
			 .size = sizeof(line),
			 .to_file = true,
			 .fd = STDERR_FILENO};

	text_add(&t, "libtimerthread: %s\n", what);
	/* If standard error is closed, nobody is left to be told. */
	(void)text_end(&t);
}
