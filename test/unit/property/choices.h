/* SPDX-License-Identifier: MIT */
/*
 * What is chosen next: by random numbers, or by the bytes of a fuzzer.  Where
 * the bytes are at their end, 0 is chosen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void choices_by_seed(uint64_t seed);

/* They must stay where they are. */
void choices_by_bytes(const uint8_t *bytes, size_t n);

/* From here on 0 is chosen. */
void choices_end(void);

/* Is there anything left to choose? */
bool may_choose(void);

/* 0 to n - 1; n is at most 256. */
unsigned choose(unsigned n);

uint64_t choose_bits(void);

/* Not negative: tiny, about the width of a lane, or of any size. */
int64_t choose_distance(void);

/* Around 0, near one of the ends of time, or anywhere. */
int64_t choose_time(void);
