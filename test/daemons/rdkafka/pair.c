/* SPDX-License-Identifier: MIT */
/*
 * pair: the CPU time of a timer that is started and stopped, by the calls of
 * librdkafka, beside a thousand others, as a client with many partitions has.
 */
#include "rdkafka_int.h"

enum { OTHERS = 1000, PAIRS = 60000, ROUNDS = 9 };

static void nothing(rd_kafka_timers_t *rkts, void *arg)
{
	(void)rkts;
	(void)arg;
}

static int64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void start(rd_kafka_timers_t *rkts, rd_kafka_timer_t *rtmr, int ms)
{
	rd_kafka_timer_start_oneshot(rkts, rtmr, rd_true, ms * (rd_ts_t)1000,
				     nothing, NULL);
}

static int64_t pairs(rd_kafka_timers_t *rkts)
{
	rd_kafka_timer_t timer = RD_ZERO_INIT;
	int64_t begin = cpu_time();

	for (int i = 0; i < PAIRS; i++) {
		start(rkts, &timer, 1000 + i % 60000);
		rd_kafka_timer_stop(rkts, &timer, 1);
	}
	return (cpu_time() - begin) / PAIRS;
}

int main(void)
{
	static rd_kafka_timer_t others[OTHERS];
	static rd_kafka_t rk;
	int64_t best = INT64_MAX;

	rd_kafka_timers_init(&rk.rk_timers, &rk, NULL);
	for (int i = 0; i < OTHERS; i++)
		start(&rk.rk_timers, &others[i], 1000 + i * 60);
	rd_kafka_timers_run(&rk.rk_timers, RD_POLL_NOWAIT);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t ns = pairs(&rk.rk_timers);

		best = ns < best ? ns : best;
	}
	rd_kafka_timers_destroy(&rk.rk_timers);
	printf("pair_ns %lld\n", (long long)best);
	return 0;
}
