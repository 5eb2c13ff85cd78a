/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/slots.h"
#include "must.h"
#include "store/vacancy.h"

static void check_word(const struct slots *t, uint32_t word, size_t *n)
{
	uint64_t bits = *slots_word(t, word);

	must(word < t->fresh || bits == 0 || bits == UINT64_MAX);
	for (uint32_t i = 0; i < SLOT_FIRST_NUMBER; i++) {
		uint32_t number = word << SLOT_WORD_LOG2 | i;
		uint32_t state = atom32_load(&slots_at(t, number)->state);
		bool free_bit = bits >> i & 1;

		must(word < t->fresh || state == 0);
		must(!free_bit || (state & SLOT_STATE_MASK) == SLOT_FREE);
		*n += !free_bit;
	}
}

/* Words that have no memory: their slots are neither free nor used. */
static size_t check_vacant(const struct slots *t)
{
	size_t n = 0;

	for (uint32_t word = 2; word < t->end; word++) {
		const struct slot_floor *f = slots_floor(t, word);

		if (!vacancy_has(t, word))
			continue;
		n++;
		must(t->vacant <= word);
		must(*slots_word(t, word) == 0 && word != t->word);
		must((f->state & SLOT_STATE_MASK) == SLOT_FREE);
		for (uint32_t i = 0; i < SLOT_FIRST_NUMBER; i++) {
			const struct slot *s =
				slots_at(t, word << SLOT_WORD_LOG2 | i);

			must(atom32_load(&s->state) == 0 &&
			     atom32_load(&s->ticket) == 0);
		}
	}
	must(n == t->vacancies && t->chosen.n == 0);
	return n << SLOT_WORD_LOG2;
}

void slots_check(const struct slots *t)
{
	uint32_t end = 1;
	size_t used = 0;

	for (int i = 0; i < SLOT_CHUNKS; i++) {
		bool there = atomword_load_acquire(&t->chunk[i]) != 0;

		must(!there || end == UINT32_C(1) << i);
		end += there ? UINT32_C(1) << i : 0;
	}
	must(end == t->end && t->fresh <= end);
	for (uint32_t i = 1; i < t->end; i++)
		check_word(t, i, &used);
	must(used == t->used + check_vacant(t));
}
