/* SPDX-License-Identifier: MIT */
/*
 * For libFuzzer: the calls are chosen by bytes.  The first eight say what
 * the clock shows at first.
 */
#include "property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t now;

	if (size < sizeof(now))
		return 0;
	memcpy(&now, data, sizeof(now));
	data += sizeof(now);
	size -= sizeof(now);
	property_begin((struct choices){.byte = data, .left = size}, now);
	property_run(UINT64_MAX);
	property_end();
	return 0;
}
