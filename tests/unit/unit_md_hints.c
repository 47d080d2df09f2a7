/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_md_hints.c - which events of whose processes become hints for whom: src/mrcd/md_hints.c. */
#include "mrcd/md_hints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#define NOW UINT64_C(1000000000000)

static struct md_config config;
static struct md_hints hints;
static struct store_hint got[STORE_HINTS_MAX];
static struct stats_process process;
static struct mrc_stats_event event;

static int setup(void **state)
{
	(void)state;
	snprintf(config.dir, sizeof(config.dir), "/tmp/mrc-md-hints-XXXXXX");
	snprintf(config.device, sizeof(config.device), "mrc1");
	if (!mkdtemp(config.dir) || chmod(config.dir, 0755))
		return -1;
	md_hints_open(&hints, &config);
	process = (struct stats_process){.uid = geteuid(), .device = 1, .gid = {9}};
	event = (struct mrc_stats_event){.at_ns = NOW - 5,
					 .ev = 49155,
					 .kind = MRC_STATS_EVENT_EV,
					 .port = 2,
					 .state = MRC_STATS_EV_ASSUMED_BAD,
					 .cause = MRC_STATS_EV_BY_LOSS,
					 .peer = {7},
					 .ev_profile = 3,
					 .ev_index = 11};
	return 0;
}

static int teardown(void **state)
{
	char command[MD_PATH_MAX + 20];

	(void)state;
	md_hints_close(&hints);
	snprintf(command, sizeof(command), "rm -rf %s", config.dir);
	return system(command);
}

#define HINTS_TEST(name) TEST_WITH(setup, teardown, md_hints, name)

static void hear(void)
{
	md_hints_hear(&hints, &process, &event, NOW);
}

/* How many of them processes of this user find. */
static uint32_t saved(void)
{
	uint32_t n;

	md_hints_save(&hints, NOW);
	store_hints_load(config.dir, config.device, NOW, got, &n);
	return n;
}

/* REQ(req.ev.hint) */
HINTS_TEST(what_went_bad_until_it_is_good_again)
{
	hear();
	event.at_ns = NOW - 1;
	hear();
	assert_u_eq(saved(), 1);
	assert_u_eq(got[0].heard_ns, NOW - 1);
	assert_u_eq(got[0].from[0], 9);
	assert_u_eq(got[0].to[0], 7);
	assert_u_eq(got[0].number, 49155);
	assert_u_eq(got[0].profile, 3);
	assert_u_eq(got[0].index, 11);
	assert_u_eq(got[0].port, 3);
	event.ev_index = 12;
	hear();
	assert_u_eq(saved(), 2);
	event.state = MRC_STATS_EV_GOOD;
	event.cause = MRC_STATS_EV_BY_PROBE;
	hear();
	assert_u_eq(saved(), 1);
	assert_u_eq(got[0].index, 11);
}

/* Each member of its name tells one EV from another. */
HINTS_TEST(of_each_ev)
{
	hear();
	event.peer[15] = 1;
	hear();
	process.gid[15] = 1;
	hear();
	event.port = 1;
	hear();
	event.ev_profile = 0;
	hear();
	event.ev_index = 0;
	hear();
	assert_u_eq(saved(), 6);
}

/* A hint that came back as an event would never end. REQ(req.ev.hint) */
HINTS_TEST(not_what_is_no_evidence)
{
	static const uint8_t none[] = {MRC_STATS_EV_BY_HINT, MRC_STATS_EV_BY_FLOOR,
				       MRC_STATS_EV_BY_OPERATOR};

	for (size_t i = 0; i < sizeof(none); i++) {
		event.cause = none[i];
		hear();
	}
	event.cause = MRC_STATS_EV_BY_LOSS;
	event.kind = MRC_STATS_EVENT_PORT;
	hear();
	event.kind = MRC_STATS_EVENT_EV;
	process.device = 0;
	hear();
	assert_u_eq(saved(), 0);
	process.device = 1;
	hear();
	event.state = MRC_STATS_EV_GOOD;
	event.cause = MRC_STATS_EV_BY_FLOOR;
	hear();
	assert_u_eq(saved(), 1);
}

/* REQ(req.ev.hint) */
HINTS_TEST(of_a_user_for_that_user_alone)
{
	process.uid = geteuid() + 1;
	hear();
	assert_u_eq(saved(), 0);
	process.uid = geteuid();
	hear();
	process.uid = geteuid() + 1;
	event.state = MRC_STATS_EV_GOOD;
	hear();
	assert_u_eq(saved(), 1);
}

/* The oldest goes, of this user; others lose nothing by it. */
HINTS_TEST(so_many_of_a_user_and_so_many_users)
{
	for (uint32_t i = 0; i <= STORE_HINTS_MAX; i++) {
		event.peer[1] = (uint8_t)(i >> 8);
		event.peer[2] = (uint8_t)i;
		hear();
	}
	assert_u_eq(saved(), STORE_HINTS_MAX);
	assert_u_eq(got[0].to[2], 1);
	for (uint32_t i = 1; i < MD_HINTS_USERS; i++) {
		process.uid = geteuid() + i;
		hear();
	}
	assert_u_eq(hints.user[MD_HINTS_USERS - 1].uid, geteuid() + MD_HINTS_USERS - 1);
	assert_u_eq(saved(), STORE_HINTS_MAX);
}

/* Who said nothing for the longest makes room, in the folder too. */
HINTS_TEST(one_user_more)
{
	for (uint32_t i = 0; i < MD_HINTS_USERS; i++) {
		process.uid = geteuid() + i;
		md_hints_hear(&hints, &process, &event, NOW + i);
	}
	assert_u_eq(saved(), 1);
	event.state = MRC_STATS_EV_GOOD;
	process.uid = geteuid() + MD_HINTS_USERS;
	md_hints_hear(&hints, &process, &event, NOW + MD_HINTS_USERS);
	assert_u_eq(saved(), 1);
	event.state = MRC_STATS_EV_ASSUMED_BAD;
	md_hints_hear(&hints, &process, &event, NOW + MD_HINTS_USERS);
	assert_u_eq(hints.user[0].uid, process.uid);
	assert_u_eq(saved(), 0);
	process.uid = geteuid();
	md_hints_hear(&hints, &process, &event, NOW + MD_HINTS_USERS + 1);
	assert_u_eq(saved(), 1);
	assert_u_eq(hints.user[1].uid, geteuid());
}

/* Also what a process says of a time to come. */
HINTS_TEST(not_for_ever)
{
	event.at_ns = NOW + STORE_HINT_AGE_NS;
	hear();
	assert_u_eq(saved(), 1);
	assert_u_eq(got[0].heard_ns, NOW);
	md_hints_save(&hints, NOW + STORE_HINT_AGE_NS - 1);
	assert_u_eq(hints.user[0].n, 1);
	md_hints_save(&hints, NOW + STORE_HINT_AGE_NS);
	assert_null(hints.user[0].hint);
	assert_u_eq(saved(), 0);
}

/* What an earlier daemon left, nobody would take back. REQ(req.ev.hint) */
HINTS_TEST(not_of_an_earlier_daemon)
{
	uint32_t n;

	hear();
	assert_u_eq(saved(), 1);
	md_hints_close(&hints);
	md_hints_open(&hints, &config);
	assert_i_eq(store_hints_load(config.dir, config.device, NOW, got, &n), ENOENT);
}
