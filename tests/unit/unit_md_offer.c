/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole states that processes offer: src/mrcd/md_offer.c, src/store/store_offer.c. */
#include "mrcd/md_node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/test.h"

static struct md_node node;
static struct md_peer peer;
static struct mn_state next;
static struct store_info info;
static struct store_error error;
static json_t *answer, *said;

/* In the place of the store. */
static int keep(struct md_node *n, struct store_error *e)
{
	(void)e;
	n->generation++;
	return 0;
}

static int setup(void **state)
{
	struct md_config config;
	struct md_config_error e;

	(void)state;
	if (md_config_parse(&config, "x", "[device]\nports = 2\nevs = 4\n", &e) ||
	    md_node_create(&node, "x", &config))
		return -1;
	node.commit = keep;
	node.generation = 5;
	info = (struct store_info){.generation = 5};
	peer = (struct md_peer){.uid = 1000, .is_privileged = true, .passed_fd = -1};
	mn_state_init(&next);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	json_decref(answer);
	json_decref(said);
	answer = said = NULL;
	md_node_destroy(&node);
	return 0;
}

#define OFFER_TEST(name) TEST_WITH(setup, teardown, md_offer, name)

static const char *text_of(const char *key)
{
	return json_string_value(json_object_get(answer, key));
}

static void put_fd(int fd)
{
	static const char line[] = "{\"do\":\"state.put\",\"generation\":5}";

	json_decref(answer);
	json_decref(said);
	peer.passed_fd = fd;
	answer = md_request(&node, &peer, line, sizeof(line) - 1, &said);
	if (fd >= 0)
		close(fd);
}

static void put(void)
{
	put_fd(store_offer_make(&next, &info, &error));
}

static void expect_refused(const char *code, const char *text)
{
	uint64_t generation = node.generation;

	put();
	assert_string_equal(text_of("errno"), code);
	if (!strstr(text_of("error"), text))
		fail_msg("no <%s> in <%s>", text, text_of("error"));
	assert_null(said);
	assert_u_eq(node.generation, generation);
	assert_u_eq(node.now->n_evs, 0);
	mn_state_init(&next);
}

static void list(uint32_t n, bool denied)
{
	for (uint32_t i = 0; i < n; i++)
		next.evs[i] = (struct mn_ev){.val = {(uint8_t)i}, .port = 1, .denied = denied};
	next.n_evs = n;
}

static void deny(uint32_t n)
{
	list(n, true);
	next.ev[0].n_evs = n;
	for (uint32_t id = 1; id < MN_EV_PROFILES; id++)
		next.ev[id].first = n;
}

/* What is another is told, and who denied what is not for others to say. */
OFFER_TEST(puts_a_state_in_force)
{
	const json_t *args;

	deny(2);
	next.evs[0].denied_by = 7;
	next.port_admin[1] = MN_PORT_DOWN;
	put();
	assert_true(json_is_true(json_object_get(answer, "ok")));
	assert_u_eq((uint64_t)json_integer_value(json_object_get(answer, "generation")), 6);
	assert_u_eq(node.now->port_admin[1], MN_PORT_DOWN);
	assert_u_eq(node.now->n_evs, 2);
	assert_u_eq(node.now->evs[0].denied_by, 1000);
	args = json_object_get(said, "args");
	assert_u_eq((uint64_t)json_integer_value(json_array_get(json_object_get(args, "ports"), 0)),
		    2);
	assert_u_eq(json_array_size(json_object_get(args, "evs")), 1);
	assert_u_eq(json_array_size(json_object_get(args, "cc")), 0);
	/* It was made of a state that is in force no more. */
	put();
	assert_string_equal(text_of("errno"), "EAGAIN");
}

/* Another one's denial stays his. */
OFFER_TEST(keeps_who_denied)
{
	deny(1);
	next.evs[0].denied_by = 7;
	mn_state_copy(node.now, &next);
	next.port_admin[0] = MN_PORT_SUSPENDED;
	put();
	assert_u_eq(node.now->evs[0].denied_by, 7);
}

/* Nor is it the map's because he says so, and what he makes his own is the map's no more. */
OFFER_TEST(denies_for_nobody_else)
{
	deny(2);
	next.evs[0].denier = MN_DENIED_BY_MAP;
	mn_state_copy(node.now, &next);
	next.evs[0].denier = MN_DENIED_BY_USER;
	next.evs[1].denier = MN_DENIED_BY_MAP;
	put();
	assert_true(json_is_true(json_object_get(answer, "ok")));
	assert_u_eq(node.now->evs[0].denier, MN_DENIED_BY_USER);
	assert_u_eq(node.now->evs[1].denier, MN_DENIED_BY_USER);
	assert_u_eq(node.now->evs[1].denied_by, 1000);
}

/* But nobody gets his name for a denial in another profile. */
OFFER_TEST(signs_the_same_ev_of_another_profile)
{
	deny(1);
	next.evs[0].denied_by = 7;
	mn_state_copy(node.now, &next);
	next.n_evs = 2;
	next.evs[1] = next.evs[0];
	next.ev[2] = (struct mn_ev_profile){
		.state = MN_OFFLINE, .mode = MN_MODE_AUTO, .first = 1, .n_evs = 1};
	for (uint32_t id = 3; id < MN_EV_PROFILES; id++)
		next.ev[id].first = 2;
	put();
	assert_true(json_is_true(json_object_get(answer, "ok")));
	assert_u_eq(node.now->evs[0].denied_by, 7);
	assert_u_eq(node.now->evs[1].denied_by, 1000);
}

OFFER_TEST(refuses_what_is_no_state_of_this_device)
{
	int ends[2];

	put_fd(-1);
	assert_string_equal(text_of("errno"), "EINVAL");
	assert_int_equal(pipe(ends), 0);
	put_fd(ends[0]);
	assert_non_null(strstr(text_of("error"), "memfd_create"));
	close(ends[1]);
	put_fd(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
	assert_non_null(strstr(text_of("error"), "memfd_create"));
	info.generation = 4;
	expect_refused("EAGAIN", "was made of another one");
	info.generation = 5;
	next.port_admin[2] = MN_PORT_DOWN;
	expect_refused("EINVAL", "a port that the device has not");
	next.fmt[1] = (struct mn_fmt_profile){.state = MN_OFFLINE, .format = MN_FORMAT_SRV6};
	expect_refused("EINVAL", "an EV format that the device has not");
	deny(8);
	expect_refused("EINVAL", "fewer EVs than its min_active, or none");
	next.port_admin[0] = 9;
	expect_refused("EINVAL", "state is none");
	next.fmt[3].format = 1u << 7; /* which answers have no word for */
	expect_refused("EINVAL", "an EV format profile has a field out of range");
	peer.is_privileged = false;
	expect_refused("EPERM", "takes root or CAP_NET_ADMIN");
}

/* Of those that are listed, too. REQ(ctl.ev-denied) */
OFFER_TEST(leaves_a_profile_its_last_evs)
{
	list(3, true);
	next.fmt[1] = (struct mn_fmt_profile){
		.state = MN_ONLINE, .format = MN_FORMAT_UDP, .n_fields = 1, .width = {16}};
	next.ev[1] = (struct mn_ev_profile){
		.state = MN_ONLINE, .mode = MN_MODE_EXPLICIT, .fmt = 1, .count = 3, .n_evs = 3};
	for (uint32_t id = 2; id < MN_EV_PROFILES; id++)
		next.ev[id].first = 3;
	next.evs[2].denied = 0;
	next.ev[1].min_active = 2;
	put();
	assert_string_equal(text_of("errno"), "EINVAL");
	next.ev[1].min_active = 1;
	put();
	assert_true(json_is_true(json_object_get(answer, "ok")));
}
