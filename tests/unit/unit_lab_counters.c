/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ports counted: src/lab/lab_counters.c, from a kernel and a switch program that say what the
 * test wants.
 */
#include "lab/ip_batch.h"
#include "lab/lab_state.h"
#include "support/test.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>

#define LINKS 64u
#define NONE UINT32_MAX

static struct {
	struct ml_lab *lab;
	struct ml_counters counters[LINKS];
	/* The message that answers, of a link or a qdisc of this interface. */
	_Alignas(struct nlmsghdr) char text[4096];
	size_t len;
	uint32_t entered; /* nodes, as bits */
	unsigned int open, dumps, interrupts, links_asked, qdiscs_asked;
	int failing; /* one of these: */
	int program_error;
} t;

enum { NOTHING, ENTER, OPEN, SEND, RECEIVE, ANSWER };

/* Any address: there is no socket. */
static char any_socket;
#define SOCKET ((struct mnl_socket *)(void *)&any_socket)

/* ---- the system ---- */

__typeof__(ml_threads_run) __wrap_ml_threads_run;
int __wrap_ml_threads_run(size_t n, ml_threads_fn fn, void *context, struct ml_error *e)
{
	for (size_t i = 0; i < n; i++)
		if (fn(context, i, e))
			return -1;
	return 0;
}

__typeof__(ml_netns_enter) __wrap_ml_netns_enter;
int __wrap_ml_netns_enter(const char *name, struct ml_error *e)
{
	char own[ML_NETNS_MAX];

	if (t.failing == ENTER)
		return ml_error_set(e, "no way");
	for (uint32_t node = 0; node < t.lab->t.n_nodes; node++)
		if (strcmp(ml_lab_namespace(t.lab, node, own), name) == 0)
			t.entered |= 1u << node;
	return 0;
}

static bool fails(int what, int error)
{
	errno = error;
	return t.failing == what;
}

__typeof__(mnl_socket_open2) __wrap_mnl_socket_open2;
struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags)
{
	assert_i_eq(bus, NETLINK_ROUTE);
	assert_i_eq(flags, SOCK_CLOEXEC);
	if (fails(OPEN, EMFILE))
		return NULL;
	t.open++;
	return SOCKET;
}

__typeof__(mnl_socket_close) __wrap_mnl_socket_close;
int __wrap_mnl_socket_close(struct mnl_socket *socket)
{
	assert_ptr_equal(socket, SOCKET);
	t.open--;
	errno = EBADF; /* of no interest */
	return 0;
}

__typeof__(mnl_socket_sendto) __wrap_mnl_socket_sendto;
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *socket, const void *from, size_t len)
{
	const struct nlmsghdr *m = from;
	bool of_links = m->nlmsg_type == RTM_GETLINK;

	assert_ptr_equal(socket, SOCKET);
	assert_true(of_links || m->nlmsg_type == RTM_GETQDISC);
	assert_u_eq(m->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
	assert_u_eq(len, sizeof(*m) + (of_links ? sizeof(struct ifinfomsg) : sizeof(struct tcmsg)));
	if (fails(SEND, ENOBUFS))
		return -1;
	t.dumps = 0;
	*(of_links ? &t.links_asked : &t.qdiscs_asked) += 1;
	return (ssize_t)len;
}

static size_t put(char *to, uint16_t type, int error)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(to);

	m->nlmsg_type = type;
	m->nlmsg_flags = NLM_F_MULTI;
	*(int *)mnl_nlmsg_put_extra_header(m, sizeof(struct nlmsgerr)) = error;
	return m->nlmsg_len;
}

/* First what the test made, then the end. */
__typeof__(mnl_socket_recvfrom) __wrap_mnl_socket_recvfrom;
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *socket, void *to, size_t size)
{
	const struct nlmsghdr *own = (const struct nlmsghdr *)(const void *)t.text;
	struct nlmsghdr *m = to;
	bool fits = t.len && (own->nlmsg_type == RTM_NEWLINK) == (t.links_asked > t.qdiscs_asked);

	assert_ptr_equal(socket, SOCKET);
	assert_true(size >= sizeof(t.text));
	if (fails(RECEIVE, ENOMEM))
		return -1;
	if (t.failing == ANSWER)
		return (ssize_t)put(to, NLMSG_ERROR, -EACCES);
	if (t.dumps++ > 0 || !fits)
		return (ssize_t)put(to, NLMSG_DONE, 0);
	memcpy(to, t.text, t.len);
	if (t.interrupts) {
		t.interrupts--;
		m->nlmsg_flags |= NLM_F_DUMP_INTR;
	}
	return (ssize_t)t.len;
}

/* Each port's counters differ, and each from the others. */
__typeof__(mswq_read) __wrap_mswq_read;
int __wrap_mswq_read(const struct mswq *swq, uint32_t ifindex, struct mswq_reading *out,
		     struct mswq_error *error)
{
	uint64_t k = UINT64_C(1000000) * (ifindex - ML_IFINDEX_FIRST + 1);

	assert_ptr_equal(swq, t.lab->swq);
	assert_true(ifindex < ML_IFINDEX_FIRST + t.lab->t.n_links);
	if (t.program_error) {
		snprintf(error->text, sizeof(error->text), "no map");
		return t.program_error;
	}
	*out = (struct mswq_reading){.count = {.offered = k + 1,
					       .offered_bytes = k + 2,
					       .duplicated = k + 3,
					       .sent_bytes = k + 4,
					       .trimmed = k + 100,
					       .whole = 5,
					       .dropped = k + 200,
					       .trim_dropped = 10,
					       .control_dropped = 20,
					       .marked = k + 6,
					       .blackholed = k + 300,
					       .lost = 7,
					       .corrupted = k + 8,
					       .reordered = k + 9},
				     .data_bytes = k + 400,
				     .control_bytes = 11};
	return 0;
}

__typeof__(mswq_close) __wrap_mswq_close;
void __wrap_mswq_close(struct mswq *swq)
{
	(void)swq;
}

static int open_tiny(void **state)
{
	struct ml_error e;

	(void)state;
	memset(&t, 0, sizeof(t));
	memset(t.counters, 0x5a, sizeof(t.counters));
	t.lab = ml_state_create("c", "tiny", NULL, &e);
	assert_non_null(t.lab);
	assert_true(t.lab->t.n_links < LINKS);
	return 0;
}

static int shut(void **state)
{
	(void)state;
	ml_state_destroy(t.lab);
	return 0;
}

#define COUNTERS_TEST(name) TEST_WITH(open_tiny, shut, ml_lab_counters, name)

static void read_all(void)
{
	struct ml_error e;

	if (ml_lab_counters(t.lab, t.counters, &e))
		fail_msg("%s", e.text);
	assert_u_eq(t.open, 0);
}

/* All of them are 0 but perhaps one. */
static void others_are_zero(uint32_t but)
{
	static const struct ml_counters zero;

	for (uint32_t link = 0; link < t.lab->t.n_links; link++)
		if (link != but)
			assert_memory_equal(&t.counters[link], &zero, sizeof(zero));
	assert_u_eq(t.counters[t.lab->t.n_links].packets, UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_u_eq(t.counters[t.lab->t.n_links].lost, UINT64_C(0x5a5a5a5a5a5a5a5a));
	assert_u_eq(t.counters[t.lab->t.n_links].dropped, UINT64_C(0x5a5a5a5a5a5a5a5a));
}

/* ---- links ---- */

static void link_says(uint32_t ifindex, unsigned int flags)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(t.text);
	struct ifinfomsg *info;
	struct rtnl_link_stats64 stats = {
		.rx_packets = 1, .tx_packets = 22, .rx_bytes = 333, .tx_bytes = 4444};

	m->nlmsg_type = RTM_NEWLINK;
	m->nlmsg_flags = NLM_F_MULTI;
	info = mnl_nlmsg_put_extra_header(m, sizeof(*info));
	info->ifi_index = (int)ifindex;
	info->ifi_flags = flags;
	mnl_attr_put_strz(m, IFLA_IFNAME, "e0");
	mnl_attr_put(m, IFLA_STATS64, sizeof(stats), &stats);
	mnl_attr_put_u32(m, IFLA_MTU, 9000);
	t.len = m->nlmsg_len;
}

static void link_counts(uint32_t link, unsigned int flags, bool carrier)
{
	link_says(ML_IFINDEX_FIRST + link, flags);
	read_all();
	assert_u_eq(t.counters[link].packets, 22);
	assert_u_eq(t.counters[link].bytes, 4444);
	assert_u_eq(t.counters[link].sent_bytes, 4444);
	assert_i_eq(t.counters[link].carrier, carrier);
	others_are_zero(link);
}

COUNTERS_TEST(of_links_are_what_they_sent_and_their_carrier)
{
	link_counts(0, IFF_UP | IFF_RUNNING | IFF_BROADCAST, true);
	link_counts(t.lab->t.n_links - 1, IFF_UP | IFF_RUNNING, true);
	link_counts(3, IFF_UP, false);
	link_counts(3, IFF_RUNNING, false);
	link_counts(3, 0, false);
}

COUNTERS_TEST(leave_out_links_of_others)
{
	static const unsigned int up = IFF_UP | IFF_RUNNING;

	link_says(1, up);
	read_all();
	others_are_zero(NONE);
	link_says(ML_IFINDEX_FIRST - 1, up);
	read_all();
	others_are_zero(NONE);
	link_says(ML_IFINDEX_FIRST + t.lab->t.n_links, up);
	read_all();
	others_are_zero(NONE);
	link_says(UINT32_MAX, up);
	read_all();
	others_are_zero(NONE);
}

COUNTERS_TEST(are_of_nodes_that_are_on)
{
	t.lab->off[5] = true;
	read_all();
	assert_u_eq(t.entered, ((1u << t.lab->t.n_nodes) - 1) & ~(1u << 5));
	assert_u_eq(t.links_asked, t.lab->t.n_nodes - 1);
	assert_u_eq(t.qdiscs_asked, t.lab->t.n_nodes - 1);
}

/* ---- queues ---- */

static void qdisc_says(uint32_t ifindex, uint32_t parent, const char *kind)
{
	struct nlmsghdr *m = mnl_nlmsg_put_header(t.text);
	struct gnet_stats_queue queue = {.qlen = 1, .backlog = 22, .drops = 333};
	struct tcmsg *info;
	struct nlattr *nest;

	m->nlmsg_type = RTM_NEWQDISC;
	m->nlmsg_flags = NLM_F_MULTI;
	info = mnl_nlmsg_put_extra_header(m, sizeof(*info));
	info->tcm_ifindex = (int)ifindex;
	info->tcm_parent = parent;
	mnl_attr_put_strz(m, TCA_KIND, kind);
	nest = mnl_attr_nest_start(m, TCA_STATS2);
	mnl_attr_put_u64(m, TCA_STATS_BASIC, UINT64_MAX);
	mnl_attr_put(m, TCA_STATS_QUEUE, sizeof(queue), &queue);
	mnl_attr_put_u64(m, TCA_STATS_RATE_EST, UINT64_MAX);
	mnl_attr_nest_end(m, nest);
	mnl_attr_put_u64(m, TCA_XSTATS, UINT64_MAX);
	t.len = m->nlmsg_len;
	read_all();
}

COUNTERS_TEST(of_queues_tell_faults_from_full_queues)
{
	uint32_t last = t.lab->t.n_links - 1;

	qdisc_says(ML_IFINDEX_FIRST + last, TC_H_CLSACT, "clsact");
	assert_u_eq(t.counters[last].lost, 333);
	assert_u_eq(t.counters[last].dropped, 0);
	assert_u_eq(t.counters[last].queue_bytes, 0);
	others_are_zero(last);
	qdisc_says(ML_IFINDEX_FIRST, TC_H_ROOT, "htb");
	assert_u_eq(t.counters[0].lost, 0);
	assert_u_eq(t.counters[0].dropped, 333);
	assert_u_eq(t.counters[0].queue_bytes, 22);
	others_are_zero(0);
	qdisc_says(ML_IFINDEX_FIRST, 0x10001, "pfifo"); /* below that */
	others_are_zero(NONE);
	qdisc_says(ML_IFINDEX_FIRST - 1, TC_H_ROOT, "htb");
	others_are_zero(NONE);
	qdisc_says(ML_IFINDEX_FIRST + t.lab->t.n_links, TC_H_ROOT, "htb");
	others_are_zero(NONE);
}

/* ---- the switch program ---- */

COUNTERS_TEST(are_the_programs_where_there_is_one)
{
	t.lab->swq = (struct mswq *)(void *)&any_socket;
	link_says(ML_IFINDEX_FIRST + 2, IFF_UP | IFF_RUNNING);
	read_all();
	assert_u_eq(t.qdiscs_asked, 0);
	for (uint32_t link = 0; link < t.lab->t.n_links; link++) {
		const struct ml_counters *c = &t.counters[link];
		uint64_t k = UINT64_C(1000000) * (link + 1);

		assert_i_eq(c->carrier, link == 2);
		assert_u_eq(c->packets, k + 1);
		assert_u_eq(c->bytes, k + 2);
		assert_u_eq(c->sent_bytes, k + 4);
		assert_u_eq(c->trimmed, k + 105);
		assert_u_eq(c->marked, k + 6);
		assert_u_eq(c->dropped, k + 230);
		assert_u_eq(c->lost, k + 307);
		assert_u_eq(c->corrupted, k + 8);
		assert_u_eq(c->duplicated, k + 3);
		assert_u_eq(c->reordered, k + 9);
		assert_u_eq(c->queue_bytes, k + 411);
	}
	t.program_error = ENOENT; /* nothing has passed */
	read_all();
	assert_u_eq(t.counters[2].packets, 22);
	others_are_zero(2);
}

/* ---- what fails ---- */

static void cannot_be_read(const char *why)
{
	struct ml_error e;

	assert_i_eq(ml_lab_counters(t.lab, t.counters, &e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(t.open, 0);
}

COUNTERS_TEST(say_why_not)
{
	t.failing = ENTER;
	cannot_be_read("no way");
	t.failing = OPEN;
	cannot_be_read("reading interfaces: Too many open files");
	t.failing = SEND;
	cannot_be_read("reading interfaces: No buffer space available");
	t.failing = RECEIVE;
	cannot_be_read("reading interfaces: Cannot allocate memory");
	t.failing = ANSWER;
	cannot_be_read("reading interfaces: Permission denied");
	t.failing = NOTHING;
	t.lab->swq = (struct mswq *)(void *)&any_socket;
	t.program_error = EBADF;
	cannot_be_read("reading the switch program: no map");
}

/* A cable was plugged meanwhile: what was read is partly of before. */
COUNTERS_TEST(are_read_again_when_links_changed_meanwhile)
{
	t.interrupts = 2;
	link_counts(0, IFF_UP | IFF_RUNNING, true);
	assert_u_eq(t.interrupts, 0);
	assert_u_eq(t.links_asked, t.lab->t.n_nodes + 2);
}
