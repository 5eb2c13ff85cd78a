/* SPDX-License-Identifier: MIT */
/*
 * Random steps with a queue, against a model: which entries are in it.
 */
#include "config.h"

#include "bare_queue.h"

/*
 * A model: tickets count up, and each is in the queue or not.  Those in it
 * leave at the front in that order.  A ck_assert for each would take longer
 * than all the rest.
 */
enum { TICKETS = 500000 };
static struct {
	int64_t deadline;
	bool in;
} model[TICKETS];
static uint32_t next_ticket, first_ticket;
static size_t in_model;

static void model_begin(void)
{
	next_ticket = first_ticket = 0;
	in_model = 0;
}

static void model_push(int64_t deadline)
{
	bool least = deadline < queue.nearest;

	model[next_ticket].deadline = deadline;
	model[next_ticket].in = true;
	must(add(deadline, next_ticket) == least);
	next_ticket++;
	in_model++;
}

static void model_remove(uint32_t ticket)
{
	must(model[ticket].in);
	model[ticket].in = false;
	in_model--;
	while (first_ticket < next_ticket && !model[first_ticket].in)
		first_ticket++;
}

static void model_pop(void)
{
	const struct entry *e = queue_front(&queue);

	must(!e == !in_model);
	if (!e)
		return;
	must(e->ticket == first_ticket);
	must(e->deadline == model[first_ticket].deadline);
	model_remove(first_ticket);
	pop();
}

static bool model_take(struct queue_cursor *c, int64_t by)
{
	struct block *b, *chain = NULL;
	bool done = take_step(c, by, &chain);

	while ((b = block_pop(&chain)) != NULL) {
		for (size_t i = 0; i < b->n; i++)
			model_remove(b->entry[i].ticket);
		block_push(&spares, b);
	}
	return done;
}

/* The oldest, also while a visit goes on. */
static void model_take_first(void)
{
	struct block *b;

	if (queue.blocks == 0)
		return;
	b = queue_take_first(&queue);
	must(b->n > 0 || in_model == 0);
	for (size_t i = 0; i < b->n; i++) {
		must(b->entry[i].ticket == first_ticket);
		must(b->entry[i].deadline == model[first_ticket].deadline);
		model_remove(first_ticket);
	}
	block_push(&spares, b);
}

/* The visit is over: nothing that is due is left. */
static void model_check_taken(int64_t by)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = first_ticket; i < next_ticket; i++) {
		if (model[i].in && model[i].deadline < least)
			least = model[i].deadline;
	}
	ck_assert_int_gt(least, by);
	ck_assert_int_gt(queue.nearest, by);
	ck_assert_int_le(queue.nearest, least);
}

static void random_pushes(uint64_t *rng, int64_t now)
{
	uint64_t spread = random_below(rng, 5) ? 40 : 4000;
	uint64_t n = random_below(rng, 10 * BLOCK_ENTRIES);

	for (; n > 0 && next_ticket < TICKETS; n--)
		model_push(now + 1 + (int64_t)random_below(rng, spread));
}

static void random_pops(uint64_t *rng)
{
	for (uint64_t n = random_below(rng, 6 * BLOCK_ENTRIES); n > 0; n--)
		model_pop();
}

static void random_firsts(uint64_t *rng)
{
	for (uint64_t n = random_below(rng, 6); n > 0; n--) {
		model_take_first();
		queue_check(&queue);
	}
}

/* Returns how many steps did not end a visit. */
static int random_steps_from(uint32_t at, uint64_t *rng)
{
	struct queue_cursor c = cursor();
	bool visiting = false;
	int between = 0;
	int64_t now = 0;

	begin_at(at);
	model_begin();
	for (int step = 0; step < 500; step++) {
		uint64_t dice = random_below(rng, 100);

		if (dice < 50) {
			random_pushes(rng, now);
		} else if (dice < (visiting ? 60 : 80)) {
			random_pops(rng);
		} else if (dice < (visiting ? 70 : 95)) {
			random_firsts(rng);
		} else {
			now += visiting ? 0 : 20;
			visiting = !model_take(&c, now);
			between += visiting;
			if (!visiting) {
				model_check_taken(now);
				c = cursor();
			}
		}
		queue_check(&queue);
		ck_assert_uint_eq(queue_size(&queue), in_model);
	}
	end();
	return between;
}

START_TEST(random_steps)
{
	uint64_t rng = test_seed();
	int between = 0;

	for (int i = 0; i < 10; i++)
		between += random_steps_from(i % 2 ? UINT32_MAX - 40 : 0, &rng);
	ck_assert_int_ge(between, 10);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		random_steps,
	};

	return RUN_TESTS("queue_random", tests);
}
