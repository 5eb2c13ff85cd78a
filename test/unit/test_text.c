/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/text.h"
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

static void add_some(struct text *t)
{
	text_add(t, "%s is %d", "seven", 7);
	text_add(t, ", ");
	text_add(t, "%s", text_seconds(UINT64_C(1000000001)).text);
}

#define SOME "seven is 7, 1.000000001"

START_TEST(into_a_buffer)
{
	const int length = (int)strlen(SOME);

	for (int size = 0; size < length + 5; size++) {
		char buffer[64];
		struct text t;

		memset(buffer, 'x', sizeof(buffer));
		t = (struct text){.to = size > 0 ? buffer : NULL,
				  .size = (size_t)size};
		add_some(&t);
		ck_assert_int_eq(text_end(&t), length);
		if (size > 0) {
			int fits = size > length ? length : size - 1;

			ck_assert_int_eq(memcmp(buffer, SOME, (size_t)fits), 0);
			ck_assert_int_eq(buffer[fits], '\0');
		}
		ck_assert_int_eq(buffer[size], 'x');
	}
}
END_TEST

/* However small the buffer is on the way: it holds a byte, and the zero. */
START_TEST(to_a_file)
{
	for (size_t size = 2; size < 40; size++) {
		char buffer[40], read_back[64] = "";
		FILE *f = tmpfile();
		struct text t;

		ck_assert_ptr_nonnull(f);
		t = (struct text){.to = buffer,
				  .size = size,
				  .to_file = true,
				  .fd = fileno(f)};
		for (const char *c = SOME; *c; c++)
			text_add(&t, "%c", *c);
		ck_assert_int_eq(text_end(&t), (int)strlen(SOME));
		rewind(f);
		ck_assert_ptr_nonnull(fgets(read_back, sizeof(read_back), f));
		ck_assert_str_eq(read_back, SOME);
		fclose(f);
	}
}
END_TEST

START_TEST(to_a_file_that_is_none)
{
	char buffer[8];
	struct text t;

	t = (struct text){.to = buffer,
			  .size = sizeof(buffer),
			  .to_file = true,
			  .fd = -1};
	ck_assert_int_eq(text_end(&t), 0);
	t = (struct text){.to = buffer,
			  .size = sizeof(buffer),
			  .to_file = true,
			  .fd = INT_MAX};
	for (int i = 0; i < 100; i++)
		text_add(&t, "a");
	ck_assert_int_eq(text_end(&t), -EBADF);
}
END_TEST

/* A file that takes a byte at a time, and each time is interrupted first. */
enum { SLOW_FD = INT_MAX - 1 };
static char slow[64];
static size_t slow_n, slow_max;
static int writes;

/* A file that refuses what is written first. */
enum { REFUSING_FD = INT_MAX - 2 };
static bool refuses;

static ssize_t write_by_another_call(int fd, const void *from, size_t n)
{
	struct iovec one = {(void *)(uintptr_t)from, n};

	return writev(fd, &one, 1);
}

/* What was written on standard error, and by how many calls. */
static char said[200];
static int calls;

static ssize_t keep_said(const char *from, size_t n)
{
	ck_assert_uint_lt(strlen(said) + n, sizeof(said));
	strncat(said, from, n);
	calls++;
	return (ssize_t)n;
}

ssize_t write(int fd, const void *from, size_t n)
{
	if (fd == STDERR_FILENO)
		return keep_said(from, n);
	if (fd == REFUSING_FD) {
		errno = ENOSPC;
		n = refuses ? SIZE_MAX : n;
		refuses = false;
		return (ssize_t)n;
	}
	if (fd != SLOW_FD)
		return write_by_another_call(fd, from, n);
	if (writes++ % 2 == 0) {
		errno = EINTR;
		return -1;
	}
	if (n == 0 || slow_n == slow_max)
		return 0;
	slow[slow_n++] = *(const char *)from;
	return 1;
}

START_TEST(to_a_file_that_is_slow)
{
	char buffer[16];
	struct text t;

	slow_max = sizeof(slow) - 1;
	t = (struct text){.to = buffer,
			  .size = sizeof(buffer),
			  .to_file = true,
			  .fd = SLOW_FD};
	add_some(&t);
	ck_assert_int_eq(text_end(&t), (int)strlen(SOME));
	ck_assert_str_eq(slow, SOME);

	/* It takes no more, and says nothing. */
	slow_max = slow_n + 3;
	t = (struct text){.to = buffer,
			  .size = sizeof(buffer),
			  .to_file = true,
			  .fd = SLOW_FD};
	add_some(&t);
	ck_assert_int_eq(text_end(&t), -EIO);
	ck_assert_str_eq(slow, SOME "sev");
}
END_TEST

/* What follows a part that is missing would only seem to be all. */
START_TEST(to_a_file_that_refuses_once)
{
	char buffer[16];
	struct text t;

	refuses = true;
	t = (struct text){.to = buffer,
			  .size = sizeof(buffer),
			  .to_file = true,
			  .fd = REFUSING_FD};
	add_some(&t);
	add_some(&t);
	ck_assert(!refuses);
	ck_assert_int_eq(text_end(&t), -ENOSPC);
}
END_TEST

/* Else those of several threads would be mixed. */
START_TEST(a_message_is_one_call)
{
	report("a message");
	ck_assert_str_eq(said, "libtimerthread: a message\n");
	ck_assert_int_eq(calls, 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		into_a_buffer,
		to_a_file,
		to_a_file_that_is_none,
		to_a_file_that_is_slow,
		to_a_file_that_refuses_once,
		a_message_is_one_call,
	};

	return RUN_TESTS("text", tests);
}
