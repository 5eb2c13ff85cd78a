/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "api/runs.h"

#include <stdlib.h>

bool runs_open(struct runs *r, uint32_t n)
{
	cpu_map_init(&r->cpus, n);
	r->running = r->called = r->given = 0;
	r->part = aligned_alloc(TT_FAR_APART, n * sizeof(*r->part));
	if (!r->part)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		tally_init(&r->part[i].running);
		tally_init(&r->part[i].called);
	}
	return true;
}

void runs_free(struct runs *r)
{
	free(r->part);
	r->part = NULL;
}

void runs_close_running(struct runs *r)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		r->running += tally_close(&r->part[i].running);
	r->running &= TALLY_MAX;
}

void runs_close_called(struct runs *r)
{
	for (uint32_t i = 0; r->part && i < r->cpus.n; i++)
		r->called += tally_close(&r->part[i].called);
}
