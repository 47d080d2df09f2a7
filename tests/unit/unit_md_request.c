/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that clients send, and what they come to: src/mrcd/md_node.h. */
#include "mrcd/md_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/test.h"

static struct md_node node;
static struct md_peer peer;
static json_t *answer, *said;
static int commit_result;

/* In the place of the store. */
static int keep(struct md_node *n, struct store_error *error)
{
	const char *why;

	snprintf(error->text, sizeof(error->text), "the disk is full");
	assert_true(mn_state_check(n->next, &why));
	n->generation += commit_result == 0;
	return commit_result;
}

static int request_setup(void **state)
{
	static const char text[] = "[device]\nports = 2\nevs = 4\n";
	struct md_config config;
	struct md_config_error error;

	(void)state;
	if (md_config_parse(&config, "x.toml", text, &error) ||
	    md_node_create(&node, "x.toml", &config))
		return -1;
	node.commit = keep;
	commit_result = 0;
	peer = (struct md_peer){.uid = 1000, .is_privileged = true, .passed_fd = -1};
	return 0;
}

static int request_teardown(void **state)
{
	(void)state;
	json_decref(answer);
	json_decref(said);
	answer = said = NULL;
	md_node_destroy(&node);
	return 0;
}

#define REQUEST_TEST(name) TEST_WITH(request_setup, request_teardown, md_request, name)

static void ask(const char *line)
{
	json_decref(answer);
	json_decref(said);
	answer = md_request(&node, &peer, line, strlen(line), &said);
	assert_non_null(answer);
}

static void expect_good(const char *line)
{
	ask(line);
	if (!json_is_true(json_object_get(answer, "ok")))
		fail_msg("%s: %s", line, json_string_value(json_object_get(answer, "error")));
}

static void expect_error(const char *line, const char *code, const char *text)
{
	struct mn_state *before = malloc(sizeof(*before));
	const char *error;

	assert_non_null(before);
	mn_state_copy(before, node.now);
	ask(line);
	assert_true(json_is_false(json_object_get(answer, "ok")));
	assert_string_equal(json_string_value(json_object_get(answer, "errno")), code);
	error = json_string_value(json_object_get(answer, "error"));
	if (!strstr(error, text))
		fail_msg("no <%s> in <%s>", text, error);
	assert_null(said);
	assert_int_equal(memcmp(before, node.now, mn_state_bytes(before)), 0);
	free(before);
}

REQUEST_TEST(shows_the_state)
{
	const json_t *status;

	peer.uid = UINT32_MAX - 1;
	expect_good("{\"do\": \"status\", \"id\": \"a\"}");
	assert_string_equal(json_string_value(json_object_get(answer, "id")), "a");
	status = json_object_get(answer, "status");
	assert_i_eq(json_integer_value(json_object_get(status, "uid")), UINT32_MAX - 1);
	expect_good("{\"do\": \"port.show\"}");
	assert_u_eq(json_array_size(json_object_get(answer, "ports")), 2);
	expect_good("{\"do\": \"ev.show\", \"profile\": 0}");
	assert_u_eq(json_array_size(json_object_get(answer, "evs")), 1);
	expect_good("{\"do\": \"ev.show\"}");
	assert_u_eq(json_array_size(json_object_get(answer, "evs")), MN_EV_PROFILES);
	expect_good("{\"do\": \"format.show\"}");
	expect_good("{\"do\": \"cc.show\"}");
	assert_null(said);
}

REQUEST_TEST(decides_about_ports)
{
	expect_good("{\"do\": \"port.set\", \"port\": 2, \"admin\": \"suspended\"}");
	assert_u_eq(node.now->port_admin[1], MN_PORT_SUSPENDED);
	assert_u_eq(node.generation, 1);
	assert_string_equal(json_string_value(json_object_get(said, "do")), "port.set");
	expect_error("{\"do\": \"port.set\", \"port\": 3, \"admin\": \"down\"}", "EINVAL",
		     "port = 3: must be a whole number, 1 to 2");
	expect_error("{\"do\": \"port.set\", \"port\": 1}", "EINVAL", "admin: is missing");
	expect_error("{\"do\": \"port.set\", \"admin\": \"down\"}", "EINVAL", "port: is missing");
	expect_error("{\"do\": \"port.set\", \"port\": 1, \"admin\": \"off\"}", "EINVAL",
		     "must be one of enabled suspended down");
	expect_error("{\"do\": \"port.set\", \"prt\": 1, \"admin\": \"down\"}", "EINVAL",
		     "prt: is not known here; did you mean port?");
}

REQUEST_TEST(refuses_what_is_no_request)
{
	expect_error("", "EINVAL", "one line with one JSON object");
	expect_error("[]", "EINVAL", "this is another value");
	expect_error("{\"do\": \"status\"} x", "EINVAL", "one JSON object");
	expect_error("{\"do\": \"status\", \"do\": \"reload\"}", "EINVAL", "duplicate");
	expect_error("{}", "EINVAL", "do: is missing");
	expect_error("{\"do\": 1}", "EINVAL", "must be one of status events");
	expect_error("{\"do\": \"status\", \"x\": 1}", "EINVAL", "x: is not known here");
	assert_u_eq(node.counts.refused, 7);
	assert_u_eq(node.counts.changes, 0);
}

REQUEST_TEST(changes_nothing_for_those_without_rights)
{
	static const char *const words[] = {"port.set", "format.set", "ev.set",	    "cc.set",
					    "ev.deny",	"ev.undeny",  "ev.replace", "reload"};
	char line[64];

	peer.is_privileged = false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(line, sizeof(line), "{\"do\": \"%s\"}", words[i]);
		expect_error(line, "EPERM", "takes root or CAP_NET_ADMIN");
	}
	expect_good("{\"do\": \"events\"}");
	assert_true(peer.follows);
	expect_good("{\"do\": \"ev.show\"}");
}

/* Who connected while it was a lab has no rights any more when it is none. */
REQUEST_TEST(goes_by_the_file_that_counts_now)
{
	static const char down[] = "{\"do\": \"port.set\", \"port\": 2, \"admin\": \"down\"}";

	peer.is_privileged = false;
	node.config.lab = true;
	expect_good(down);
	node.config.lab = false;
	expect_error(down, "EPERM", "takes root or CAP_NET_ADMIN");
}

REQUEST_TEST(denies_and_undenies_with_a_reason)
{
	const json_t *ev;

	expect_good("{\"do\": \"ev.deny\", \"evs\": [\"2:49153\"], \"reason\": \"drops\"}");
	expect_good("{\"do\": \"ev.deny\", \"evs\": [\"1:49152\"]}");
	expect_good("{\"do\": \"ev.show\", \"profile\": 0}");
	ev = json_array_get(
		json_object_get(json_array_get(json_object_get(answer, "evs"), 0), "evs"), 0);
	assert_string_equal(json_string_value(json_object_get(ev, "ev")), "2:49153");
	assert_string_equal(json_string_value(json_object_get(ev, "reason")), "drops");
	assert_u_eq((uint64_t)json_integer_value(json_object_get(ev, "by_uid")), 1000);
	assert_u_eq(json_object_size(node.notes), 2);
	expect_good("{\"do\": \"ev.undeny\", \"evs\": [\"2:49153\"]}");
	assert_u_eq(json_object_size(node.notes), 1);
	assert_u_eq(node.now->n_evs, 1);
}

/* Of 8 EVs; and a list is denied whole or not at all. */
REQUEST_TEST(never_denies_the_last_evs)
{
	expect_error("{\"do\": \"ev.deny\", \"evs\": [\"1:1\", \"1:2\", \"1:3\", \"1:4\", \"2:1\", "
		     "\"2:2\", \"2:3\", \"2:4\"]}",
		     "EBUSY", "2:4: denied, it would leave");
	expect_good("{\"do\": \"ev.deny\", \"evs\": [\"1:1\", \"1:2\", \"1:3\", \"1:4\", \"2:1\", "
		    "\"2:2\", \"2:3\"]}");
	expect_error("{\"do\": \"ev.deny\", \"evs\": [\"3:1\"]}", "EINVAL", "ports 1 to 2");
	expect_error("{\"do\": \"ev.deny\", \"evs\": [\"0:0\"]}", "ENOENT", "is not of");
	expect_error("{\"do\": \"ev.deny\", \"evs\": [7]}", "EINVAL", "must be PORT:EV");
	expect_error("{\"do\": \"ev.deny\", \"evs\": []}", "EINVAL", "a list of PORT:EV");
	expect_error("{\"do\": \"ev.deny\"}", "EINVAL", "evs: is missing");
	expect_error("{\"do\": \"ev.deny\", \"profile\": 1, \"evs\": [\"1:1\"]}", "EINVAL",
		     "is INIT");
}

#define FORMAT "{\"do\": \"format.set\", \"profile\": 1, \"mode\": \"udp\", \"fields\": [8, 8]}"

REQUEST_TEST(makes_profiles_step_by_step)
{
	expect_good(FORMAT);
	expect_good("{\"do\": \"ev.set\", \"profile\": 1, \"mode\": \"explicit\", \"format\": 1, "
		    "\"evs\": [\"1:49152\", \"2:49153\", \"1:49154\"], \"events\": [\"bad\"]}");
	assert_u_eq(node.now->ev[1].state, MN_ONLINE);
	assert_u_eq(node.now->ev[1].n_evs, 3);
	expect_good("{\"do\": \"ev.replace\", \"profile\": 1, \"ev\": \"1:49154\", \"with\": "
		    "\"1:50000\"}");
	expect_error("{\"do\": \"ev.replace\", \"profile\": 1, \"ev\": \"1:7\", \"with\": "
		     "\"1:8\"}",
		     "ENOENT", "1:7: is not of EV profile 1");
	expect_error("{\"do\": \"ev.set\", \"profile\": 1, \"evs\": [\"1:1\"]}", "EBUSY",
		     "replaced later");
	expect_error("{\"do\": \"format.set\", \"profile\": 1, \"state\": \"init\"}", "EBUSY",
		     "format profile = 1: something that is ONLINE uses it");
	expect_good("{\"do\": \"ev.set\", \"profile\": 1, \"state\": \"init\"}");
	expect_good("{\"do\": \"format.set\", \"profile\": 1, \"state\": \"init\"}");
	assert_u_eq(node.now->n_evs, 0);
}

REQUEST_TEST(generates_evs_from_fields)
{
	expect_good(FORMAT);
	expect_good("{\"do\": \"ev.set\", \"profile\": 2, \"mode\": \"generated\", \"format\": 1, "
		    "\"count\": 8, \"width\": [8, 8], \"init\": [192, 0], \"max\": [0, 255], "
		    "\"mask\": [0, 255]}");
	assert_u_eq(node.now->ev[2].n_evs, 8);
	expect_error("{\"do\": \"ev.set\", \"profile\": 3, \"mode\": \"generated\", \"format\": 1, "
		     "\"count\": 8, \"width\": [8], \"init\": [1, 2]}",
		     "EINVAL", "must be as long as width");
	expect_error("{\"do\": \"ev.set\", \"profile\": 3, \"mode\": \"auto\", \"count\": 9}",
		     "E2BIG", "more EVs than there is room for");
	expect_error("{\"do\": \"ev.set\", \"profile\": 3, \"mode\": \"auto\", \"events\": "
		     "[\"ugly\"]}",
		     "EINVAL", "a list of good and bad");
	expect_error("{\"do\": \"format.set\", \"profile\": 2, \"mode\": \"srv6\"}", "EINVAL",
		     "udp on this device");
}

REQUEST_TEST(sets_parameters_of_nscc)
{
	expect_good("{\"do\": \"cc.set\", \"profile\": 1, \"algorithm\": \"uet-1.0-nscc\", "
		    "\"gamma\": 0.5, \"target_delay_ns\": 6000, \"disable_qa\": true}");
	assert_u_eq(node.now->cc[1].nscc.target_delay_ns, 6000);
	expect_good("{\"do\": \"cc.set\", \"profile\": 1, \"gamma\": 0.75}");
	assert_true(node.now->cc[1].nscc.gamma == 0.75f);
	assert_u_eq(node.now->cc[1].nscc.disable_qa, 1);
	expect_error("{\"do\": \"cc.set\", \"profile\": 1, \"gamma\": 1.5}", "EINVAL",
		     "gamma = 1.5: must be a number, 0 to 1");
	expect_error("{\"do\": \"cc.set\", \"profile\": 2, \"algorithm\": \"none\", \"eta\": 1}",
		     "EINVAL", "has no parameters");
	expect_error("{\"do\": \"cc.set\", \"profile\": 0}", "EINVAL", "1 to 15");
	expect_error("{\"do\": \"cc.set\", \"profile\": 2}", "EINVAL", "something is missing");
	expect_good("{\"do\": \"cc.set\", \"profile\": 1, \"state\": \"init\"}");
}

REQUEST_TEST(keeps_nothing_that_the_store_does_not)
{
	commit_result = ENOSPC;
	expect_error("{\"do\": \"ev.deny\", \"evs\": [\"1:1\"], \"reason\": \"x\"}", "ENOSPC",
		     "the disk is full");
	assert_u_eq(json_object_size(node.notes), 0);
	assert_u_eq(node.counts.changes, 0);
}

/* A path that is not there: the state stays. */
REQUEST_TEST(reload_says_what_is_wrong_with_the_file)
{
	expect_good("{\"do\": \"port.set\", \"port\": 2, \"admin\": \"down\"}");
	expect_error("{\"do\": \"reload\"}", "ENOENT", "x.toml: No such file");
	assert_u_eq(node.counts.reloads_refused, 1);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

#define HEAD "[device]\nports = 2\nevs = 4\n"
#define FABRIC "[map]\nfabric = \"tiny\"\n"
#define INTERFACES "interfaces = [\"e0\", \"e1\"]\n"
#define MAP FABRIC "host = 3\n" INTERFACES

/* The prober has begun with what the file said then. */
REQUEST_TEST(reload_refuses_another_map)
{
	static const char *const other[] = {
		HEAD,
		HEAD "[map]\nfabric = \"lab\"\nhost = 3\n" INTERFACES,
		HEAD FABRIC "host = 2\n" INTERFACES,
		HEAD FABRIC "host = 3\ninterfaces = [\"e0\", \"e2\"]\n",
		HEAD FABRIC "host = 3\ninterfaces = [\"e0\"]\n",
		HEAD MAP "share = 2\n",
		HEAD MAP "rate = \"1M\"\n",
		HEAD MAP "port = 77\n",
	};
	char path[] = "/tmp/mrc-md-request-XXXXXX";
	struct md_config_error error;

	close(mkstemp(path));
	node.config_path = path;
	write_file(path, HEAD MAP);
	md_config_free(&node.config);
	assert_int_equal(md_config_load(&node.config, path, &error), 0);
	expect_good("{\"do\": \"reload\"}");
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		write_file(path, other[i]);
		expect_error("{\"do\": \"reload\"}", "EBUSY", "map is another one");
	}
	assert_u_eq(node.config.map.host, 3);
	unlink(path);
}
