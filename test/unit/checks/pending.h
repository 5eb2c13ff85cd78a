/* SPDX-License-Identifier: MIT */
/*
 * Is what is pending sound?
 */
#pragma once

#include "pending/pending.h"

/* The block behind entry i of p->blocks. */
const struct block *pending_block(const struct pending *p, size_t i);

size_t pending_count(const struct pending *p); /* entries in it */

/* Aborts if the structure is not sound. */
void pending_check(const struct pending *p);
