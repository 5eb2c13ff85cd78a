/* SPDX-License-Identifier: MIT */
/*
 * bench [--quick] [--rounds N] [NAME ...]: runs the measurements named, or
 * all of them.
 */
#include "config.h"

#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const struct {
	const char *name;
	void (*run)(const struct bench_options *o);
	const char *what;
} cases[] = {
	{"pair", bench_pair, "schedule + cancel on one thread and on two"},
	{"relative", bench_relative, "a time span in the place of a deadline"},
	{"reschedule", bench_reschedule,
	 "a deadline that is moved all the time"},
	{"handover", bench_handover, "one thread schedules, another cancels"},
	{"sparse", bench_sparse, "lateness of single timers"},
	{"spin", bench_spin, "the same with a spin before the deadline"},
	{"million", bench_million, "a million timers within two seconds"},
	{"cancelled", bench_cancelled, "a due timer after millions of cancels"},
	{"cascade", bench_cascade, "when millions of timers come near"},
	{"wakeups", bench_wakeups, "wake-ups when all is cancelled"},
	{"drivers", bench_drivers, "what an expired timer costs, by driver"},
	{"slack", bench_slack, "wake-ups that slack saves"},
	{"memory", bench_memory, "memory when all is cancelled"},
	{"idle", bench_idle, "an instance on which nothing happens"},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static void usage(FILE *to)
{
	fprintf(to, "usage: bench [--quick] [--rounds N] [NAME ...]\n");
	for (size_t i = 0; i < CASES; i++)
		fprintf(to, "  %-10s%s\n", cases[i].name, cases[i].what);
}

static void print_machine(void)
{
	char line[256], *model;
	struct utsname u;
	FILE *f = fopen("/proc/cpuinfo", "r");

	uname(&u);
	printf("libtimerthread %s, %s %s, %ld CPUs online\n",
	       timerthread_version(), u.sysname, u.release,
	       sysconf(_SC_NPROCESSORS_ONLN));
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "model name", 10) == 0 &&
		    (model = strchr(line, ':')) != NULL) {
			printf("CPU%s", model);
			break;
		}
	}
	if (f)
		fclose(f);
}

static bool run(const char *name, const struct bench_options *o)
{
	for (size_t i = 0; i < CASES; i++) {
		if (strcmp(cases[i].name, name) == 0) {
			printf("\n%s: %s\n", cases[i].name, cases[i].what);
			fflush(stdout);
			cases[i].run(o);
			fflush(stdout);
			return true;
		}
	}
	return false;
}

static int parse_rounds(const char *s)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (*end || n < 1 || n > BENCH_MAX) {
		fprintf(stderr, "bench: --rounds takes 1 to %d\n", BENCH_MAX);
		exit(2);
	}
	return (int)n;
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = {
		{"quick", no_argument, NULL, 'q'},
		{"rounds", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct bench_options o = {.rounds = 9};
	int opt;

	while ((opt = getopt_long(argc, argv, "qr:h", longopts, NULL)) != -1) {
		if (opt == 'q') {
			o.quick = true;
			o.rounds = 5;
		} else if (opt == 'r') {
			o.rounds = parse_rounds(optarg);
		} else {
			usage(opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
	}
	print_machine();
	for (size_t i = 0; optind == argc && i < CASES; i++)
		run(cases[i].name, &o);
	for (; optind < argc; optind++) {
		if (!run(argv[optind], &o)) {
			usage(stderr);
			return 2;
		}
	}
	return 0;
}
