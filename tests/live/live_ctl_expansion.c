/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_ctl_expansion.c - the nine kinds of EV profiles that the controller API's expansions show,
 * made by a controller, used by an application of another process and user, with mrcd between
 * them, and read from the wire. The argument is mrcd's program.
 *
 * The application sends by packet sockets over IPv6, for plain ones have few source ports. What the
 * device's packets do not carry, addresses of SRv6, is refused to both. How all nine are expanded
 * whatever carries them, unit_ev_fields.c says.
 */
#include "live/live_ctl_app.h"
#include "live/live_daemon.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/netns.h"

#define FIELDS_MAX 10
#define GENERATED 16
#define PATIENCE_S (LIVE_PATIENCE_MS / 1000)
/* Packets with data are longer than this, all others shorter. */
#define DATA_BYTES 1000
/* Of the flow label's 20 bits those that an EV has. */
#define LABEL_MASK 0xffffu

/* Bits that the EV gives all of, or none, or some from 1 on. */
#define OPEN(bits)                                                               \
	{                                                                        \
		(bits),                                                          \
		{                                                                \
			(bits), 0, 0, 0, (uint32_t)((UINT64_C(1) << (bits)) - 1) \
		}                                                                \
	}
#define FIXED(bits, value)                       \
	{                                        \
		(bits),                          \
		{                                \
			(bits), (value), 0, 0, 0 \
		}                                \
	}
#define SOME(on_wire, bits, value, most, mask)             \
	{                                                  \
		(on_wire),                                 \
		{                                          \
			(bits), (value), 1, (most), (mask) \
		}                                          \
	}

static const struct kind {
	const char *name;
	int n;
	struct {
		uint8_t on_wire;
		struct mrc_ctl_ev_field field;
	} of[FIELDS_MAX];
	const char *ev; /* NULL: for SRv6 */
	size_t ev_bytes;
	uint32_t want; /* source port and flow label */
} kinds[] = {
	{"two fields", 2, {OPEN(16), OPEN(16)}, "\xf3\xb0\x42\x56", 4, 0xf3b04256},
	{"one field", 1, {OPEN(32)}, "\x80\x00\x00\x01", 4, 0x80000001},
	{"fixed bits",
	 2,
	 {SOME(16, 16, 0x100, 15, 0xf), SOME(16, 16, 0x200, 15, 0xf)},
	 "\x5a",
	 1,
	 0x0105020a},
	{"a mask with a hole",
	 2,
	 {SOME(16, 16, 0x1000, 255, 0xf0f), SOME(16, 16, 0x2000, 255, 0xf0f)},
	 "\x33\x12",
	 2,
	 0x13032102},
	{.name = "locator and uSIDs",
	 .n = 5,
	 .of = {FIXED(32, 0xcafecafe), OPEN(16), OPEN(16), OPEN(16), OPEN(16)}},
	{.name = "fewer fields than the format",
	 .n = 3,
	 .of = {FIXED(32, 0xdeaddead), OPEN(16), OPEN(16)}},
	{.name = "narrow fields",
	 .n = 5,
	 .of = {FIXED(32, 0x42424242), SOME(16, 4, 0, 15, 0xf), SOME(16, 4, 0, 15, 0xf),
		SOME(16, 4, 0, 15, 0xf), SOME(16, 4, 0, 15, 0xf)}},
	{.name = "tiers fixed and their links generated",
	 .n = 5,
	 .of = {FIXED(32, 0x13131313), SOME(16, 16, 0x100, 15, 0xf), SOME(16, 16, 0x200, 15, 0xf),
		SOME(16, 16, 0x300, 15, 0xf), SOME(16, 16, 0x400, 15, 0xf)}},
	{.name = "destination and segment",
	 .n = 10,
	 .of = {FIXED(32, 0xcafecafe), OPEN(16), OPEN(16), OPEN(16), OPEN(16), OPEN(16), OPEN(16),
		FIXED(32, 0xdecafbad), OPEN(16), OPEN(16)}},
};

#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static char dir[] = "/tmp/mrc-expand-XXXXXX";
static struct fixture *r; /* the controller's */
static pid_t daemon_pid;

static int setup(void **state)
{
	const char *why = NULL;

	if (!test_netns(&why))
		test_skip(why);
	test_ip("address add fd07::1/128 dev lo nodad");
	test_ip("address add fd07::2/128 dev lo nodad");
	if (!mkdtemp(dir) || chmod(dir, 0755))
		return -1;
	setenv("MRC_NODE_DIR", dir, 1);
	setenv("MRC_LOG", "error", 1);
	setenv("MRC_EVS", "8", 1);
	setenv("MRC_EV_FORMAT", "stev", 1);
	daemon_pid =
		live_daemon_start(test_arg(0), dir, "ports = 1\nevs = 8\nev_format = \"stev\"\n");
	setenv("MRC_PORTS", "fd07::1%lo", 1);
	setenv("MRC_DRIVER", "af_packet", 1);
	ctl_app_start(CAP_NET_RAW);
	setenv("MRC_PORTS", "fd07::2%lo", 1);
	unsetenv("MRC_DRIVER");
	if (fixture_setup(state))
		return -1;
	r = *state;
	return 0;
}

static int teardown(void **state)
{
	char command[100];
	int bad = fixture_teardown(state);

	bad |= !ctl_app_stop();
	live_daemon_stop(daemon_pid, SIGTERM);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) || bad;
}

/* ---- the controller ---- */

/* Profiles of both sorts have the same number. */
static int make_format(uint64_t id, const struct kind *k, enum mrc_ctl_ev_fmt_mode mode)
{
	struct mrc_ctl_ev_fmt_field widths[FIELDS_MAX];

	for (int i = 0; i < k->n; i++)
		widths[i].width = k->of[i].on_wire;
	return ctl_make_format(r, id, mode, widths, k->n);
}

static int make_profile(uint64_t id, const struct kind *k, enum mrc_ctl_ev_mode mode, uint32_t n)
{
	struct mrc_ctl_ev_field fields[FIELDS_MAX];
	struct mrc_ctl_ev_profile_attr attr = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
		.ev_mode = mode,
		.ev_fmt_profile_id = id,
		.ev_count = n,
		.ev_min_active = 1,
		.ev_fields_op = {.op = MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS,
				 .fields = fields,
				 .field_count = k->n}};

	for (int i = 0; i < k->n; i++)
		fields[i] = k->of[i].field;
	return mrc_ctl_modify_ev_profile(
		r->ctx, id, &attr,
		MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
			MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
			MRC_CTL_EV_PROFILE_EV_FIELDS_OP);
}

static void bring_online(uint64_t id)
{
	struct mrc_ctl_ev_profile_attr attr = {.profile_state = MRC_CTL_PROFILE_ONLINE};

	assert_int_equal(mrc_ctl_modify_ev_profile(r->ctx, id, &attr, MRC_CTL_EV_PROFILE_STATE), 0);
}

/* ---- the wire ---- */

static int open_wire(void)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(ETH_P_IPV6),
				 .sll_ifindex = (int)if_nametoindex("lo")};
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IPV6));

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* The EV of the next packet with data; false: nothing more has come. */
static bool next_ev(int wire, uint32_t *ev)
{
	struct {
		struct ip6_hdr ip;
		struct udphdr udp;
	} head;
	ssize_t n;

	do
		n = recv(wire, &head, sizeof(head), MSG_TRUNC);
	while (n >= 0 && (n < DATA_BYTES || head.ip.ip6_nxt != IPPROTO_UDP));
	if (n < 0)
		return false;
	*ev = (uint32_t)ntohs(head.udp.uh_sport) << 16 | (ntohl(head.ip.ip6_flow) & LABEL_MASK);
	return true;
}

/* Packets are seen until `n` different EVs have come. */
static void watch(int wire, uint32_t *evs, uint32_t n)
{
	time_t until = time(NULL) + PATIENCE_S;
	uint32_t seen = 0, i, ev;

	do {
		assert_u_eq(ctl_app_tell(CTL_APP_WRITE, 0, 0), IBV_WC_SUCCESS);
		while (next_ev(wire, &ev)) {
			for (i = 0; i < seen && evs[i] != ev; i++)
				;
			if (i < seen)
				continue;
			assert_true(seen < n);
			evs[seen++] = ev;
		}
	} while (seen < n && time(NULL) < until);
	assert_u_eq(seen, n);
}

/* The application hears of a profile by itself. */
static void connect_soon(uint64_t id)
{
	uint64_t err = ctl_app_tell(CTL_APP_CONNECT, id, 0);

	for (int ms = 0; ms < LIVE_PATIENCE_MS && err; ms++) {
		usleep(1000);
		err = ctl_app_tell(CTL_APP_CONNECT, id, 0);
	}
	assert_u_eq(err, 0);
}

/* ---- the kinds ---- */

static void explicit_ev(uint64_t id, const struct kind *k)
{
	struct mrc_ctl_ev_op_entry entry = {.ev_new = {.port = 1}};
	int wire, n = 1;
	uint32_t ev;

	assert_int_equal(make_profile(id, k, MRC_CTL_EV_MODE_EXP, 1), 0);
	memcpy(entry.ev_new.val, k->ev, k->ev_bytes);
	assert_int_equal(ctl_ev_op(r, id, MRC_CTL_EV_OP_REPLACE_EV, &entry, &n), 0);
	bring_online(id);
	connect_soon(id);
	wire = open_wire();
	watch(wire, &ev, 1);
	assert_u_eq(ev, k->want);
	close(wire);
}

/* Those bits of a value that stand under a mask, moved together. */
static uint32_t under(uint32_t value, uint32_t mask)
{
	uint32_t got = 0, n = 0;

	for (uint32_t bit = 0; bit < 32; bit++)
		if (mask >> bit & 1)
			got |= (value >> bit & 1) << n++;
	return got;
}

static void assert_of_kind(const struct kind *k, uint32_t ev)
{
	int shift = 32;

	for (int i = 0; i < k->n; i++) {
		const struct mrc_ctl_ev_field *f = &k->of[i].field;
		uint32_t value = (uint32_t)((ev >> (shift -= (int)f->width)) &
					    ((UINT64_C(1) << f->width) - 1));

		assert_u_eq(value & ~f->mask, f->init_val);
		assert_true(!f->max_val || (under(value, f->mask) >= f->min_val &&
					    under(value, f->mask) <= f->max_val));
	}
}

static void generated_evs(uint64_t id, const struct kind *k)
{
	uint32_t evs[GENERATED];
	int wire;

	assert_int_equal(make_profile(id, k, MRC_CTL_EV_MODE_GEN, GENERATED), 0);
	bring_online(id);
	connect_soon(id);
	wire = open_wire();
	watch(wire, evs, GENERATED);
	for (int i = 0; i < GENERATED; i++)
		assert_of_kind(k, evs[i]);
	close(wire);
}

/* The device says before that it has none, and nothing of the profile has come to be. */
static void refused(uint64_t id, const struct kind *k)
{
	struct mrc_ctl_ev_fmt_profile_attr fmt;
	struct mrc_ctl_device_attr attr;

	assert_int_equal(mrc_ctl_query_device(r->verbs, &attr), 0);
	assert_false(attr.ev.ev_fmt_mode_mask & MRC_CTL_EV_FMT_MODE_SRV6);
	assert_minus_one(make_format(id, k, MRC_CTL_EV_FMT_MODE_SRV6), EINVAL);
	assert_int_equal(
		mrc_ctl_query_ev_fmt_profile(r->ctx, id, &fmt, MRC_CTL_EV_FMT_PROFILE_CUR_STATE),
		0);
	assert_int_equal(fmt.cur_profile_state, MRC_CTL_PROFILE_INIT);
	assert_minus_one(make_profile(id, k, MRC_CTL_EV_MODE_GEN, GENERATED), EINVAL);
	assert_u_eq(ctl_app_tell(CTL_APP_CONNECT, id, 0), EINVAL);
}

/* REQ(srv6.ev-expansion) REQ(ctl.ev-modes) REQ(ctl.node-state) REQ(wire.ev.stev) */
TEST_WITH(setup, teardown, mrc_ctl_ev_profile, all_kinds_on_the_wire)
{
	uint64_t id = 0;

	for (int i = 0; i < KINDS; i++) {
		const struct kind *k = &kinds[i];

		print_message("# %s\n", k->name);
		if (!k->ev) {
			refused(++id, k);
			continue;
		}
		assert_int_equal(make_format(++id, k, MRC_CTL_EV_FMT_MODE_STEV), 0);
		explicit_ev(id, k);
		assert_int_equal(make_format(++id, k, MRC_CTL_EV_FMT_MODE_STEV), 0);
		generated_evs(id, k);
	}
}
