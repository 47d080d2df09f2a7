/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_nic.c - the engine of MRC on a NIC of your own: two of them, joined by a wire that loses
 * packets, in virtual time. One writes 4 MiB into the memory of the other.
 *
 *	own_nic [LOSS_PERCENT [SEED]]
 */
#include <mrc/engine.h>
#include <mrc/wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4 << 20, MTU = 4096, PORTS = 2, EVS = 16, FRAMES = 1024, QPN = 64, POOL = 1 << 20 };
enum { KEY = 1 << 8 /* of the memory region: its index << 8 | its tag */, LATENCY_NS = 5000 };
#define GIVE_UP_NS UINT64_C(10000000000)

static struct nic {
	struct mt_engine *engine;
	struct mt_qp *qp;
	uint8_t *memory;
} nics[2];

static struct frame {
	uint64_t arrives_ns;
	int to; /* which NIC */
	uint32_t ev;
	uint8_t port;
	size_t len;
	uint8_t bytes[MW_HEADERS_MAX + MTU];
} wire[FRAMES]; /* in the order of arrival, the latency being one */

static uint64_t wire_head, wire_tail, now_ns;
static unsigned long sent, lost;
static unsigned loss_percent = 1;

static void check(int result, const char *what)
{
	if (result != MT_OK) {
		fprintf(stderr, "own_nic: %s failed: %d\n", what, result);
		exit(1);
	}
}

static void *allocate(size_t size)
{
	void *memory = aligned_alloc(64, (size + 63) & ~(size_t)63);

	check(memory ? MT_OK : MT_ERR_MEMORY, "aligned_alloc");
	return memory;
}

/* Stores what was received; the engine has checked bounds and rights. */
static bool place(void *ctx, void *mr_user, uint64_t offset, const void *src, uint32_t len)
{
	(void)ctx;
	memcpy((uint8_t *)mr_user + offset, src, len);
	return true;
}

static void send_all(struct nic *n)
{
	struct mt_tx_desc d;

	while (mt_engine_tx(n->engine, now_ns, (1u << PORTS) - 1, &d, 1) == 1) {
		struct frame *f = &wire[wire_tail % FRAMES];

		sent++;
		if ((unsigned)rand() % 100 < loss_percent || wire_tail - wire_head == FRAMES) {
			lost++;
			continue;
		}
		/* A real NIC writes the EV into UDP source port and flow label: mw_ev_encode. */
		f->arrives_ns = now_ns + LATENCY_NS;
		f->to = n == &nics[0];
		f->ev = d.ev;
		f->port = d.port;
		f->len = mw_packet_encode(&d.pkt, f->bytes);
		if (d.pkt.payload_len > 0)
			memcpy(f->bytes + f->len, (uint8_t *)(uintptr_t)d.sge->addr + d.offset,
			       d.pkt.payload_len);
		f->len += d.pkt.payload_len; /* pad and ICRC follow on a real wire: mw_icrc_start */
		wire_tail++;
	}
}

static void receive_all(void)
{
	for (; wire_head != wire_tail; wire_head++) {
		const struct frame *f = &wire[wire_head % FRAMES];
		struct mt_rx_meta meta = {.ev = f->ev, .port = f->port, .icrc_ok = true};

		if (f->arrives_ns > now_ns)
			return;
		meta.src.b[15] = (uint8_t)(1 - f->to);
		mt_engine_rx_bytes(nics[f->to].engine, now_ns, &meta, f->bytes, f->len);
	}
}

static void open_nic(struct nic *n, int peer, uint64_t seed)
{
	const struct mt_env env = {.place = place};
	const struct mt_cc_profile_cfg no_cc = {.kind = MT_CC_NONE};
	const struct mt_qp_cap cap = {.sq_depth = 16, .max_sge = 1, .signal_all = true};
	const uint32_t access = RD_ACCESS_LOCAL_WRITE | RD_ACCESS_REMOTE_WRITE;
	uint32_t mask = RD_QP_STATE | RD_QP_MPR | RD_QP_MPR_DEST | RD_QP_PATH_MTU | RD_QP_DEST;
	struct mt_ev evs[EVS];
	struct mt_ev_profile_cfg profile = {.evs = evs, .n_evs = EVS, .n_active = EVS};
	struct mt_engine_cfg cfg;
	struct rd_qp_attr a;

	mt_engine_cfg_default(&cfg, PORTS);
	cfg.seed = seed;
	n->engine = mt_engine_init(allocate(mt_engine_size(&cfg)), &cfg, &env, 0);
	/* The engine allocates nothing. When this is used up, mt_engine_memory_wanted says so. */
	mt_engine_add_memory(n->engine, allocate(POOL), POOL);
	for (uint32_t i = 0; i < EVS; i++)
		evs[i] = (struct mt_ev){.value = 49152 + i / PORTS, .port = (uint8_t)(i % PORTS)};
	profile.min_active = profile.revive_probes = 4;
	profile.probe_interval_ns = profile.probe_interval_max_ns = 50000;
	check(mt_ev_profile_set(n->engine, 0, &profile), "mt_ev_profile_set");
	check(mt_cc_profile_set(n->engine, 0, &no_cc), "mt_cc_profile_set");
	n->memory = allocate(BYTES);
	check(mt_mr_add(n->engine, 1 << 8, 0, (uintptr_t)n->memory, BYTES, access, n->memory),
	      "mt_mr_add");
	check(mt_qp_init(n->engine, allocate(mt_qp_size(&cap)), &cap, QPN, n, &n->qp),
	      "mt_qp_init");
	mt_qp_attr_default(&a);
	a.mpr = a.mpr_dest = 1; /* 128 packets in flight */
	a.path_mtu = MTU;
	a.dest.b[15] = (uint8_t)peer;
	a.dest_qpn = QPN;
	for (a.state = RD_QPS_INIT; a.state <= RD_QPS_RTS; a.state++, mask = RD_QP_STATE)
		check(mt_qp_modify(n->qp, 0, &a, mask), "mt_qp_modify");
}

/* Takes events; true: the WRITE is complete. */
static bool poll_events(struct nic *n)
{
	struct mt_event event;
	bool done = false;

	while (mt_engine_poll(n->engine, &event, 1) == 1) {
		check(event.type == MT_EVENT_QP ? event.status : MT_OK, "the connection");
		if (event.type == MT_EVENT_EV)
			printf("%9.3f us: EV %u of port %u is %s\n", (double)now_ns / 1e3,
			       event.ev.value, event.ev.port, mt_ev_state_name(event.ev_state));
		done |= event.type == MT_EVENT_SEND && event.status == RD_WC_SUCCESS;
	}
	return done;
}

/* Moves the time to when a frame arrives, or a timer is due. */
static void pass_time(void)
{
	uint64_t next = wire_head == wire_tail ? UINT64_MAX : wire[wire_head % FRAMES].arrives_ns;

	for (int i = 0; i < 2; i++)
		if (mt_engine_deadline(nics[i].engine) < next)
			next = mt_engine_deadline(nics[i].engine);
	check(next < GIVE_UP_NS ? MT_OK : MT_ERR_STATE, "the WRITE within ten seconds");
	now_ns = next > now_ns ? next : now_ns;
}

int main(int argc, char **argv)
{
	struct rd_send_wr wr = {.n_sge = 1, .opcode = RD_WR_WRITE, .rkey = KEY};
	struct rd_sge sge = {.length = BYTES, .lkey = KEY};
	struct mt_stats stats;

	loss_percent = argc > 1 ? (unsigned)atoi(argv[1]) : loss_percent;
	srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
	open_nic(&nics[0], 1, (uint64_t)rand());
	open_nic(&nics[1], 0, (uint64_t)rand());
	for (uint32_t i = 0; i < BYTES; i++)
		nics[0].memory[i] = (uint8_t)rand();
	sge.addr = (uintptr_t)nics[0].memory;
	wr.remote_addr = (uintptr_t)nics[1].memory;
	wr.sge = &sge;
	check(mt_qp_post_send(nics[0].qp, now_ns, &wr), "mt_qp_post_send");
	while (!poll_events(&nics[0])) {
		send_all(&nics[0]);
		send_all(&nics[1]);
		pass_time();
		receive_all();
		mt_engine_tick(nics[0].engine, now_ns);
		mt_engine_tick(nics[1].engine, now_ns);
	}
	check(memcmp(nics[0].memory, nics[1].memory, BYTES), "comparing what arrived");
	mt_engine_stats(nics[0].engine, &stats);
	printf("WRITE of %d bytes complete after %.3f us: %lu packets sent, %lu of them lost, ",
	       BYTES, (double)now_ns / 1e3, sent, lost);
	printf("%llu sent again\n", (unsigned long long)stats.tx_retransmits);
	return 0;
}
