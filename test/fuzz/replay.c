/* SPDX-License-Identifier: MIT */
/*
 * Feeds a fuzzer's inputs to its target, without the fuzzer.
 *
 * replay [FILE [N]]: each line of FILE is an input, as hexadecimal digits.
 * Without FILE it is test/fuzz/corpus; with N only that line is run, from 1.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16 };

static char line[2 * INPUT_MAX + 2];

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The bytes of the line.  False: it is not one of such digits. */
static bool parse(uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int high = digit(line[2 * i]), low = digit(line[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return line[2 * n] == '\n';
}

/*
 * In memory of its own, so that sanitizers see what is read beyond it.  False:
 * that is no input.
 */
static bool run_line(void)
{
	size_t n = strlen(line) / 2;
	uint8_t *data = malloc(n);
	bool r = data && n > 0 && parse(data, n);

	if (r)
		LLVMFuzzerTestOneInput(data, n);
	free(data);
	return r;
}

/*
 * How many inputs were run; 0: none, or the file is not as it should be.  Tells
 * the number of each before, for the target may abort.
 */
static unsigned run_file(const char *path, unsigned only)
{
	FILE *f = fopen(path, "r");
	unsigned n = 0, ran = 0;

	if (!f) {
		perror(path);
		return 0;
	}
	while (fgets(line, sizeof(line), f)) {
		n++;
		if (only > 0 && n != only)
			continue;
		fprintf(stderr, " %u", n);
		if (!run_line()) {
			fprintf(stderr, " is no input\n");
			ran = 0;
			break;
		}
		ran++;
	}
	fclose(f);
	return ran;
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir");
	unsigned only = argc > 2 ? (unsigned)atoi(argv[2]) : 0, ran;
	char path[4096];

	snprintf(path, sizeof(path), "%s/test/fuzz/corpus",
		 srcdir ? srcdir : ".");
	ran = run_file(argc > 1 ? argv[1] : path, only);
	printf("\nreplay: %u inputs\n", ran);
	return ran > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
