/* SPDX-License-Identifier: MIT */
/*
 * PROGRAM WORK [key=value ...]: does one workload with one timer facility, and
 * prints what came out as one JSON object on one line.
 */
#include "config.h"

#include "work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(void);
	const char *keys;
} works[] = {
	{"check", work_check, ""},
	{"pair", work_pair, " threads window timeout seconds "},
	{"spread", work_spread, " threads window least most seconds "},
	{"mixed", work_mixed, " threads window mode seconds "},
	{"armed", work_armed, " threads window seconds "},
	{"handover", work_handover, " seconds "},
	{"paced", work_paced, " rate timeout seconds "},
	{"capacity", work_capacity, " rate threads seconds "},
	{"fire", work_fire, " count threads "},
	{"opening", work_opening, " count span after watched "},
	{"sparse", work_sparse, " count "},
	{"sleeps", work_sleeps, " how count "},
	{"pending", work_pending, " count seconds "},
	{"peak", work_peak, " count seconds "},
	{"earlier", work_earlier, " threads seconds "},
	{"burst", work_burst, " count "},
	{"keepalive", work_keepalive, " count threads seconds "},
	{"tail", work_tail, " threads window seconds "},
	{"rmw", work_rmw, " seconds "},
	{"counted", work_counted, " pairs window timeout "},
};

#define WORKS (sizeof(works) / sizeof(works[0]))

static char **arguments;
static int n_arguments;
static const char *work;

static void usage(void)
{
	fprintf(stderr, "usage: bench-%s WORK [key=value ...]\n", peer.name);
	for (size_t i = 0; i < WORKS; i++)
		fprintf(stderr, "  %-12s%s\n", works[i].name, works[i].keys);
	exit(2);
}

static const char *find(const char *key)
{
	const size_t n = strlen(key);

	for (int i = 0; i < n_arguments; i++) {
		if (strncmp(arguments[i], key, n) == 0 &&
		    arguments[i][n] == '=')
			return arguments[i] + n + 1;
	}
	return NULL;
}

static double number(const char *s)
{
	char *end;
	double x = strtod(s, &end);

	if (*end || end == s || !(x >= 0 && x <= 1e12)) {
		fprintf(stderr, "bench-%s: not a number: %s\n", peer.name, s);
		exit(2);
	}
	return x;
}

int64_t argument(const char *key, int64_t otherwise)
{
	const char *s = find(key);
	int64_t value = s ? (int64_t)number(s) : otherwise;

	printf(", \"%s\": %lld", key, (long long)value);
	return value;
}

int64_t argument_ns(const char *key, double otherwise_s)
{
	const char *s = find(key);
	double value = s ? number(s) : otherwise_s;

	printf(", \"%s\": %g", key, value);
	return (int64_t)(value * 1e9);
}

int argument_word(const char *key, const char *const *words)
{
	const char *s = find(key);
	int i = 0;

	while (s && words[i] && strcmp(words[i], s) != 0)
		i++;
	if (!words[i]) {
		fprintf(stderr, "bench-%s: not known: %s\n", peer.name, s);
		exit(2);
	}
	printf(", \"%s\": \"%s\"", key, words[i]);
	return i;
}

void result(const char *key, double value)
{
	printf(", \"%s\": %.10g", key, value);
}

void skip(const char *why)
{
	printf(", \"skipped\": \"%s\"}\n", why);
	exit(0);
}

void peer_die(const char *what, int error)
{
	fprintf(stderr, "bench-%s: %s: %s\n", peer.name, what, strerror(error));
	exit(1);
}

/* A key that the work does not have would be a figure of something else. */
static void check_keys(const char *keys)
{
	for (int i = 0; i < n_arguments; i++) {
		const char *equals = strchr(arguments[i], '=');
		char key[64];

		if (!equals || (size_t)(equals - arguments[i]) > 60)
			usage();
		snprintf(key, sizeof(key), " %.*s ",
			 (int)(equals - arguments[i]), arguments[i]);
		if (!strstr(keys, key))
			usage();
	}
}

static void print_peer(void)
{
	printf("{\"peer\": \"%s\", \"version\": \"%s\", \"clock\": \"%s\", "
	       "\"resolution\": %lld, \"notes\": \"%s\", \"work\": \"%s\"",
	       peer.name, peer_version(), peer.clock,
	       (long long)peer.resolution, peer.notes, work);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	work = argv[1];
	arguments = argv + 2;
	n_arguments = argc - 2;
	for (size_t i = 0; i < WORKS; i++) {
		int r;

		if (strcmp(works[i].name, work) != 0)
			continue;
		check_keys(works[i].keys);
		print_peer();
		r = works[i].run();
		printf("}\n");
		return r;
	}
	usage();
}
