/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_ev_listener.c - EV events of other processes, as mrcd tells them, which is played here:
 * src/host/node/ev_listener.c.
 */
#include "unit/nic_fixture.h"
#include "unit/store_fixture.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#define VALUE 49153

static int door = -1, client = -1;
static struct mh_cq *cq;
static struct mn_state wanted;

static int listen_at(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/" STORE_SOCKET_NAME, store_dir);
	unlink(at.sun_path);
	return bind(door, (struct sockaddr *)&at, sizeof(at)) || listen(door, 4);
}

/* The next connection, which asks for events. */
static int take_client(void)
{
	char line[64] = "";

	client = accept(door, NULL, NULL);
	return client < 0 || recv(client, line, sizeof(line) - 1, 0) <= 0 ||
	       strcmp(line, "{\"do\":\"events\"}\n") != 0;
}

static int setup(void **state)
{
	struct nic_fixture *fixture;

	if (store_setup(state))
		return -1;
	mn_state_init(&wanted);
	wanted.ev[0].event_mask = MN_EVENT_GOOD;
	commit(&wanted);
	setenv("MRC_NODE_DIR", store_dir, 1);
	if (fixture_setup(state) || listen_at())
		return -1;
	fixture = *state;
	return mh_ev_cq_create(fixture->dev, 8, NULL, NULL, &cq) || take_client();
}

static int teardown(void **state)
{
	int err = mh_cq_destroy(cq) || fixture_teardown(state);

	close(client);
	close(door);
	unsetenv("MRC_NODE_DIR");
	return store_teardown(state) || err;
}

#define LISTENER_TEST(name) TEST_WITH(setup, teardown, mh_ev_listener, name)

static void say(const char *text)
{
	assert_i_eq(send(client, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* As md_events.c has it. */
static void say_ev(unsigned int pid, unsigned int device, const char *state)
{
	char line[400];

	snprintf(line, sizeof(line),
		 "{\"event\":\"ev\",\"pid\":%u,\"uid\":0,\"device\":%u,\"ev\":\"2:49153\","
		 "\"state\":\"%s\",\"cause\":\"loss\",\"peer\":\"::1\",\"profile\":0,\"index\":3,"
		 "\"port\":2,\"number\":%d}\n",
		 pid, device, state, VALUE);
	say(line);
}

/* The next event; 0: none comes. */
static int wait_event(struct mh_ev_event *event, int ms)
{
	int got = mh_ev_cq_poll(cq, 1, event);

	for (; ms > 0 && got == 0; ms--) {
		usleep(1000);
		got = mh_ev_cq_poll(cq, 1, event);
	}
	return got;
}

static void expect_event(uint32_t dropped)
{
	const uint32_t value = VALUE;
	struct mh_ev_event event;

	assert_i_eq(wait_event(&event, 5000), 1);
	assert_u_eq(event.profile, 0);
	assert_u_eq(event.port, 2);
	assert_true(event.good);
	assert_u_eq(event.dropped, dropped);
	assert_bytes_eq(event.val, &value, sizeof(value));
}

/* REQ(ctl.event-queue) */
LISTENER_TEST(hears_what_the_mask_asks_for)
{
	struct mh_ev_event event;

	say("{\"ok\":true}\n");
	say_ev(1, 0, "bad");
	say_ev(1, 1, "good");
	say_ev((unsigned int)getpid(), 0, "good");
	say_ev(1, 0, "good");
	expect_event(0);
	assert_i_eq(wait_event(&event, 1), 0);
}

/* What mrcd had to drop is counted with the next event. */
LISTENER_TEST(counts_what_was_dropped_before)
{
	say("{\"event\":\"change\",\"dropped\":7}\n");
	say_ev(1, 0, "good");
	expect_event(7);
}

/* Each number is the largest that there may be; the device has no such EV, and yet an event. */
LISTENER_TEST(hears_of_the_largest_numbers)
{
	const uint32_t value = UINT32_MAX;
	struct mh_ev_event event;

	say("{\"dropped\":4294967295}\n");
	say("{\"event\":\"ev\",\"state\":\"good\",\"pid\":4294967295,\"device\":0,\"profile\":0,"
	    "\"index\":1023,\"port\":32,\"number\":4294967295}\n");
	assert_i_eq(wait_event(&event, 5000), 1);
	assert_u_eq(event.port, MN_PORTS_MAX);
	assert_u_eq(event.dropped, UINT32_MAX);
	assert_bytes_eq(event.val, &value, sizeof(value));
}

/* Bytes of any kind harm nothing. */
LISTENER_TEST(passes_over_what_is_no_event)
{
	char longest[3000];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	say(longest);
	say("\"event\":\"ev\"\n\n{\"event\":\"ev\",\"state\":\"good\"}\n");
	say("{\"event\":\"ev\",\"state\":\"good\",\"pid\":1,\"device\":0,\"profile\":16,\"index\":"
	    "0,\"port\":1,\"number\":1}\n");
	say("{\"event\":\"ev\",\"state\":\"good\",\"pid\":1,\"device\":0,\"profile\":99999999999999"
	    "999999,\"index\":0,\"port\":1,\"number\":1}\n");
	say("{\"event\":\"ev\",\"state\":\"good\",\"pid\":1,\"device\":0,\"profile\":0,\"index\":"
	    "0,\"port\":33,\"number\":1}\n");
	say_ev(1, 0, "good");
	expect_event(0);
}

/* A daemon that is restarted is followed again. */
LISTENER_TEST(comes_back)
{
	close(client);
	assert_i_eq(take_client(), 0);
	say_ev(1, 0, "good");
	expect_event(0);
}
