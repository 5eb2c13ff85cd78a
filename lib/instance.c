/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "instance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void instance_init(struct timerthread *tt)
{
	memset(tt, 0, sizeof(*tt));
	wakeup_init(&tt->wakeup);
	pthread_mutex_init(&tt->mutex, NULL);
	pthread_cond_init(&tt->stopped, NULL);
	tt->life = LIFE_NEW;
	strcpy(tt->name, "timerthread");
	tt->buckets = intake_default_buckets();
}

void instance_free(struct timerthread *tt)
{
	struct intake *in = instance_intake(tt);
	int saved_errno = errno;

	if (in) {
		engine_destroy(&tt->engine);
		intake_destroy(in);
	}
	pthread_cond_destroy(&tt->stopped);
	pthread_mutex_destroy(&tt->mutex);
	free(tt);
	errno = saved_errno;
}
