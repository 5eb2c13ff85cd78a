/* SPDX-License-Identifier: MIT */
/*
 * The header of a library that is small and made of what ours is made of, with
 * a change where one is asked for; see ../guard-notices.sh.
 */
#pragma once

#include <stdint.h>

struct sample;

struct sample_point {
#ifdef FIELD_CHANGED
	int64_t x;
#else
	int32_t x;
#endif
	int32_t y;
};

enum sample_kind {
	SAMPLE_ROUND,
#ifdef ENUMERATOR_CHANGED
	SAMPLE_SQUARE = 7
#elif defined(ENUMERATOR_ADDED)
	SAMPLE_SQUARE,
	SAMPLE_OVAL
#elif !defined(ENUMERATOR_REMOVED)
	SAMPLE_SQUARE
#endif
};

#ifdef CALLBACK_CHANGED
typedef void sample_fn(void *arg, int n);
#else
typedef void sample_fn(void *arg);
#endif

#ifdef PARAMETER_CHANGED
typedef int32_t sample_time;
#else
typedef int64_t sample_time;
#endif

#ifdef RESULT_CHANGED
typedef long sample_result;
#else
typedef int sample_result;
#endif

sample_result sample_create(struct sample **ret, enum sample_kind kind);
int sample_call(struct sample *s, sample_time when, sample_fn *fn, void *arg);
#ifndef FUNCTION_REMOVED
int sample_move(struct sample *s, const struct sample_point *to);
#endif
#ifdef FUNCTION_ADDED
int sample_grow(struct sample *s, int32_t by);
#endif
