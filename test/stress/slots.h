/* SPDX-License-Identifier: MIT */
/*
 * Whether a slot was lost: each one that is used has an entry that counts, or
 * is on the list of those without one, or an executor has it; and no slot has
 * two.  Each one that is free says so, or is about to be given back.
 *
 * When the instance was stopped, and no other thread uses it.
 */
#pragma once

#include "engine/engine.h"

/* Aborts if not; and if a structure is not sound. */
void slots_check_owners(struct engine *e);
