/* SPDX-License-Identifier: MIT */
/*
 * Is a wheel sound?
 */
#pragma once

#include "pending/wheel.h"

size_t wheel_count(const struct wheel *w); /* entries in it */

/* Aborts if it is not sound. */
void wheel_check(const struct wheel *w);
