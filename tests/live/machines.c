/* SPDX-License-Identifier: BSD-2-Clause */
/* machines.c - two network namespaces with two cables between them: see machines.h. */
#include "live/machines.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

static pid_t machines_peer; /* whose namespace the other ends are in */

int machines_setup(void **state)
{
	const char *why = NULL;

	(void)state;
	if (!test_netns(&why))
		test_skip(why);
	return 0;
}

void machines_plug(struct live_side *s, uint32_t host, uint32_t i)
{
	if (host == 1)
		machines_ip("link add e%u type veth peer name e%u netns %d", i, i,
			    (int)machines_peer);
	live_barrier(s);
	machines_ip("link set e%u up", i);
}

pid_t machines_enter(struct live_side *s)
{
	pid_t mine = getpid();

	live_check(unshare(CLONE_NEWNET) == 0);
	machines_ip("link set lo up");
	live_tell(s, &mine, sizeof(mine));
	live_hear(s, &machines_peer, sizeof(machines_peer));
	return machines_peer;
}

void machines_cable(struct live_side *s, uint32_t host)
{
	machines_enter(s);
	machines_plug(s, host, 0);
	machines_plug(s, host, 1);
}

void enter_subnets(struct live_side *s, uint32_t host)
{
	machines_cable(s, host);
	for (uint32_t i = 0; i < 2; i++)
		machines_ip("addr add 10.9.%u.%u/24 dev e%u", i, host, i);
	live_barrier(s);
}

void machines_route(uint32_t host, uint32_t i)
{
	machines_ip("route add 10.9.0.%u/32 dev e%u metric %u src 10.9.0.%u", 3 - host, i, i + 1,
		    host);
}

void enter_one_address(struct live_side *s, uint32_t host)
{
	machines_cable(s, host);
	machines_ip("addr add 10.9.0.%u/32 dev lo", host);
	machines_route(host, 0);
	machines_route(host, 1);
	live_barrier(s);
}

void write_all(struct live_side *s)
{
	live_write_pieces(s, PIECES, PIECE);
}

void plain_initiator(struct live_side *s)
{
	live_fill(s->buffer, BYTES, 21);
	write_all(s);
	live_barrier(s);
}

void plain_target(struct live_side *s)
{
	live_barrier(s);
	live_check(live_compare(s->buffer, BYTES, 21));
}

void wait_plane(struct live_side *s, uint32_t plane, bool up)
{
	struct mh_plane_attr attr = {.up = !up};

	for (int ms = 0; ms < 60000 && attr.up != up; ms++) {
		live_check(mh_device_query_plane(s->dev, plane, &attr) == 0);
		poll(NULL, 0, 1);
	}
	live_check(attr.up == up);
}
