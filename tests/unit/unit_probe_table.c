/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of probes that are not answered: which answers count, and when it is full. */
#include "support/test.h"

#include "core/state/probe_table.h"

#define SIZE 8u
#define LIFE 1000u

static struct mt_probe slots[SIZE];
static struct mt_probe_table table;
static struct mt_probe found;
/* Only their addresses count. */
static char qps[2];

static int fresh(void **state)
{
	(void)state;
	memset(slots, 0, sizeof(slots));
	mt_probe_table_init(&table, slots, SIZE, LIFE);
	return 0;
}

#define CASE(function, name) TEST_WITH(fresh, NULL, function, name)

static const struct mt_qp *qp(int i)
{
	return (const struct mt_qp *)(const void *)&qps[i];
}

static bool add(int i, uint64_t now, enum mt_probe_purpose purpose, uint16_t *id)
{
	struct mt_probe p = {
		.qp = qp(i), .sent_ns = now, .ev = (uint16_t)now, .purpose = (uint8_t)purpose};

	return mt_probe_add(&table, &p, id);
}

static uint16_t sent(int i, uint64_t now)
{
	uint16_t id = 0;

	assert_true(add(i, now, MT_PROBE_REVIVAL, &id));
	return id;
}

static bool matches(uint16_t id, int i)
{
	return mt_probe_match(&table, id, qp(i), 0, &found);
}

/* REQ(req.probe.match) */
CASE(mt_probe_match, each_once_and_in_any_order)
{
	uint16_t first = sent(0, 10), second = sent(0, 11);

	assert_true(first != second);
	assert_true(matches(second, 0));
	assert_u_eq(found.sent_ns, 11);
	assert_u_eq(found.ev, 11);
	assert_true(matches(first, 0));
	assert_u_eq(found.sent_ns, 10);
	assert_false(matches(first, 0));
	assert_false(matches(second, 0));
}

CASE(mt_probe_match, what_nobody_asked)
{
	uint16_t id;

	for (uint32_t i = 0; i <= UINT16_MAX; i++)
		assert_false(matches((uint16_t)i, 0));
	id = sent(0, 10);
	for (uint32_t i = 1; i <= UINT16_MAX; i++)
		assert_false(matches((uint16_t)(id + i), 0));
	assert_true(matches(id, 0));
}

CASE(mt_probe_match, only_for_who_asked)
{
	uint16_t id = sent(0, 10);

	assert_false(matches(id, 1));
	assert_true(matches(id, 0));
}

/* The QP was reset and connected again, or is another one at the same place. */
CASE(mt_probe_match, not_of_a_former_connection)
{
	uint16_t old = sent(0, 10), id;
	uint32_t first = table.next;

	id = sent(0, 20);
	assert_false(mt_probe_match(&table, old, qp(0), first, &found));
	assert_true(mt_probe_match(&table, id, qp(0), first, &found));
}

/* REQ(req.probe.bounded) */
CASE(mt_probe_add, a_slot_is_its_own_for_a_life)
{
	uint16_t id, ids[SIZE];

	for (uint32_t i = 0; i < SIZE; i++)
		ids[i] = sent(0, 10 + i);
	assert_false(add(0, 9 + LIFE, MT_PROBE_REVIVAL, &id));
	for (uint32_t i = 0; i < SIZE; i++)
		assert_true(matches(ids[i], 0));
	assert_false(add(0, 9 + LIFE, MT_PROBE_REVIVAL, &id)); /* answers give no id back early */
	assert_true(add(0, 10 + LIFE, MT_PROBE_REVIVAL, &id));
	assert_false(add(0, 10 + LIFE, MT_PROBE_REVIVAL, &id));
	assert_true(matches(id, 0));
}

CASE(mt_probe_add, a_late_answer_finds_it_until_the_slot_is_used)
{
	uint16_t old = sent(0, 10), lost = sent(0, 11);

	for (uint64_t i = 0; i < SIZE - 2; i++)
		sent(0, 12 + i);
	assert_true(matches(old, 0)); /* however long it took */
	sent(1, 10 + LIFE);
	sent(1, 11 + LIFE);
	assert_false(matches(lost, 0));
	assert_false(matches(lost, 1));
}

CASE(mt_probe_add, tail_probes_leave_a_quarter)
{
	uint16_t id;

	for (uint32_t i = 0; i < SIZE - SIZE / 4; i++)
		assert_true(add(0, 10, MT_PROBE_TAIL, &id));
	assert_false(add(0, 10, MT_PROBE_TAIL, &id));
	for (uint32_t i = 0; i < SIZE / 4; i++)
		assert_true(add(0, 11, MT_PROBE_REVIVAL, &id));
	assert_false(add(0, 11, MT_PROBE_REVIVAL, &id));
	assert_true(add(0, 10 + LIFE, MT_PROBE_TAIL, &id));
}

/* However fast probes leave, an id comes back eight lives later at the soonest. */
CASE(mt_probe_add, ids_do_not_repeat_soon)
{
	static struct mt_probe many[MT_PROBES_MAX];
	static uint64_t last[UINT16_MAX + 1];
	uint64_t now = 1;
	uint16_t id;

	mt_probe_table_init(&table, many, MT_PROBES_MAX, LIFE);
	for (uint32_t i = 0; i < 3 * (UINT16_MAX + 1u); i++) {
		while (!add(0, now, MT_PROBE_REVIVAL, &id))
			now += LIFE / 4;
		assert_true(last[id] == 0 || now - last[id] >= 8 * LIFE);
		last[id] = now;
	}
}
