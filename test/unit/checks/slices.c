/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/slices.h"
#include "must.h"

size_t slices_count(const struct slices *s)
{
	size_t n = 0;

	for (unsigned i = 0; i < SLICES; i++) {
		for (const struct block *b = s->chain[i]; b; b = b->next)
			n += b->n;
	}
	return n;
}

void slices_check(const struct slices *s)
{
	size_t blocks = 0;

	for (int64_t slice = s->open; slice < s->open + SLICES; slice++) {
		const struct block *b = s->chain[slice_index(slice)];

		must(!b == !(s->full >> slice_index(slice) & 1));
		for (; b; b = b->next) {
			blocks++;
			must(b->n > 0 && b->n <= BLOCK_ENTRIES);
			for (size_t i = 0; i < b->n; i++)
				must(slice_of(s, b->entry[i].deadline) ==
				     slice);
		}
	}
	must(blocks == s->blocks);
}
