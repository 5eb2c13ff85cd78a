/* SPDX-License-Identifier: MIT */
/*
 * Is a table of slots sound?
 */
#ifndef TT_CHECKS_SLOTS_H
#define TT_CHECKS_SLOTS_H

#include "store/slots.h"

/* Aborts if the table is not sound.  Under the lock. */
void slots_check(const struct slots *t);

#endif
