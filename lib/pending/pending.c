/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "os/clock.h"
#include "os/must.h"
#include "pending/pending.h"

#define BATCH      64
#define SPARES_MAX 16

/* A slot of so few entries is filed anew to know which of them live. */
#define FEW (4 * BLOCK_ENTRIES)

/* What is due within so many nanoseconds is near, if there is time for it. */
#define NEAR_NS 500000

/* In so many nanoseconds a block can be filed, while others run. */
#define BLOCK_NS 20000

bool pending_init(struct pending *p, struct intake *in)
{
	*p = (struct pending){.filed.intake = in, .near = PENDING_NEAR};
	heap_init(&p->filed.heap);
	wheel_init(&p->filed.wheel);
	return heap_make_room(&p->filed.heap);
}

void pending_destroy(struct pending *p)
{
	heap_destroy(&p->filed.heap);
	wheel_destroy(&p->filed.wheel);
	backlog_destroy(&p->backlog);
	block_free_all(p->filed.spares);
}

void pending_sweep(struct pending *p, uint64_t *left)
{
	size_t looked;

	if (sweep_look(&p->sweep, &p->filed, SWEEP_BATCH, &looked))
		*left = *left > 0 ? *left : 1;
	else
		*left -= *left < looked ? *left : looked;
	if (*left > filed_count(&p->filed))
		*left = filed_count(&p->filed);
}

static bool has_room(struct pending *p)
{
	size_t looked;

	if (likely(heap_has_room(&p->filed.heap)))
		return true;
	sweep_look(&p->sweep, &p->filed, SWEEP_BATCH, &looked);
	return heap_make_room(&p->filed.heap);
}

static bool goes_far(const struct pending *p, int64_t deadline)
{
	return p->filed.heap.n >= p->near &&
	       wheel_takes(&p->filed.wheel, deadline);
}

/* False: no memory. */
static bool file(struct pending *p, struct entry e)
{
	if (goes_far(p, e.deadline) &&
	    wheel_file(&p->filed.wheel, e, &p->filed.spares))
		return true;
	if (!has_room(p))
		return false;
	heap_push(&p->filed.heap, e);
	return true;
}

/* Puts a block that was taken from the backlog back. */
static void add_block(struct pending *p, struct block *b)
{
	b->next = NULL;
	backlog_add(&p->backlog, (struct chain){b, b->nearest});
}

/*
 * Is the i-th entry to be looked at before it is filed?  Those that go to the
 * heap are: their slots will be needed soon.  Of those that go to the wheel, a
 * sample is; see sweep.h.
 */
static inline bool is_watched(const struct pending *p, const struct block *b,
			      uint32_t i)
{
	return sweep_is_turn(&p->sweep, i) ||
	       !goes_far(p, b->entry[i].deadline);
}

/* Files the entries of b.  False: no memory for the rest. */
static bool file_all(struct pending *p, struct block *b)
{
	for (; b->n > 0; b->n--) {
		uint32_t i = b->n - 1, ahead = i - INTAKE_PREFETCH;
		struct entry *e = &b->entry[i];

		if (i >= INTAKE_PREFETCH && is_watched(p, b, ahead))
			intake_prefetch(p->filed.intake, &b->entry[ahead]);
		if (is_watched(p, b, i) &&
		    sweep_refresh(&p->sweep, p->filed.intake, e))
			continue;
		if (!file(p, *e))
			return false;
	}
	return true;
}

bool pending_file_block(struct pending *p)
{
	struct block *b;
	size_t filed;

	if (backlog_empty(&p->backlog))
		return false;
	b = backlog_take(&p->backlog);
	if (!b)
		return true;
	filed = b->n;
	if (!file_all(p, b)) {
		add_block(p, b);
		return false;
	}
	block_push(&p->filed.spares, b);
	pending_trim(p);
	sweep_pay(&p->sweep, &p->filed, filed);
	return true;
}

static struct entry *earliest_of(struct block *b)
{
	struct entry *earliest = b->entry;

	for (uint32_t i = 1; i < b->n; i++) {
		if (b->entry[i].deadline < earliest->deadline)
			earliest = &b->entry[i];
	}
	return earliest;
}

/*
 * The heap is full: if the earliest entry of the backlog's first block is
 * earlier than the top of the heap, puts each in the other's place.  The new
 * top is earlier than the old one, so the heap stays one.
 */
static TT_NOINLINE void exchange(struct pending *p)
{
	struct entry *top = heap_at(&p->filed.heap, 0);
	struct block *b = backlog_take(&p->backlog);
	struct entry *e, t = *top;

	if (!b)
		return;
	e = earliest_of(b);
	if (e->deadline < t.deadline) {
		*top = *e;
		*e = t;
		e = earliest_of(b);
	}
	b->nearest = e->deadline;
	add_block(p, b);
}

/* The heap's first deadline. */
static int64_t top(const struct pending *p)
{
	return p->filed.heap.n > 0 ? heap_at(&p->filed.heap, 0)->deadline
				   : INT64_MAX;
}

static bool backlog_is_first(const struct pending *p)
{
	return unlikely(!backlog_empty(&p->backlog)) &&
	       (p->filed.heap.n == 0 || backlog_nearest(&p->backlog) < top(p));
}

/*
 * When a slot is to be opened, so that its entries have been filed once more
 * by the time that the first is due.
 */
static int64_t opens_at(const struct wheel_slot *s)
{
	int64_t blocks = (int64_t)(s->n / BLOCK_ENTRIES);

	if (unlikely(s->nearest.deadline == INT64_MAX))
		return INT64_MAX;
	return clock_add(s->nearest.deadline, -blocks * BLOCK_NS);
}

/*
 * When the wheel's first slot is to be opened: for itself, or because a large
 * one of a higher level is to be, and that is after it.
 */
static int64_t wheel_opens_at(const struct wheel *w)
{
	int64_t first = INT64_MAX;

	for (uint32_t left = w->occupied; left; left &= left - 1) {
		uint32_t level = (uint32_t)__builtin_ctz(left);
		int64_t t = opens_at(wheel_first_of(w, level));

		first = t < first ? t : first;
	}
	return first;
}

/* Is the wheel's first slot to be opened before the heap's first is due? */
static bool wheel_is_first(const struct pending *p, int64_t opens)
{
	return unlikely(p->filed.wheel.occupied) &&
	       (p->filed.heap.n == 0 || opens < top(p));
}

void pending_add(struct pending *p, struct chain c)
{
	backlog_add(&p->backlog, c);
}

/* False: e is of no more use, or its timer was rescheduled. */
static bool is_plain(struct pending *p, const struct entry *e)
{
	const struct slot *s = intake_slot_of(p->filed.intake, e);

	return slot_owns(s, e) &&
	       slot_state(atom32_load(&s->state)) == SLOT_ARMED;
}

/*
 * As pending_next, and the wheel is first.  Where the earliest timer of its
 * first slot was cancelled or rescheduled, that slot is filed once more to find
 * which one it is now; but if it has many, the driver wakes up for it once.
 */
static enum pending_next look_far(struct pending *p, int64_t opens,
				  int64_t *ret_next)
{
	const struct wheel_slot *s = wheel_first(&p->filed.wheel);

	*ret_next = opens;
	if (s->n > FEW || likely(is_plain(p, &s->nearest)))
		return PENDING_FAR;
	sweep_raise_alarm(&p->sweep);
	pending_add(p, wheel_take(&p->filed.wheel, false));
	return PENDING_MORE;
}

/* As pending_next: the earliest of all is in the heap, or there is none. */
static enum pending_next look_near(struct pending *p, int64_t *ret_next)
{
	*ret_next = top(p);
	if (p->filed.heap.n == 0 ||
	    !sweep_drop(&p->sweep, p->filed.intake, heap_at(&p->filed.heap, 0)))
		return PENDING_FIRST;
	heap_remove(&p->filed.heap, 0);
	return PENDING_MORE;
}

enum pending_next pending_next(struct pending *p, int64_t *ret_next)
{
	enum pending_next found = PENDING_MORE;

	for (int i = 0; i < BATCH && found == PENDING_MORE; i++) {
		int64_t opens;

		if (backlog_is_first(p)) {
			*ret_next = backlog_nearest(&p->backlog);
			if (!pending_file_block(p) && backlog_is_first(p))
				exchange(p);
			break;
		}
		opens = wheel_opens_at(&p->filed.wheel);
		found = wheel_is_first(p, opens) ? look_far(p, opens, ret_next)
						 : look_near(p, ret_next);
	}
	return found;
}

void pending_ran(struct pending *p, size_t n)
{
	pending_file_block(p);
	sweep_pay(&p->sweep, &p->filed, n);
}

void pending_open(struct pending *p)
{
	pending_add(p, wheel_take(&p->filed.wheel, true));
}

/* What is being filed from a slot that was opened must not go back there. */
void pending_advance(struct pending *p, int64_t now)
{
	if (backlog_empty(&p->backlog))
		wheel_advance(&p->filed.wheel, now);
}

bool pending_prepare(struct pending *p, int64_t now)
{
	pending_advance(p, now);
	if (pending_file_block(p))
		return true;
	if (likely(!p->filed.wheel.occupied) ||
	    wheel_opens_at(&p->filed.wheel) > clock_add(now, NEAR_NS))
		return false;
	pending_open(p);
	return true;
}

struct entry pending_take(struct pending *p)
{
	struct entry e = *heap_at(&p->filed.heap, 0);

	heap_remove(&p->filed.heap, 0);
	/* While this one runs.  It is going to be changed, too. */
	if (p->filed.heap.n > 0)
		prefetch_to_write(intake_slot_of(p->filed.intake,
						 heap_at(&p->filed.heap, 0)));
	return e;
}

/* Those next to the top come after it. */
void pending_prefetch_next(const struct pending *p, int64_t now)
{
	const struct heap *h = &p->filed.heap;

	if (top(p) > now || h->n == 0)
		return;
	for (size_t i = 1; i <= HEAP_ARITY && i < h->n; i++)
		prefetch_to_write(
			intake_slot_of(p->filed.intake, heap_at(h, i)));
	__builtin_prefetch(
		slot_arg(intake_slot_of(p->filed.intake, heap_at(h, 0))));
}

/* There is a place in the heap for it. */
void pending_put_back(struct pending *p, struct entry e)
{
	if (!goes_far(p, e.deadline) ||
	    !wheel_file(&p->filed.wheel, e, &p->filed.spares))
		heap_push(&p->filed.heap, e);
}

bool pending_reserve(struct pending *p)
{
	p->filed.heap.reserved++;
	/* What is in the heap leaves a place when it is taken out. */
	if (p->filed.heap.n > 0 || heap_make_room(&p->filed.heap))
		return true;
	p->filed.heap.reserved--;
	return false;
}

void pending_add_rearmed(struct pending *p, struct entry e)
{
	pending_put_back(p, e);
	heap_unreserve(&p->filed.heap, 1);
}

void pending_unreserve(struct pending *p, size_t n)
{
	heap_unreserve(&p->filed.heap, n);
}

bool pending_first_moved(const struct pending *p)
{
	const struct slot *s;

	if (p->filed.heap.n == 0)
		return false;
	s = intake_slot_of(p->filed.intake, heap_at(&p->filed.heap, 0));
	return slot_state(atom32_load(&s->state)) == SLOT_MOVED;
}

bool pending_trim(struct pending *p)
{
	struct block **kept = &p->filed.spares, *surplus = NULL;

	for (int i = 0; *kept && i < SPARES_MAX; i++)
		kept = &(*kept)->next;
	for (int i = 0; *kept && i < BATCH; i++)
		block_push(&surplus, block_pop(kept));
	block_free_all(surplus);
	return *kept != NULL;
}

void pending_check(const struct pending *p)
{
	heap_check(&p->filed.heap);
	must(p->filed.heap.chunks > 0);
	wheel_check(&p->filed.wheel);
	backlog_check(&p->backlog);
}
