/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/bucket.h"
#include "checks/pending.h"
#include "contents.h"
#include "engine/engine.h"
#include "must.h"
#include "slots.h"
#include "store/vacancy.h"

#include <stdlib.h>

/* Of one bucket: for each slot, how many entries that count it has. */
struct owners {
	uint8_t *n;
	uint32_t end;
};

static void count_entry(struct intake *in, struct owners *owners,
			const struct entry *e)
{
	const struct bucket *b;
	uint32_t number;

	b = intake_bucket(in, e->index);
	number = e->index >> b->slots.shift;
	must(number < owners[b - in->bucket].end);
	if (slot_owns(slots_get(&b->slots, number), e))
		owners[b - in->bucket].n[number]++;
}

static void count_chain(struct intake *in, struct owners *owners,
			const struct block *b)
{
	for (; b; b = b->next) {
		for (size_t i = 0; i < b->n; i++)
			count_entry(in, owners, &b->entry[i]);
	}
}

static void count_bucket(struct intake *in, struct owners *owners,
			 const struct bucket *b)
{
	for (int i = 0; i < LANES; i++) {
		const struct queue *q = &b->lane[i].queue;

		for (size_t k = 0; k < queue_span(q); k++) {
			const struct entry *e = queue_at(q, k);

			if (e)
				count_entry(in, owners, e);
		}
	}
}

static void count_pending(struct intake *in, struct owners *owners,
			  const struct pending *p)
{
	for (size_t i = 0; i < p->heap.n; i++)
		count_entry(in, owners, heap_at(&p->heap, i));
	for (size_t i = 0; i < p->blocks.n; i++)
		count_chain(in, owners, pending_block(p, i));
	for (int level = 0; level < WHEEL_LEVELS; level++) {
		for (int i = 0; i < SLICES; i++)
			count_chain(in, owners, p->wheel.level[level].chain[i]);
	}
}

static void check_slots(struct bucket *b, const struct owners *o)
{
	uint32_t free_slots = 0, vacant = 0;

	for (uint32_t word = 2; word < b->slots.fresh; word++)
		vacant += vacancy_has(&b->slots, word);
	for (uint32_t i = SLOT_FIRST_NUMBER; i < o->end; i++) {
		const struct slot *s = slots_get(&b->slots, i);
		uint64_t word = *slots_word(&b->slots, i >> SLOT_WORD_LOG2);
		enum slot_state state = slot_state(atom32_load(&s->state));
		bool says_free = word >> (i % SLOT_FIRST_NUMBER) & 1;

		must(!says_free || state == SLOT_FREE);
		if (state == SLOT_FREE)
			free_slots += !says_free;
		else if (slot_is_handed_over(s) || state == SLOT_UNARMED)
			must(o->n[i] == 0);
		else
			must(o->n[i] == 1);
	}
	must(free_slots == b->recycled.n + (vacant << SLOT_WORD_LOG2));
}

void slots_check_owners(struct engine *e)
{
	struct intake *in = e->intake;
	struct owners *owners = calloc(in->n, sizeof(*owners));

	must(owners != NULL);
	pending_check(&e->pending);
	for (uint32_t i = 0; i < in->n; i++) {
		bucket_check(&in->bucket[i]);
		bucket_check_owner(&in->bucket[i]);
		owners[i].end = slots_end(&in->bucket[i].slots);
		owners[i].n = calloc(owners[i].end + 1, 1);
		must(owners[i].n != NULL);
	}
	for (uint32_t i = 0; i < in->n; i++)
		count_bucket(in, owners, &in->bucket[i]);
	count_pending(in, owners, &e->pending);
	for (uint32_t i = 0; i < in->n; i++) {
		if (slots_at(&in->bucket[i].slots, SLOT_FIRST_NUMBER))
			check_slots(&in->bucket[i], &owners[i]);
		free(owners[i].n);
	}
	free(owners);
}
