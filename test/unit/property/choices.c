/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "choices.h"
#include "random.h"

static struct {
	uint64_t rng;        /* used if there are no bytes */
	const uint8_t *byte; /* or NULL */
	size_t left;
} choices;

void choices_by_seed(uint64_t seed)
{
	choices.rng = seed;
	choices.byte = NULL;
}

void choices_by_bytes(const uint8_t *bytes, size_t n)
{
	choices.byte = bytes;
	choices.left = n;
}

void choices_end(void)
{
	choices_by_bytes((const uint8_t *)"", 0);
}

bool may_choose(void)
{
	return !choices.byte || choices.left > 0;
}

unsigned choose(unsigned n)
{
	if (!choices.byte)
		return (unsigned)random_below(&choices.rng, n);
	if (choices.left == 0)
		return 0;
	choices.left--;
	return *choices.byte++ % n;
}

uint64_t choose_bits(void)
{
	uint64_t bits = 0;

	if (!choices.byte)
		return next_random(&choices.rng);
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | choose(256);
	return bits;
}

int64_t choose_distance(void)
{
	unsigned kind = choose(16);

	if (kind < 3)
		return choose(5);
	if (kind < 5)
		return (int64_t)choose(256) << 18;
	/* One byte says about how far, without eight more. */
	if (kind < 8)
		return INT64_C(1) << choose(63);
	return (int64_t)(choose_bits() >> (2 + choose(62)));
}

int64_t choose_time(void)
{
	int64_t distance = choose_distance();

	switch (choose(8)) {
	case 0:
		return INT64_MIN + distance;
	case 1:
		return INT64_MAX - distance;
	case 2:
		return -distance;
	case 3:
		return (int64_t)choose_bits();
	default:
		return distance;
	}
}
