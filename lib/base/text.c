/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "base/keep.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* A longer piece may be cut on its way to a file. */
#define PIECE_MAX 512

/* write is a cancellation point. */
static void flush(struct text *t)
{
	KEEP_THREAD;
	size_t done = 0;

	while (done < t->held && t->error == 0) {
		ssize_t n = write(t->fd, t->to + done, t->held - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			t->error = -EIO; /* else this would not end */
		else if (errno != EINTR)
			t->error = -errno;
	}
	t->held = 0;
}

int text_end(struct text *t)
{
	if (t->to_file)
		flush(t);
	else if (t->size > 0)
		t->to[t->held] = '\0';
	if (t->error != 0)
		return t->error;
	return t->length < INT_MAX ? (int)t->length : INT_MAX;
}

/*
 * A buffer always has room for the zero byte behind its text, unless its size
 * is 0.  vsnprintf takes no size above INT_MAX.
 */
void text_add(struct text *t, const char *format, ...)
{
	va_list args;
	size_t room, n;
	int r;

	if (t->to_file && t->size - t->held < PIECE_MAX)
		flush(t);
	room = t->size - t->held;
	va_start(args, format);
	r = vsnprintf(room > 0 ? t->to + t->held : NULL,
		      room < INT_MAX ? room : INT_MAX, format, args);
	va_end(args);
	n = r > 0 ? (size_t)r : 0;
	t->length += n;
	t->held += n < room ? n : room - (room > 0);
}

struct seconds text_seconds(uint64_t ns)
{
	struct seconds s;
	struct text t = {.to = s.text, .size = sizeof(s.text)};

	text_add(&t, "%" PRIu64 ".%09" PRIu64, ns / 1000000000,
		 ns % 1000000000);
	text_end(&t);
	return s;
}

void text_add_address(struct text *t, const void *address)
{
	text_add(t, "%p", address);
#ifdef HAVE_DLADDR
	const char *at = address;
	Dl_info i;

	if (dladdr(address, &i) == 0)
		return;
	text_add(t, " (%s", i.dli_fname);
	text_add(t, "+%#tx", at - (const char *)i.dli_fbase);
	if (i.dli_sname) {
		text_add(t, ": %s", i.dli_sname);
		text_add(t, "+%#tx", at - (const char *)i.dli_saddr);
	}
	text_add(t, ")");
#endif
}

/*
 * One system call, so that lines of several threads are not mixed.  It is not
 * inlined, because it uses errno: see base.h.
 */
TT_NOINLINE void report(const char *what)
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
