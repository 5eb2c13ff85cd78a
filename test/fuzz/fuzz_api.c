/* SPDX-License-Identifier: MIT */
/*
 * For libFuzzer: the calls are chosen by bytes.
 */
#include "property/choices.h"
#include "property/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	choices_by_bytes(data, size);
	property_begin(choose_time(), false);
	property_run(UINT64_MAX);
	property_end();
	return 0;
}
