/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles that processes use, whichever way they are to go offline: src/mrcd/md_users.c. */
#include "mrcd/md_node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/test.h"
#include "unit/stats_fixture.h"

#define EV_PROFILE 1u
#define CC_PROFILE 2u

static char dir[] = "/tmp/unit-users-XXXXXX", config_path[64], stats_path[64];
static struct md_node node;
static struct md_peer peer;
static struct stats_reader reader;
static int stats_fd;

/* In the place of the store. */
static int keep(struct md_node *n, struct store_error *e)
{
	(void)e;
	n->generation++;
	return 0;
}

/* This process as one whose QPs use both; its lock says that it lives. */
static void publish(uint32_t ev, uint32_t cc)
{
	static struct mrc_stats_segment segment;

	fixture_segment(&segment, (uint32_t)getpid());
	segment.qps.ev_profiles = ev;
	segment.qps.cc_profiles = cc;
	assert_int_equal(pwrite(stats_fd, &segment, sizeof(segment), 0), sizeof(segment));
}

static void write_config(const char *row)
{
	FILE *f = fopen(config_path, "we");

	assert_non_null(f);
	fprintf(f, "[device]\nports = 2\nevs = 4\n%s", row);
	fclose(f);
}

/* Asks, and returns the answer's text of a member, or NULL. */
static const char *ask(const char *line, const char *member)
{
	static char text[400];
	json_t *said, *answer = md_request(&node, &peer, line, strlen(line), &said);
	const char *found = json_string_value(json_object_get(answer, member));

	snprintf(text, sizeof(text), "%s", found ? found : "");
	json_decref(answer);
	json_decref(said);
	return found ? text : NULL;
}

static int setup(void **state)
{
	struct md_config config;
	struct md_config_error e;
	int ends[2];

	(void)state;
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	if (!mkdtemp(dir) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	snprintf(config_path, sizeof(config_path), "%s/mrcd.toml", dir);
	snprintf(stats_path, sizeof(stats_path), "%s/%d.mrcstats", dir, (int)getpid());
	write_config("");
	if (md_config_load(&config, config_path, &e) ||
	    md_node_create(&node, config_path, &config) || md_peer_find(ends[0], &peer))
		return -1;
	close(ends[0]);
	close(ends[1]);
	peer.is_privileged = true;
	node.commit = keep;
	stats_reader_open(&reader, dir, 0);
	node.stats = &reader;
	stats_fd = open(stats_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (stats_fd < 0 || flock(stats_fd, LOCK_EX))
		return -1;
	publish(1u << EV_PROFILE, 1u << CC_PROFILE);
	assert_null(ask("{\"do\":\"ev.set\",\"profile\":1,\"mode\":\"auto\"}", "error"));
	assert_null(ask("{\"do\":\"cc.set\",\"profile\":2,\"algorithm\":\"none\"}", "error"));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(stats_fd);
	stats_reader_close(&reader);
	md_node_destroy(&node);
	unlink(stats_path);
	unlink(config_path);
	return rmdir(dir);
}

#define USERS_TEST(name) TEST_WITH(setup, teardown, md_users_check, name)

static void expect_named(const char *text, const char *begin)
{
	char want[200];

	snprintf(want, sizeof(want), "%s: QPs use it, process %d of user %u", begin, (int)getpid(),
		 geteuid());
	assert_non_null(text);
	assert_string_equal(text, want);
}

/* REQ(ctl.profile-states) */
USERS_TEST(a_request)
{
	static const char ev[] = "{\"do\":\"ev.set\",\"profile\":1,\"state\":\"offline\"}";
	static const char cc[] = "{\"do\":\"cc.set\",\"profile\":2,\"state\":\"init\"}";

	expect_named(ask(ev, "error"), "EV profile = 1");
	assert_string_equal(ask(ev, "errno"), "EBUSY");
	expect_named(ask(cc, "error"), "CC profile = 2");
	assert_u_eq(node.now->ev[EV_PROFILE].state, MN_ONLINE);
	assert_u_eq(node.now->cc[CC_PROFILE].state, MN_ONLINE);
	publish(1, 1);
	assert_null(ask(ev, "error"));
	assert_null(ask(cc, "error"));
	assert_u_eq(node.now->ev[EV_PROFILE].state, MN_OFFLINE);
	assert_u_eq(node.now->cc[CC_PROFILE].state, MN_INIT);
}

/* With its place in the file. */
USERS_TEST(a_reload)
{
	struct md_config_error e;
	char begin[120];

	write_config("[[cc]]\nprofile = 2\nalgorithm = \"none\"\nstate = \"offline\"\n");
	assert_int_equal(md_node_reload(&node, &e), EBUSY);
	snprintf(begin, sizeof(begin), "%s:5: CC profile = 2", config_path);
	expect_named(e.text, begin);
	assert_u_eq(node.now->cc[CC_PROFILE].state, MN_ONLINE);
	publish(1, 1);
	assert_int_equal(md_node_reload(&node, &e), 0);
	assert_u_eq(node.now->cc[CC_PROFILE].state, MN_OFFLINE);
}

/* Offers a state in which the EV profile is offline. */
static const char *offer_without(void)
{
	static struct mn_state next;
	struct store_info info = {.generation = node.generation};
	struct store_error error;
	const char *text;
	char line[80];

	mn_state_copy(&next, node.now);
	next.ev[EV_PROFILE].state = MN_OFFLINE;
	snprintf(line, sizeof(line), "{\"do\":\"state.put\",\"generation\":%d}",
		 (int)node.generation);
	peer.passed_fd = store_offer_make(&next, &info, &error);
	text = ask(line, "error");
	close(peer.passed_fd);
	return text;
}

/* It knows its own QPs better than its statistics, which are some time ago. */
USERS_TEST(an_offer_of_the_process_itself)
{
	assert_null(offer_without());
}

/* Whose number another process has by now, or has as another user. */
USERS_TEST(an_offer_of_one_that_was_of_this_number)
{
	peer.started++;
	expect_named(offer_without(), "EV profile = 1");
	peer.started--;
	peer.uid++;
	expect_named(offer_without(), "EV profile = 1");
}

/* An offer's own change of what nobody uses. */
USERS_TEST(nothing_is_looked_for_in_vain)
{
	node.stats = NULL;
	assert_null(offer_without());
}
