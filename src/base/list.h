/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.h - circular doubly linked lists whose links live in the listed objects.
 *
 * A link that is on no list points to itself, so that "is it queued?" needs no extra flag.
 */
#ifndef SOFTMRC_BASE_LIST_H
#define SOFTMRC_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct mb_link {
	struct mb_link *next, *prev;
};

#define mb_container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void mb_link_init(struct mb_link *l)
{
	l->next = l->prev = l;
}

static inline bool mb_link_is_empty(const struct mb_link *l)
{
	return l->next == l;
}

/* mb_list_push appends l to the list `head`, unless it is on a list already. */
static inline void mb_list_push(struct mb_link *head, struct mb_link *l)
{
	if (!mb_link_is_empty(l))
		return;
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

static inline void mb_link_remove(struct mb_link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	mb_link_init(l);
}

/* mb_list_rotate moves the first element, if there is one, behind the last. */
static inline void mb_list_rotate(struct mb_link *head)
{
	struct mb_link *first = head->next;

	mb_link_remove(first);
	mb_list_push(head, first);
}

#endif
