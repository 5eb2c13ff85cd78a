/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/slots.h"
#include "must.h"

static void check_word(const struct slots *t, uint32_t word, size_t *n)
{
	uint64_t bits = *slots_word(t, word);

	must(word < t->fresh || bits == 0);
	for (uint32_t i = 0; i < SLOT_FIRST_NUMBER; i++) {
		uint32_t number = word << SLOT_WORD_LOG2 | i;
		uint32_t state = atom32_load(&slots_at(t, number)->state);
		bool free_bit = bits >> i & 1;

		must(word < t->fresh || state == 0);
		must(!free_bit || (state & SLOT_STATE_MASK) == SLOT_FREE);
		*n += word < t->fresh && !free_bit;
	}
}

void slots_check(const struct slots *t)
{
	uint32_t end = 1;
	size_t used = 0;

	for (int i = 0; i < SLOT_CHUNKS; i++) {
		must(!t->memory[i] == !atomword_load_acquire(&t->chunk[i]));
		must(i == 0 || !t->memory[i] || t->memory[i - 1]);
		end += t->memory[i] ? UINT32_C(1) << i : 0;
	}
	must(end == t->end && t->fresh <= t->ready && t->ready <= end);
	for (uint32_t i = 1; i < t->end; i++)
		check_word(t, i, &used);
	must(used == t->used);
}
