/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues of ports: src/lab/switch_program.c. What the switch program is told is noted, and fails
 * where it is asked to. On `tiny`, whose links of hosts are those with the numbers 0 to 15.
 */
#include "lab/lab_state.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

static struct {
	struct ml_lab *lab;
	const char *failing;
	struct mswq_port port;
	struct mswq_faults faults;
	uint32_t ports, ifindex, reopened;
	int attached;
	char said[64];
} t;

/* Any address: no program is loaded. */
static char any_program;
#define PROGRAM ((struct mswq *)(void *)&any_program)

static int fails(const char *what, struct mswq_error *error)
{
	if (!t.failing || strcmp(what, t.failing) != 0)
		return 0;
	snprintf(error->text, sizeof(error->text), "no %s", what);
	return EPERM;
}

__typeof__(mswq_load) __wrap_mswq_load;
int __wrap_mswq_load(uint32_t max_ports, struct mswq **out, struct mswq_error *error)
{
	t.ports = max_ports;
	*out = PROGRAM;
	return fails("load", error);
}

__typeof__(mswq_id) __wrap_mswq_id;
uint32_t __wrap_mswq_id(const struct mswq *swq)
{
	assert_ptr_equal(swq, PROGRAM);
	return 77;
}

__typeof__(mswq_reopen) __wrap_mswq_reopen;
int __wrap_mswq_reopen(uint32_t id, struct mswq **out, struct mswq_error *error)
{
	t.reopened = id;
	*out = PROGRAM;
	return fails("reopen", error);
}

__typeof__(mswq_close) __wrap_mswq_close;
void __wrap_mswq_close(struct mswq *swq)
{
	(void)swq;
}

__typeof__(mswq_port_set) __wrap_mswq_port_set;
int __wrap_mswq_port_set(struct mswq *swq, uint32_t ifindex, const struct mswq_port *port,
			 struct mswq_error *error)
{
	assert_ptr_equal(swq, PROGRAM);
	t.ifindex = ifindex;
	t.port = *port;
	return fails("port", error);
}

__typeof__(mswq_attach) __wrap_mswq_attach;
int __wrap_mswq_attach(const struct mswq *swq, int netns, uint32_t ifindex,
		       struct mswq_error *error)
{
	assert_ptr_equal(swq, PROGRAM);
	assert_u_eq(ifindex, t.ifindex);
	t.attached = netns;
	return fails("attach", error);
}

__typeof__(mswq_fault_set) __wrap_mswq_fault_set;
int __wrap_mswq_fault_set(struct mswq *swq, uint32_t ifindex, const struct mswq_faults *faults,
			  struct mswq_error *error)
{
	assert_ptr_equal(swq, PROGRAM);
	t.ifindex = ifindex;
	t.faults = *faults;
	return fails("fault", error);
}

static int open_tiny(void **state)
{
	struct ml_error e;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.attached = -2;
	t.lab = ml_state_create("p", "tiny", NULL, &e);
	assert_non_null(t.lab);
	t.lab->pace_bps = 50000000;
	return 0;
}

static int shut(void **state)
{
	(void)state;
	ml_state_destroy(t.lab);
	return 0;
}

#define PROGRAM_TEST(function, name) TEST_WITH(open_tiny, shut, function, name)

static uint32_t uplink(void)
{
	return mf_link_t0_t1(&t.lab->t, 0, 0, 0, false);
}

static uint32_t of_host(bool to_t0)
{
	return mf_link_host_t0(&t.lab->t, 0, 1, !to_t0);
}

/* ---- loaded, opened ---- */

PROGRAM_TEST(ml_program_load, keeps_the_number_or_the_reason)
{
	strcpy(t.lab->no_program, "before");
	ml_program_load(t.lab);
	assert_u_eq(t.ports, t.lab->t.n_links);
	assert_ptr_equal(t.lab->swq, PROGRAM);
	assert_u_eq(t.lab->program, 77);
	assert_string_equal(t.lab->no_program, "");
	t.failing = "load";
	ml_program_load(t.lab);
	assert_null(t.lab->swq);
	assert_u_eq(t.lab->program, 0);
	assert_string_equal(t.lab->no_program, "no load");
}

PROGRAM_TEST(ml_program_open, finds_the_one_of_the_lab)
{
	struct ml_error e;

	assert_i_eq(ml_program_open(t.lab, &e), 0);
	assert_u_eq(t.reopened, 0); /* it has none */
	t.lab->program = 5;
	assert_i_eq(ml_program_open(t.lab, &e), 0);
	assert_u_eq(t.reopened, 5);
	assert_ptr_equal(t.lab->swq, PROGRAM);
	t.failing = "reopen";
	assert_i_eq(ml_program_open(t.lab, &e), 0); /* it is open */
	t.lab->swq = NULL;
	assert_i_eq(ml_program_open(t.lab, &e), -1);
	assert_null(t.lab->swq);
	assert_string_equal(e.text, "lab p: its switch program: no reopen");
}

/* ---- ports ---- */

static void port_is_set(uint32_t link, int netns)
{
	struct ml_error e;

	memset(&t.port, 0, sizeof(t.port));
	t.attached = -2;
	t.lab->swq = PROGRAM;
	if (ml_program_port(t.lab, link, netns, &e))
		fail_msg("%s", e.text);
	assert_u_eq(t.ifindex, 1000 + link);
}

PROGRAM_TEST(ml_program_port, of_a_switch_has_a_queue_and_its_faults)
{
	struct mswq_port want;

	t.lab->port[uplink()].faults = (struct mswq_faults){.loss_ppm = 5, .slow_bits = 7};
	port_is_set(uplink(), 9);
	mswq_port_default(&want, &t.lab->t.cfg.dscp, ml_link_rate(t.lab, uplink()), 1000000, false);
	assert_u_eq(t.port.rate_bits, 100000000);
	assert_u_eq(t.port.limit_bytes, want.limit_bytes);
	assert_true(t.port.ecn && t.port.repair_udp);
	assert_u_eq(t.port.seed, uplink() + 1);
	assert_u_eq(t.port.control_dscp, want.control_dscp);
	assert_i_eq(t.attached, 9);
	assert_u_eq(t.faults.loss_ppm, 5);
	assert_u_eq(t.faults.slow_bits, 7);
	port_is_set(uplink(), 0);
	assert_i_eq(t.attached, 0);
	port_is_set(of_host(false), 9); /* the last hop */
	assert_false(t.port.ecn);
	assert_u_eq(t.port.rate_bits, 100000000);
}

/* What waits there waits in the host, and HTB slows it. */
PROGRAM_TEST(ml_program_port, of_a_host_has_faults_alone)
{
	uint32_t link = of_host(true);

	t.lab->port[link].faults = (struct mswq_faults){.loss_ppm = 5, .slow_bits = 7};
	port_is_set(link, 9);
	assert_u_eq(t.port.rate_bits, 0);
	assert_i_eq(t.attached, 9);
	assert_u_eq(t.faults.loss_ppm, 5);
	assert_u_eq(t.faults.slow_bits, 0);
}

PROGRAM_TEST(ml_program_port, without_a_namespace_has_new_faults_alone)
{
	t.lab->port[uplink()].faults.blackhole = true;
	port_is_set(uplink(), -1);
	assert_i_eq(t.attached, -2);
	assert_u_eq(t.port.seed, 0);
	assert_true(t.faults.blackhole);
}

PROGRAM_TEST(ml_program_port, says_which_cable_it_is_about)
{
	static const char *const steps[] = {"port", "attach", "fault"};
	struct ml_error e;
	char want[64];

	t.lab->swq = PROGRAM;
	for (size_t i = 0; i < 3; i++) {
		t.failing = steps[i];
		assert_i_eq(ml_program_port(t.lab, uplink(), 9, &e), -1);
		snprintf(want, sizeof(want), "plane0.t0-0.t1-0: no %s", steps[i]);
		assert_string_equal(e.text, want);
	}
	t.failing = "port"; /* which leaves out the rest */
	t.attached = -2;
	assert_i_eq(ml_program_port(t.lab, uplink(), 9, &e), -1);
	assert_i_eq(t.attached, -2);
}

/* ---- HTB, the longest queue ---- */

PROGRAM_TEST(ml_link_rate, is_twice_the_pace_of_a_hosts_port)
{
	assert_u_eq(ml_link_rate(t.lab, of_host(true)), 100000000);
	t.lab->t.cfg.links[MF_T0_T1].bit_s *= 2;
	assert_u_eq(ml_link_rate(t.lab, of_host(true)), 100000000);
	assert_u_eq(ml_link_rate(t.lab, uplink()), 200000000);
}

static void htb_is(uint32_t link, bool build, uint32_t limit_bytes)
{
	char text[2048], want[2048];
	struct mswq_port queue;
	const struct mf_topology *topology = &t.lab->t;
	bool last_hop = link == of_host(false);

	mswq_port_default(&queue, &topology->cfg.dscp, ml_link_rate(t.lab, link), 1000000,
			  last_hop);
	queue.seed = link + 1;
	queue.repair_udp = true;
	if (limit_bytes)
		queue.limit_bytes = limit_bytes;
	if (build)
		mswq_htb_lines(want, sizeof(want), "x0", topology->cfg.mtu, &queue,
			       &t.lab->port[link].faults);
	else
		mswq_htb_change_lines(want, sizeof(want), "x0", topology->cfg.mtu, &queue,
				      &t.lab->port[link].faults);
	memset(text, 'x', sizeof(text));
	ml_program_htb(t.lab, link, "x0", build, text, sizeof(text));
	assert_string_equal(text, want);
	assert_non_null(strstr(text, "x0"));
}

PROGRAM_TEST(ml_program_htb, shapes_a_port_or_changes_its_rate)
{
	char text[64] = "before";

	t.lab->port[uplink()].faults.slow_bits = 3000000;
	htb_is(uplink(), true, 0);
	htb_is(uplink(), false, 0);
	htb_is(of_host(false), true, 0);
	htb_is(of_host(true), true, 4u << 20);
	htb_is(of_host(true), false, 4u << 20);
	t.lab->pace_bps = 0;
	ml_program_htb(t.lab, uplink(), "x0", true, text, sizeof(text));
	assert_string_equal(text, "");
}

/* That in front of a host, which is the longest at the same rate, unless another is much slower. */
PROGRAM_TEST(ml_program_queue_ns, is_the_slowest_of_all_switches)
{
	struct mswq_port port;

	mswq_port_default(&port, &t.lab->t.cfg.dscp, 100000000, 1000000, true);
	assert_u_eq(ml_program_queue_ns(t.lab),
		    UINT64_C(8000000000) * port.limit_bytes / 100000000);
	t.lab->t.cfg.links[MF_T0_T1].bit_s /= 100;
	mswq_port_default(&port, &t.lab->t.cfg.dscp, 1000000, 1000000, false);
	assert_u_eq(ml_program_queue_ns(t.lab), UINT64_C(8000) * port.limit_bytes);
	t.lab->pace_bps = 0;
	assert_u_eq(ml_program_queue_ns(t.lab), 0);
}
