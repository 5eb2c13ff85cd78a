/* SPDX-License-Identifier: MIT */
#include "harness.h"
#include "os/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static void add_some(struct text *t)
{
	text_add(t, "%s is %d", "seven", 7);
	text_add(t, ", ");
	text_add_seconds(t, UINT64_C(1000000001));
}

#define SOME "seven is 7, 1.000000001"

START_TEST(into_a_buffer)
{
	const int length = (int)strlen(SOME);

	for (int size = 0; size < length + 5; size++) {
		char buffer[64];
		struct text t;

		memset(buffer, 'x', sizeof(buffer));
		text_begin(&t, size > 0 ? buffer : NULL, (size_t)size);
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

/* However small the buffer is on the way. */
START_TEST(to_a_file)
{
	for (size_t size = 1; size < 40; size++) {
		char buffer[40], read_back[64] = "";
		FILE *f = tmpfile();
		struct text t;

		ck_assert_ptr_nonnull(f);
		text_begin_file(&t, fileno(f), buffer, size);
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

	text_begin_file(&t, -1, buffer, sizeof(buffer));
	ck_assert_int_eq(text_end(&t), 0);
	text_begin_file(&t, INT_MAX, buffer, sizeof(buffer));
	for (int i = 0; i < 100; i++)
		text_add(&t, "a");
	ck_assert_int_eq(text_end(&t), -EBADF);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		into_a_buffer,
		to_a_file,
		to_a_file_that_is_none,
	};

	return RUN_TESTS("text", tests);
}
