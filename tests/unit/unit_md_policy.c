/* SPDX-License-Identifier: BSD-2-Clause */
/* What mrcd does about what is sick: src/mrcd/md_policy.c, on a node without a store's file. */
#include "mrcd/md_policy.h"

#include <errno.h>
#include <stdlib.h>

#include "fabric_fixture.h"
#include "mrcd/md_args.h"

#define S_NS UINT64_C(1000000000)

static struct md_node node;
static struct mf_topology t;
static struct md_policy *policy;
static json_t *told; /* events, in order */
static uint64_t now_s;
static int commit_error;

static int keep(struct md_node *n, struct store_error *e)
{
	snprintf(e->text, sizeof(e->text), commit_error ? "no room on the disk" : "");
	n->generation += !commit_error;
	return commit_error;
}

static void begin(const char *more, const char *word)
{
	char text[512];
	struct md_config config;
	struct md_config_error e = {""};

	snprintf(text, sizeof(text),
		 "[device]\nports = 2\n%s\n[map]\nfabric = \"tiny\"\nhost = 0\n"
		 "interfaces = [\"e0\", \"e1\"]\npolicy = \"%s\"\nreturn_after = \"10s\"\n",
		 more, word);
	t = fabric("tiny");
	if (md_config_parse(&config, "x", text, &e) || md_node_create(&node, "x", &config))
		fail_msg("%s", e.text);
	node.commit = keep;
	now_s = 100;
	commit_error = 0;
	told = json_array();
	assert_int_equal(md_policy_open(&policy, &node, &t, now_s * S_NS), 0);
}

static int teardown(void **state)
{
	(void)state;
	md_policy_close(policy);
	md_node_destroy(&node);
	json_decref(told);
	return 0;
}

#define POLICY_TEST(name) TEST_WITH(NULL, teardown, md_policy, name)
#define STEV "ev_format = \"stev\""

static void tell(void *ctx, json_t *event)
{
	(void)ctx;
	json_array_append_new(told, event);
}

static void seconds(uint32_t n, const char *name, enum mm_kind kind)
{
	struct mm_sick sick = {.kind = kind};
	struct mf_error e;

	if (name && !mm_part_find(&t, name, &sick.part, &e))
		fail_msg("%s", name);
	while (n--) {
		assert_true(md_policy_is_due(policy, ++now_s * S_NS));
		md_policy_step(policy, &sick, name != NULL, false, tell, NULL, now_s * S_NS);
		assert_false(md_policy_is_due(policy, now_s * S_NS));
	}
}

static void ask(const char *line)
{
	struct md_peer peer = {.is_privileged = true, .passed_fd = -1};
	json_t *said = NULL, *answer = md_request(&node, &peer, line, strlen(line), &said);

	if (!json_is_true(json_object_get(answer, "ok")))
		fail_msg("%s: %s", line, json_string_value(json_object_get(answer, "error")));
	json_decref(answer);
	json_decref(said);
}

/* Denied EVs of a profile. */
static uint32_t denied(uint32_t profile)
{
	const struct mn_ev_profile *p = &node.now->ev[profile];
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_evs; i++)
		n += node.now->evs[p->first + i].denied;
	return n;
}

POLICY_TEST(act_denies_and_gives_back)
{
	json_t *args;

	begin(STEV, "act");
	seconds(1, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 0);
	seconds(1, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 1);
	assert_u_eq(node.generation, 1);
	assert_u_eq(node.counts.map_denials, 1);
	assert_u_eq(node.counts.map_parts[MM_POLICY_DENIED], 1);
	/* Who denied what and why: to followers, and beside the store. */
	assert_u_eq(json_array_size(told), 1);
	args = json_object_get(json_array_get(told, 0), "args");
	assert_string_equal(json_string_value(json_object_get(args, "reason")),
			    "map: plane0.t0-0.t1-1: dead");
	assert_string_equal(json_string_value(json_array_get(json_object_get(args, "evs"), 0)),
			    "1:0xc0000001");
	args = json_object_iter_value(json_object_iter(node.notes));
	assert_string_equal(json_string_value(json_object_get(args, "part")), "plane0.t0-0.t1-1");
	assert_true(json_integer_value(json_object_get(args, "at")) > 0);
	seconds(10, NULL, MM_DEAD);
	assert_u_eq(denied(0), 1);
	seconds(1, NULL, MM_DEAD);
	assert_u_eq(denied(0), 0);
	assert_u_eq(json_object_size(node.notes), 0);
	assert_u_eq(node.counts.map_returns, 1);
	assert_u_eq(json_array_size(told), 2);
}

POLICY_TEST(advise_changes_nothing)
{
	begin(STEV, "advise");
	seconds(5, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 0);
	assert_u_eq(node.generation, 0);
	assert_u_eq(node.counts.map_parts[MM_POLICY_DENIED], 1);
	seconds(20, NULL, MM_DEAD);
	assert_u_eq(node.counts.map_returns, 1);
	assert_u_eq(node.generation, 0);
}

POLICY_TEST(off_is_nothing)
{
	begin(STEV, "off");
	assert_null(policy);
	assert_false(md_policy_is_due(policy, UINT64_MAX));
}

/* All profiles that have EVs; what an explicit one lists, by the path that it takes. */
POLICY_TEST(act_denies_in_all_profiles)
{
	begin(STEV, "act");
	ask("{\"do\":\"format.set\",\"profile\":1,\"mode\":\"stev\",\"fields\":[32]}");
	ask("{\"do\":\"ev.set\",\"profile\":2,\"mode\":\"explicit\",\"format\":1,\"evs\":"
	    "[\"1:0xc0000000\",\"1:0xc0000001\",\"2:0xc0010000\",\"2:0xc0010001\"]}");
	seconds(2, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 1);
	assert_u_eq(denied(2), 1);
	assert_u_eq(json_array_size(told), 2);
	seconds(11, NULL, MM_DEAD);
	assert_u_eq(denied(0) + denied(2), 0);
}

/* Source ports choose a plane: they go when it goes, and not for an uplink. */
POLICY_TEST(act_on_source_ports)
{
	begin("evs = 3", "act");
	seconds(5, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 0);
	assert_u_eq(node.counts.map_parts[MM_POLICY_HELD], 1);
	seconds(5, "host0.plane1", MM_DEAD);
	assert_u_eq(denied(0), 3);
	seconds(11, NULL, MM_DEAD);
	assert_u_eq(denied(0), 0);
}

/* What an operator denied stays, whoever denied it first. */
POLICY_TEST(operators_denials_are_theirs)
{
	begin(STEV, "act");
	ask("{\"do\":\"ev.deny\",\"evs\":[\"2:0xc0010001\"],\"reason\":\"mine\"}");
	seconds(3, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 2);
	ask("{\"do\":\"ev.deny\",\"evs\":[\"1:0xc0000001\"],\"reason\":\"mine too\"}");
	seconds(30, NULL, MM_DEAD);
	assert_u_eq(denied(0), 2);
	assert_u_eq(node.counts.map_returns, 0);
	/* And what one gave back is not taken again while it is sick. */
	ask("{\"do\":\"ev.undeny\",\"evs\":[\"1:0xc0000001\",\"2:0xc0010001\"]}");
	seconds(3, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 1);
	ask("{\"do\":\"ev.undeny\",\"evs\":[\"1:0xc0000001\"]}");
	seconds(30, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 0);
	assert_u_eq(node.counts.map_parts[MM_POLICY_OVERRULED], 1);
}

/* As md_node_open does, what was noted being of the generation before. */
static void restart(void)
{
	json_t *notes = md_notes_update(node.notes, node.now, NULL, 0);

	md_policy_close(policy);
	json_decref(node.notes);
	node.notes = notes;
	assert_int_equal(md_policy_open(&policy, &node, &t, now_s * S_NS), 0);
}

/* Killed meanwhile: the next one reads in the notes what the last one denied. */
POLICY_TEST(restart_knows_its_own)
{
	begin(STEV, "act");
	ask("{\"do\":\"ev.deny\",\"evs\":[\"2:0xc0010001\"],\"reason\":\"mine\"}");
	seconds(2, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 2);
	restart();
	seconds(9, NULL, MM_DEAD);
	assert_u_eq(denied(0), 2);
	seconds(2, NULL, MM_DEAD);
	assert_u_eq(denied(0), 1);
	assert_u_eq(node.counts.map_returns, 1);
}

/* A profile that needs its EVs keeps them, and so do the others. */
POLICY_TEST(nothing_is_half_denied)
{
	begin(STEV, "act");
	ask("{\"do\":\"format.set\",\"profile\":1,\"mode\":\"stev\",\"fields\":[32]}");
	ask("{\"do\":\"ev.set\",\"profile\":2,\"mode\":\"explicit\",\"format\":1,\"evs\":"
	    "[\"1:0xc0000001\"]}");
	seconds(5, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0) + denied(2), 0);
	assert_u_eq(node.counts.map_parts[MM_POLICY_HELD], 1);
}

POLICY_TEST(a_store_that_fails_changes_nothing)
{
	begin(STEV, "act");
	commit_error = ENOSPC;
	seconds(5, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 0);
	assert_u_eq(json_array_size(told), 0);
	commit_error = 0;
	seconds(1, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 1);
}

#define FORMAT "{\"do\":\"format.set\",\"profile\":1,\"mode\":\"stev\",\"fields\":[32]}"
#define EXPLICIT(id, evs)                                                                        \
	"{\"do\":\"ev.set\",\"profile\":" id ",\"mode\":\"explicit\",\"format\":1,\"evs\":[" evs \
	"]}"

/* What comes in while a part is denied goes with it, in the generation that brings it. */
POLICY_TEST(new_evs_are_denied_with_the_part)
{
	begin(STEV, "act");
	seconds(2, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 1);
	ask(FORMAT);
	ask(EXPLICIT("2", "\"1:0xc0000000\",\"1:0xc0000001\",\"2:0xc0010000\""));
	assert_u_eq(node.generation, 3);
	assert_u_eq(denied(2), 1);
	assert_u_eq(json_object_size(node.notes), 2);
	ask("{\"do\":\"ev.set\",\"profile\":3,\"mode\":\"auto\"}");
	assert_u_eq(denied(3), 1);
	/* One that takes the place of another, too. */
	ask("{\"do\":\"ev.undeny\",\"profile\":2,\"evs\":[\"1:0xc0000001\"]}");
	assert_u_eq(denied(2), 0);
	ask("{\"do\":\"ev.replace\",\"profile\":2,\"ev\":\"1:0xc0000001\",\"with\":"
	    "\"1:0xc0000000\"}");
	assert_u_eq(denied(2), 0);
	ask("{\"do\":\"ev.replace\",\"profile\":2,\"ev\":\"1:0xc0000000\",\"with\":"
	    "\"1:0xc0000001\"}");
	assert_u_eq(denied(2), 1);
	seconds(1, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(json_array_size(told), 4);
	seconds(11, NULL, MM_DEAD);
	assert_u_eq(denied(0) + denied(2) + denied(3), 0);
	assert_u_eq(json_object_size(node.notes), 0);
}

/* A change that is not stored denies nothing, and nobody hears that it did. */
POLICY_TEST(new_evs_that_are_not_stored_are_not_told)
{
	static const char line[] = "{\"do\":\"ev.set\",\"profile\":3,\"mode\":\"auto\"}";
	struct md_peer peer = {.is_privileged = true, .passed_fd = -1};
	json_t *said = NULL, *answer;

	begin(STEV, "act");
	seconds(2, "plane0.t0-0.t1-1", MM_DEAD);
	commit_error = ENOSPC;
	answer = md_request(&node, &peer, line, strlen(line), &said);
	assert_false(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	json_decref(said);
	commit_error = 0;
	seconds(1, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(3), 0);
	assert_u_eq(json_array_size(told), 1);
	ask(line);
	seconds(1, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(3), 1);
	assert_u_eq(json_array_size(told), 2);
}

/* A profile that would have none left keeps them: the transport leaves what is dead by itself. */
POLICY_TEST(new_evs_that_are_needed_stay)
{
	begin(STEV, "act");
	seconds(2, "plane0.t0-0.t1-1", MM_DEAD);
	ask(FORMAT);
	ask(EXPLICIT("2", "\"1:0xc0000001\",\"1:0xc0000001\""));
	assert_u_eq(node.generation, 3);
	assert_u_eq(denied(2), 0);
	assert_u_eq(json_object_size(node.notes), 1);
	/* Advice changes nothing. */
	teardown(NULL);
	begin(STEV, "advise");
	seconds(2, "plane0.t0-0.t1-1", MM_DEAD);
	ask(FORMAT);
	ask(EXPLICIT("2", "\"1:0xc0000000\",\"1:0xc0000001\",\"2:0xc0010000\""));
	assert_u_eq(denied(2), 0);
}

static void set_denied_by_itself(bool is_denied, enum mn_denier denier)
{
	struct mn_device d;
	struct mn_ev_op op = {.denied = is_denied, .denier = denier};

	md_config_device(&node.config, 0, &d);
	assert_true(md_ev_read("1:0xc0000001", &op.ev));
	assert_int_equal(mn_ev_modify(node.now, &d, 0, &op), 0);
}

/* What somebody allowed and denied again in the store itself, while no mrcd ran, is his. */
POLICY_TEST(denials_of_others_meanwhile_stay)
{
	begin(STEV, "act");
	seconds(2, "plane0.t0-0.t1-1", MM_DEAD);
	set_denied_by_itself(false, MN_DENIED_BY_USER);
	set_denied_by_itself(true, MN_DENIED_BY_USER);
	restart();
	seconds(30, NULL, MM_DEAD);
	assert_u_eq(denied(0), 1);
	assert_u_eq(node.counts.map_returns, 0);
}

/* Nor does a drain have them, or the map what a drain has. */
POLICY_TEST(drains_and_the_map_leave_each_other_alone)
{
	begin(STEV, "act");
	ask("{\"do\":\"ev.deny\",\"by\":\"drain\",\"evs\":[\"1:0xc0000001\"]}");
	seconds(30, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(node.counts.map_denials, 0);
	ask("{\"do\":\"ev.undeny\",\"by\":\"drain\",\"evs\":[\"1:0xc0000001\"]}");
	assert_u_eq(denied(0), 0);
	seconds(1, "plane0.t0-0.t1-1", MM_DEAD);
	assert_u_eq(denied(0), 1);
	ask("{\"do\":\"ev.deny\",\"by\":\"drain\",\"evs\":[\"1:0xc0000001\"],\"reason\":\"x\"}");
	ask("{\"do\":\"ev.undeny\",\"by\":\"drain\",\"evs\":[\"1:0xc0000001\"]}");
	assert_u_eq(denied(0), 1);
	seconds(11, NULL, MM_DEAD);
	assert_u_eq(denied(0), 0);
}
