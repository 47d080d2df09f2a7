/* SPDX-License-Identifier: BSD-2-Clause */
/* sim_net_fixture.c - see sim_net_fixture.h. */
#include "sim_net_fixture.h"

static void arm(struct fixture *b, struct ms_worker *worker, uint32_t host)
{
	uint32_t i = b->next[host];

	if (i < b->n_send && b->send[i].p.src == host)
		ms_wake_at(worker, b->send[i].t_ps);
}

static void wake(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps)
{
	struct fixture *b = ctx;

	b->wakes++;
	b->last_wake_ps = now_ps;
	for (; b->next[host] < b->n_send; b->next[host]++) {
		const struct fixture_send *s = &b->send[b->next[host]];

		if (s->p.src != host || s->t_ps > now_ps)
			break;
		ms_send(worker, &s->p);
	}
	b->free_ps = ms_port_idle_ps(worker, 0);
	arm(b, worker, host);
}

static void receive(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		    const struct ms_packet *p)
{
	struct fixture *b = ctx;

	(void)worker;
	assert_u_eq(host, p->dst);
	if (b->n_got < FIXTURE_GOT_MAX)
		b->got[b->n_got] = (struct fixture_got){now_ps, *p};
	b->n_got++;
}

static void carrier(void *ctx, struct ms_worker *worker, uint32_t host, uint64_t now_ps,
		    uint32_t plane, bool up)
{
	struct fixture *b = ctx;

	(void)worker;
	(void)host;
	(void)plane;
	b->carriers++;
	b->last_carrier_ps = now_ps;
	b->last_up = up;
}

static void tap(void *ctx, struct ms_worker *worker, uint32_t link, uint64_t now_ps,
		const struct ms_packet *p)
{
	struct fixture *b = ctx;

	(void)worker;
	(void)link;
	(void)now_ps;
	(void)p;
	b->taps++;
}

static bool edge(void *ctx, uint64_t now_ps)
{
	struct fixture *b = ctx;

	b->last_edge_ps = now_ps;
	return ++b->edges != b->stop_at_edge;
}

void fixture_init(struct fixture *b, uint32_t hosts)
{
	struct mf_topology_cfg cfg = {
		.dscp = mw_dscp_map_default(),
		.name = "fixture",
		.planes = 1,
		.tiers = 2,
		.pods = 1,
		.hosts_per_t0 = hosts,
		.t0s = 2,
		.t1s = 2,
		.rails = 1,
		.links = {{100000000000, 500}, {100000000000, 500}, {100000000000, 500}},
		.switch_ns = 300,
		.mtu = 4262,
		.usid = {.block = 0xfcbbbb00, .planes = MF_PLANE_IN_USID},
		.address_block = 0xfd6d7263,
	};
	struct mf_error error = {"", "", ""};

	memset(b, 0, sizeof(*b));
	if (!mf_topology_init(&b->cfg.topology, &cfg, &error))
		fail_msg("%s = %s: %s", error.field, error.value, error.what);
	b->cfg.trim_to_bytes = 100;
	b->cfg.threads = 1;
	b->cfg.hosts = (struct ms_hosts){.ctx = b,
					 .receive = receive,
					 .wake = wake,
					 .carrier = carrier,
					 .tap = tap,
					 .edge = edge};
	b->send = calloc(FIXTURE_GOT_MAX, sizeof(*b->send));
	b->got = calloc(FIXTURE_GOT_MAX, sizeof(*b->got));
	b->next = calloc(b->cfg.topology.n_hosts, sizeof(*b->next));
	assert_true(b->send && b->got && b->next);
}

void fixture_send(struct fixture *b, uint64_t t_ps, uint32_t src, uint32_t dst,
		  enum mw_dscp_class cls, uint16_t bytes)
{
	struct fixture_send *s = &b->send[b->n_send];

	assert_true(b->n_send < FIXTURE_GOT_MAX);
	s->t_ps = t_ps;
	s->p.src = src & (MS_HOSTS_MAX - 1);
	s->p.dst = dst & (MS_HOSTS_MAX - 1);
	s->p.cls = cls & 7u;
	s->p.bytes = bytes;
	s->p.body[0] = b->n_send++;
}

static int by_host_and_time(const void *a, const void *b)
{
	const struct fixture_send *x = a, *y = b;

	if (x->p.src != y->p.src)
		return x->p.src < y->p.src ? -1 : 1;
	if (x->t_ps != y->t_ps)
		return x->t_ps < y->t_ps ? -1 : 1;
	return x->p.body[0] < y->p.body[0] ? -1 : 1;
}

void fixture_open(struct fixture *b)
{
	char why[MS_WHY_BYTES] = "";

	qsort(b->send, b->n_send, sizeof(*b->send), by_host_and_time);
	b->net = ms_net_create(&b->cfg, why);
	if (!b->net)
		fail_msg("%s", why);
	for (uint32_t i = b->n_send; i-- > 0;)
		b->next[b->send[i].p.src] = i;
	for (uint32_t i = 0; i < b->n_send; i++)
		if (b->next[b->send[i].p.src] == i)
			ms_net_wake(b->net, b->send[i].p.src, b->send[i].t_ps);
}

struct ms_counters fixture_run(struct fixture *b)
{
	struct ms_counters c;

	assert_u_eq(ms_net_run(b->net, MS_NEVER), MS_END_IDLE);
	assert_true(ms_net_counters(b->net, true, &c));
	assert_true(ms_counters_are_conserved(&c));
	assert_u_eq(c.delivered, b->n_got);
	return c;
}

void fixture_close(struct fixture *b)
{
	ms_net_destroy(b->net);
	free(b->send);
	free(b->got);
	free(b->next);
}
