/* SPDX-License-Identifier: MIT */
/*
 * The CPU time of the idle timeout of a connection that is opened and closed,
 * with a thousand others.
 */
#include <stdlib.h>
#include <time.h>

#include "memcached.h"

#define CONNECTIONS 1000
#define PAIRS       400000

struct settings settings;
volatile rel_time_t current_time;

void timeout_conn(conn *c)
{
	abort();
}

#include "conn_timeout.c"

int main(void)
{
	static conn conns[CONNECTIONS];
	conn c = {.transport = tcp_transport};
	clock_t begin;
	int i;

	settings.idle_timeout = 600;
	if (start_conn_timeout_thread() < 0)
		return 1;
	for (i = 0; i < CONNECTIONS; i++) {
		conns[i].transport = tcp_transport;
		conn_timeout_begin(&conns[i]);
	}
	begin = clock();
	for (i = 0; i < PAIRS; i++) {
		conn_timeout_begin(&c);
		conn_timeout_end(&c);
	}
	printf("pair_ns %.0f\n",
	       (double)(clock() - begin) * 1e9 / CLOCKS_PER_SEC / PAIRS);
	return stop_conn_timeout_thread();
}
