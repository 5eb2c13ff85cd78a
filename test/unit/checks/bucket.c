/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "checks/bucket.h"
#include "checks/queue.h"
#include "checks/slot_heap.h"
#include "checks/slots.h"
#include "must.h"

void bucket_check(struct bucket *b)
{
	lock_acquire(&b->lock);
	for (int i = 0; i < LANES; i++) {
		queue_check(&b->lane[i].queue);
		must(b->lane[i].queue.nearest >= b->nearest);
	}
	must(slot_heap_nearest(&b->unqueued, &b->slots) >= b->nearest);
	if (b->pool) {
		slots_check(&b->slots);
		slot_heap_check(&b->unqueued, &b->slots);
	}
	must(b->pool || b->state == BUCKET_SHUT);
	lock_release(&b->lock);
}
