/* SPDX-License-Identifier: MIT */
/*
 * Is a table of slots sound?
 */
#pragma once

#include "store/slots.h"

/* Aborts if the table is not sound.  Under the lock. */
void slots_check(const struct slots *t);
