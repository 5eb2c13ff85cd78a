/* SPDX-License-Identifier: MIT */
/*
 * use: a producer and a consumer at two brokers of librdkafka's own, on the
 * loopback.  The consumer commits its offsets and sends heartbeats, by timers.
 *
 * It prints "idle" when all is done, and ends at SIGTERM.
 */
#include "rdkafka.h"
#include "rdkafka_mock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MESSAGES = 100, PATIENCE = 30 };

static void expect(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "not so: %s\n", what);
	exit(1);
}

static rd_kafka_t *client(rd_kafka_type_t type, const char *const *settings)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *rk;
	char error[256];

	for (; *settings; settings += 2)
		expect(rd_kafka_conf_set(conf, settings[0], settings[1], error,
					 sizeof(error)) == RD_KAFKA_CONF_OK,
		       error);
	rk = rd_kafka_new(type, conf, error, sizeof(error));
	expect(rk != NULL, error);
	return rk;
}

static rd_kafka_t *producer(void)
{
	static const char *const settings[] = {"test.mock.num.brokers", "2",
					       "linger.ms", "5", NULL};

	return client(RD_KAFKA_PRODUCER, settings);
}

static rd_kafka_t *consumer(const char *brokers)
{
	const char *const settings[] = {"bootstrap.servers",
					brokers,
					"group.id",
					"group",
					"auto.offset.reset",
					"earliest",
					"auto.commit.interval.ms",
					"100",
					"heartbeat.interval.ms",
					"500",
					"session.timeout.ms",
					"6000",
					NULL};
	rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, settings);

	rd_kafka_poll_set_consumer(rk);
	return rk;
}

static void subscribe(rd_kafka_t *rk, const char *topic, const char *another)
{
	rd_kafka_topic_partition_list_t *topics =
		rd_kafka_topic_partition_list_new(2);

	rd_kafka_topic_partition_list_add(topics, topic, -1);
	if (another)
		rd_kafka_topic_partition_list_add(topics, another, -1);
	expect(rd_kafka_subscribe(rk, topics) == 0, "subscribe");
	rd_kafka_topic_partition_list_destroy(topics);
}

static void produce(rd_kafka_t *rk, const char *topic)
{
	for (int i = 0; i < MESSAGES; i++)
		expect(rd_kafka_producev(
			       rk, RD_KAFKA_V_TOPIC(topic),
			       RD_KAFKA_V_VALUE(&i, sizeof(i)),
			       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
			       RD_KAFKA_V_END) == 0,
		       "produce");
}

static void consume(rd_kafka_t *rk, int n)
{
	time_t end = time(NULL) + PATIENCE;

	while (n > 0 && time(NULL) < end) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, 100);

		if (!m)
			continue;
		n -= !m->err;
		rd_kafka_message_destroy(m);
	}
	expect(n == 0, "all messages have come");
}

/* Timers of the client connect again, and ask which broker has what. */
static void lose_brokers(rd_kafka_t *rk, rd_kafka_mock_cluster_t *brokers)
{
	struct timespec while_down = {2, 0};

	for (int i = 1; i <= 2; i++)
		rd_kafka_mock_broker_set_down(brokers, i);
	produce(rk, "second");
	nanosleep(&while_down, NULL);
	for (int i = 1; i <= 2; i++)
		rd_kafka_mock_broker_set_up(brokers, i);
	expect(rd_kafka_flush(rk, PATIENCE * 1000) == 0, "all are delivered");
}

static void await_end(rd_kafka_t *c)
{
	sigset_t end;
	struct timespec second = {1, 0};

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	puts("idle");
	fflush(stdout);
	/* One that does not poll is taken for dead. */
	while (sigtimedwait(&end, NULL, &second) != SIGTERM) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(c, 0);

		if (m)
			rd_kafka_message_destroy(m);
	}
}

int main(void)
{
	rd_kafka_mock_cluster_t *brokers;
	rd_kafka_t *p, *c;
	sigset_t end;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	p = producer();
	brokers = rd_kafka_handle_mock_cluster(p);
	rd_kafka_mock_topic_create(brokers, "first", 4, 2);
	rd_kafka_mock_topic_create(brokers, "second", 4, 2);
	c = consumer(rd_kafka_mock_cluster_bootstraps(brokers));
	subscribe(c, "first", NULL);
	produce(p, "first");
	consume(c, MESSAGES);
	/* The group is made anew. */
	subscribe(c, "first", "second");
	produce(p, "second");
	consume(c, MESSAGES);
	lose_brokers(p, brokers);
	consume(c, MESSAGES);
	await_end(c);
	expect(rd_kafka_consumer_close(c) == 0, "the group is left");
	rd_kafka_destroy(c);
	rd_kafka_destroy(p);
	return 0;
}
