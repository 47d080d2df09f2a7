/* SPDX-License-Identifier: BSD-2-Clause */
/* case.c - see case.h. */
#include "case.h"

#include <stdio.h>

/* A world that has done its work rests for this long before it is judged. */
#define REST_NS (5 * SIM_MS)
#define DONE_NS (20 * SIM_S)

struct sim_world_cfg case_cfg(uint32_t n_planes, uint32_t n_paths)
{
	struct sim_world_cfg cfg;

	sim_world_cfg_default(&cfg);
	cfg.net.n_planes = n_planes;
	cfg.net.n_paths = n_paths;
	cfg.evs = cfg.active = n_paths;
	return cfg;
}

/* A case that failed leaves its world behind; whoever comes next puts it away. */
static struct sim_world *left;

__attribute__((destructor)) static void put_away(void)
{
	if (!left)
		return;
	sim_world_close(left);
	free(left);
	left = NULL;
}

struct sim_world *case_open(const struct sim_world_cfg *cfg)
{
	struct sim_world_cfg def = case_cfg(2, 4);
	struct sim_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_away();
	left = w;
	sim_world_open(w, cfg ? cfg : &def);
	return w;
}

void case_close(struct sim_world *w)
{
	char why[sizeof(w->check.why)];
	bool failed = w->check.failed;

	if (failed)
		sim_explain(w);
	memcpy(why, w->check.why, sizeof(why));
	put_away();
	if (failed)
		fail_msg("%s", why);
}

void case_done(struct sim_world *w)
{
	sim_run_done(w, DONE_NS);
	sim_check_quiet(w, REST_NS);
	if (!w->check.failed)
		sim_check_stats(w);
	case_close(w);
}

void case_check_eq(struct sim_world *w, uint64_t got, uint64_t want, const char *what,
		   const char *file, int line)
{
	if (got == want && !w->check.failed)
		return;
	sim_explain(w);
	test_check_u(got, want, what, file, line);
	_fail(file, line);
}

void case_check_between(struct sim_world *w, uint64_t got, uint64_t low, uint64_t high,
			const char *what, const char *file, int line)
{
	if (got >= low && got <= high && !w->check.failed)
		return;
	sim_explain(w);
	test_check_between(got, low, high, what, file, line);
	_fail(file, line);
}

/* ---- the log ---- */

bool case_is_data(const struct net_seen *s)
{
	return mw_opcode_info(s->pkt.bth.opcode)->flags & MW_OP_DATA;
}

static bool matches(const struct net_seen *s, uint32_t src, uint8_t opcode)
{
	return s->src == src && (opcode ? s->pkt.bth.opcode == opcode : case_is_data(s));
}

uint64_t case_count(struct sim_world *w, uint32_t src, uint8_t opcode)
{
	const struct net_seen *s;
	uint64_t n = 0;

	for (CASE_EACH(w, s))
		n += matches(s, src, opcode);
	return n;
}

uint64_t case_data_of_plane(struct sim_world *w, uint32_t src, uint32_t plane, uint64_t since_ns)
{
	const struct net_seen *s;
	uint64_t n = 0;

	for (CASE_EACH(w, s))
		n += case_is_data(s) && s->src == src && s->port == plane && s->at_ns >= since_ns;
	return n;
}

uint64_t case_resent(struct sim_world *w, uint32_t src)
{
	return w->nodes[src].traffic.sent_again;
}

const struct net_seen *case_nth(struct sim_world *w, uint32_t src, uint8_t opcode, uint64_t n)
{
	const struct net_seen *s;

	for (CASE_EACH(w, s))
		if (matches(s, src, opcode) && n-- == 0)
			return s;
	sim_explain(w);
	fail_msg("node %u sent fewer packets 0x%02x than that", src, opcode);
	return NULL;
}

struct mt_stats case_stats(struct sim_world *w, uint32_t node)
{
	struct mt_stats st;

	mt_engine_stats(w->nodes[node].engine, &st);
	return st;
}

unsigned case_changed(const struct mt_stats *before, const struct mt_stats *after)
{
	unsigned n = 0;

#define DIFFERS(name, text) n += before->name != after->name;
	MT_STATS(DIFFERS)
#undef DIFFERS
	return n;
}

struct mt_qp_info case_info(const struct sim_qp *qp)
{
	struct mt_qp_info info;

	mt_qp_info(qp->qp, &info);
	return info;
}

/* ---- load ---- */

void case_post(struct sim_qp *qp, uint32_t n, uint32_t len, uint32_t flags)
{
	for (uint32_t i = 0; i < n; i++)
		sim_post(qp, len, flags);
}

void case_send(struct sim_qp *qp, uint32_t n, uint32_t len, uint32_t flags)
{
	for (uint32_t i = 0; i < n; i++)
		sim_send(qp, len, flags);
}

void case_recvs(struct sim_qp *qp, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_i_eq(sim_post_recv(qp), MT_OK);
}

/* At most one QP of a world at a time. */
static struct {
	struct sim_qp *qp;
	uint32_t len;
	uint64_t until_ns;
} busy;

static void post_more(void *ctx, struct sim_node *node)
{
	struct sim_wr wr = {.len = busy.len};
	int result;

	(void)ctx;
	if (node != busy.qp->node)
		return;
	while (node->w->net.now_ns < busy.until_ns && sim_post_wr(busy.qp, &wr, &result))
		;
}

void case_keep_busy(struct sim_qp *qp, uint32_t len, uint64_t until_ns)
{
	busy.qp = qp;
	busy.len = len;
	busy.until_ns = until_ns;
	qp->node->w->app = post_more;
	sim_node_run(qp->node);
}

void case_pace(struct sim_world *w, uint32_t node, uint64_t port_bps)
{
	for (uint32_t port = 0; port < w->cfg.net.n_planes; port++)
		w->net.egress[node][port].bps = port_bps;
	w->nodes[node].tx_batch = 1;
}

/* ---- faults ---- */

bool case_hold_first_message(void *ctx, struct net_packet *p)
{
	(void)ctx;
	if (p->data && p->pkt.data.meth.msn == 0)
		p->extra_ns = 50 * SIM_US;
	return true;
}

void case_kill(struct sim_world *w, uint32_t src, uint32_t dst, uint32_t plane, uint32_t path,
	       bool dead)
{
	for (uint32_t k = 0; k < w->cfg.net.n_paths; k++)
		if (path == NET_NO_NODE || k == path)
			engine_net_path(&w->net, src, dst, plane, k)->dead = dead;
}

void case_kill_both(struct sim_world *w, uint32_t plane, uint32_t path, bool dead)
{
	case_kill(w, 0, 1, plane, path, dead);
	case_kill(w, 1, 0, plane, path, dead);
}

void case_silence(struct sim_world *w, bool dead)
{
	for (uint32_t plane = 0; plane < w->cfg.net.n_planes; plane++)
		case_kill_both(w, plane, NET_NO_NODE, dead);
}

/* ---- packets made by hand ---- */

struct mt_rx_meta case_meta(struct sim_world *w, uint32_t src)
{
	return (struct mt_rx_meta){
		.src = w->nodes[src].addr, .ev = w->cfg.net.ev_base, .icrc_ok = true};
}

struct mw_packet case_data(const struct sim_qp *from, uint64_t ahead, uint32_t len)
{
	struct mw_packet p = {.payload_len = len};

	p.bth = (struct mw_bth){.opcode = MW_WRITE_ONLY,
				.pad = (uint8_t)(-len & 3),
				.p_key = from->cfg.attr.p_key,
				.dqp = from->peer->qpn,
				.psn = (uint32_t)(from->cfg.attr.sq_psn + ahead) & 0xFFFFFF};
	p.data.meth.msn = (uint16_t)ahead;
	p.data.reth = (struct mw_reth){
		.va = from->peer->mr->start, .rkey = from->peer->mr->key, .dmalen = len};
	return p;
}

void case_give(struct sim_world *w, uint32_t node, const struct mt_rx_meta *meta,
	       const struct mw_packet *pkt)
{
	uint8_t bytes[MW_HEADERS_MAX + 8192] = {0};
	size_t len = mw_packet_encode(pkt, bytes);

	assert_true(pkt->payload_len <= 8192 - 3);
	sim_node_give(&w->nodes[node], meta, bytes, len + pkt->payload_len + pkt->bth.pad);
}
