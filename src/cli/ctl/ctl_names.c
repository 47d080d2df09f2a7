/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_names.c - EVs of mrcd's answers by their cables: see ctl.h. */
#include "cli/ctl/ctl.h"

#include <arpa/inet.h>
#include <stdlib.h>

/* "2:0xc0010001" as port and number; what has bytes instead is no path that has a name. */
static bool read_ev(const char *text, uint32_t *port, uint32_t *number)
{
	char *rest;
	unsigned long first = strtoul(text, &rest, 10), second;

	if (rest == text || *rest != ':' || first < 1 || first > UINT8_MAX)
		return false;
	text = rest + 1;
	second = strtoul(text, &rest, 0);
	*port = (uint32_t)first - 1;
	*number = (uint32_t)second;
	return rest != text && !*rest && second <= UINT32_MAX;
}

static void name_ev(json_t *o, const struct cli_fabric *fabric, const uint8_t own[16])
{
	const char *text = json_string_value(json_object_get(o, "ev")), *cable;
	const char *peer = json_string_value(json_object_get(o, "peer"));
	char room[CLI_EV_NAME_BYTES];
	uint32_t port, number;
	uint8_t to[16];

	if (!text || !read_ev(text, &port, &number) || (peer && inet_pton(AF_INET6, peer, to) != 1))
		return;
	cable = cli_fabric_ev(fabric, own, peer ? to : NULL, port, number, room);
	if (cable)
		json_object_set_new(o, "cable", json_string(cable));
}

void ctl_name_evs(json_t *answer, const struct cli_fabric *fabric)
{
	json_t *profile, *ev;
	uint8_t own[16];
	size_t i, k;

	if (!cli_fabric_here(fabric, own))
		return;
	name_ev(answer, fabric, own);
	json_array_foreach(json_object_get(answer, "evs"), i, profile)
	{
		json_array_foreach(json_object_get(profile, "evs"), k, ev)
		{
			name_ev(ev, fabric, own);
		}
	}
}
