/* SPDX-License-Identifier: BSD-2-Clause */
/* state_fixture.h - a state of a device with four ports, and profiles of it. */
#ifndef UNIT_STATE_FIXTURE_H
#define UNIT_STATE_FIXTURE_H

#include "support/test.h"

#include <errno.h>
#include <string.h>

#include "node/node_state.h"

#define PORTS 4u
#define USER 1234u

static struct mn_state node;
static struct mn_device device;

static inline int fresh(void **unused)
{
	(void)unused;
	mn_state_init(&node);
	device = (struct mn_device){.n_ports = PORTS,
				    .formats = MN_FORMAT_STEV | MN_FORMAT_SRV6 | MN_FORMAT_UDP,
				    .n_evs = 32,
				    .user = USER};
	return 0;
}

/* Whatever a case did, its state is one that a reader takes. */
static inline int sound(void **unused)
{
	const char *why = NULL;

	(void)unused;
	if (mn_state_check(&node, &why))
		return 0;
	print_error("%s\n", why);
	return -1;
}

/* Makes a format profile ONLINE. */
static inline void add_format(uint64_t id, uint32_t format, const uint8_t *width, uint32_t n)
{
	struct mn_fmt_change c = {.mask = MN_FMT_STATE | MN_FMT_FORMAT | MN_FMT_FIELDS,
				  .state = MN_OFFLINE,
				  .format = format,
				  .width = width,
				  .n_fields = n};

	assert_i_eq(mn_fmt_modify(&node, &device, id, &c), 0);
	c = (struct mn_fmt_change){.mask = MN_FMT_STATE, .state = MN_ONLINE};
	assert_i_eq(mn_fmt_modify(&node, &device, id, &c), 0);
}

static inline void add_stev(uint64_t id)
{
	add_format(id, MN_FORMAT_STEV, (const uint8_t[]){16, 16}, 2);
}

static inline int move_profile(uint64_t id, uint32_t to)
{
	struct mn_ev_change c = {.mask = MN_EV_STATE, .state = to};

	return mn_ev_profile_modify(&node, &device, id, &c);
}

/* Configures a profile of EVs that are numbers; it is OFFLINE then. */
static inline int add_profile(uint64_t id, uint32_t mode, uint64_t fmt, uint32_t count)
{
	struct mn_ev_change c = {.mask = MN_EV_STATE | MN_EV_MODE | MN_EV_FMT | MN_EV_COUNT,
				 .state = MN_OFFLINE,
				 .mode = mode,
				 .fmt = fmt,
				 .count = count};

	return mn_ev_profile_modify(&node, &device, id, &c);
}

static inline struct mn_ev ev_of(uint32_t value, uint8_t port)
{
	struct mn_ev ev = {.port = port};

	memcpy(ev.val, &value, sizeof(value));
	return ev;
}

static inline int replace_ev(uint64_t id, struct mn_ev ev, struct mn_ev with)
{
	struct mn_ev_op op = {.ev = ev, .replaces = true, .with = with};

	return mn_ev_modify(&node, &device, id, &op);
}

static inline int deny_ev(uint64_t id, struct mn_ev ev, bool denied)
{
	struct mn_ev_op op = {.ev = ev, .denied = denied};

	return mn_ev_modify(&node, &device, id, &op);
}

/* An ONLINE profile with EVs 1 .. count, by ports in turn. */
static inline void add_explicit(uint64_t id, uint64_t fmt, uint32_t count)
{
	assert_i_eq(add_profile(id, MN_MODE_EXPLICIT, fmt, count), 0);
	for (uint32_t i = 0; i < count; i++)
		assert_i_eq(
			replace_ev(id, (struct mn_ev){0}, ev_of(i + 1, (uint8_t)(i % PORTS + 1))),
			0);
	assert_i_eq(move_profile(id, MN_ONLINE), 0);
}

#endif
