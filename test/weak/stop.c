/* SPDX-License-Identifier: MIT */
/*
 * The driver goes to sleep, while another thread stops it.
 *
 * It does not sleep on.
 */
#include "sleeping.h"

static void stop(void)
{
	wakeup_stop(&wakeup);
}

static void check(void)
{
	weak_check(!is_asleep(0), "the driver sleeps on");
}

const struct weak weak = {
	sleeping_init, {sleep_until_later, stop, NULL}, check};
