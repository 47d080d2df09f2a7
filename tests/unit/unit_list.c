/* SPDX-License-Identifier: BSD-2-Clause */
/* Intrusive lists: order, and what an element that is on no list looks like. */
#include "support/test.h"

#include "base/list.h"

struct item {
	int before;
	struct mb_link link;
	int id;
};

static struct mb_link head;
static struct item items[3];

static int three_in_order(void **state)
{
	(void)state;
	mb_link_init(&head);
	for (int i = 0; i < 3; i++) {
		items[i].id = i;
		mb_link_init(&items[i].link);
		mb_list_push(&head, &items[i].link);
	}
	return 0;
}

/* The ids in order, as digits; walked forwards and backwards. */
static void check_order(const char *want)
{
	char forth[8] = "", back[8] = "";
	size_t n = 0, m = strlen(want);

	for (struct mb_link *l = head.next; l != &head && n < 7; l = l->next)
		forth[n++] = (char)('0' + mb_container_of(l, struct item, link)->id);
	assert_string_equal(forth, want);
	for (struct mb_link *l = head.prev; l != &head && m > 0; l = l->prev)
		back[--m] = (char)('0' + mb_container_of(l, struct item, link)->id);
	assert_string_equal(back, want);
}

TEST_WITH(three_in_order, NULL, mb_list_push, appends)
{
	check_order("012");
	for (int i = 0; i < 3; i++)
		assert_false(mb_link_is_empty(&items[i].link));
}

TEST_WITH(three_in_order, NULL, mb_list_push, leaves_a_listed_one_in_place)
{
	mb_list_push(&head, &items[0].link);
	check_order("012");
}

TEST_WITH(three_in_order, NULL, mb_link_remove, from_everywhere)
{
	mb_link_remove(&items[1].link);
	check_order("02");
	assert_true(mb_link_is_empty(&items[1].link));
	mb_link_remove(&items[1].link); /* once more does nothing */
	check_order("02");
	mb_link_remove(&items[0].link);
	check_order("2");
	mb_link_remove(&items[2].link);
	assert_true(mb_link_is_empty(&head));
	mb_list_push(&head, &items[1].link);
	check_order("1");
}

TEST_WITH(three_in_order, NULL, mb_list_rotate, first_goes_last)
{
	mb_list_rotate(&head);
	check_order("120");
	mb_list_rotate(&head);
	check_order("201");
}

TEST(mb_list_rotate, one_and_none)
{
	mb_link_init(&head);
	mb_link_init(&items[0].link);
	mb_list_rotate(&head);
	assert_true(mb_link_is_empty(&head));
	mb_list_push(&head, &items[0].link);
	mb_list_rotate(&head);
	check_order("0");
}

struct owner {
	unsigned before;
	struct mb_link list;
};

/* The first of id `id` after some turns, each looked at and put last; a second loop, as in core. */
static int __attribute__((noinline)) turns_to(struct owner *o, int id)
{
	for (unsigned n = o->before; n > 0; n--)
		mb_list_rotate(&o->list);
	for (int n = 0; n < 3; n++) {
		struct item *i = mb_container_of(o->list.next, struct item, link);

		mb_list_rotate(&o->list);
		if (i->id == id)
			return n;
	}
	return -1;
}

/*
 * Optimised, GCC 12 moves the reading of list.next out of both loops as if no link were written
 * through a struct mb_link in them, which -fno-strict-aliasing prevents (cmake/Softmrc.cmake).
 */
TEST(mb_list_rotate, first_is_read_each_time)
{
	struct owner o = {.before = 1};

	mb_link_init(&o.list);
	for (int i = 0; i < 3; i++) {
		items[i].id = i;
		mb_link_init(&items[i].link);
		mb_list_push(&o.list, &items[i].link);
	}
	assert_int_equal(turns_to(&o, 0), 2);
	o.before = 2;
	assert_int_equal(turns_to(&o, 1), 1);
}
