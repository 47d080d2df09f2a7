/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is the network around the prober of a host: a byte that says how it is set
 * up, then for each step how many things happen, and what. Every probe comes back unless one of
 * them is that it is lost, damaged or doubled; others are what anybody can send: answers that are
 * made up, questions, strays, words of switches about hop limits, bytes.
 *
 * What the prober counts is what happened to its own probes, whatever else came; a map that is fed
 * with it names nobody where nothing happened. Whoever asks is answered with as many bytes as he
 * sent, at a host of the fabric, and all together at no more than the prober's own rate.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "fabric/topology_toml.h"
#include "prober/probe_host.h"
#include "support/fuzz_input.h"
#include "support/wrapped_sockets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 60u
#define SENT_MAX 1024u
#define ARRIVALS_MAX 3000u /* fewer than a prober takes in at once */
#define RAW_MAX 200u
#define HOST 1u
#define IFINDEX 7u
#define SICK_MAX 8u
#define ALL_SILENT 255u
/* Questions whether a neighbour lives are asked three times, once a second. */
#define LONG_STEPS 420u
#define ANSWER_STEPS 10u
#define SAVED_STEPS 50u
#define MS_NS UINT64_C(1000000)

struct flight {
	struct probe_packet packet;
	bool lost, doubled;
	bool ends_train; /* to a neighbour */
};

struct world {
	struct fuzz_input in;
	struct mf_topology t;
	struct probe_host *host;
	struct mm_map *map;
	uint64_t now_ns, random, rate_bit_s, steps;
	struct flight sent[SENT_MAX]; /* in the step before */
	uint32_t n_sent;
	struct probe_packet arrival[ARRIVALS_MAX], stray;
	uint32_t n_arrivals, arrival_at, full, silent;
	bool has_stray, stray_is_true;
	uint32_t strays, loops; /* that the prober is to tell of, less those it has */
	bool was_full, takes_trains;
	uint64_t long_ones;
	uint64_t trains, trains_known; /* to neighbours: that came back whole, that were counted */
	uint64_t lost, damaged, doubled; /* what happened */
	struct mm_counts sum;		 /* what was counted */
	uint64_t plain_lost, answered_bytes;
	uint32_t ifindex[MF_PLANES_MAX];
	uint16_t udp_port[64];
};

static struct world w;

/* ---- in the place of sockets and chance ---- */

ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags);

ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags)
{
	uint8_t *bytes = to;

	(void)flags;
	for (size_t i = 0; i < size; i++) {
		w.random = w.random * UINT64_C(6364136223846793005) + 1442695040888963407;
		bytes[i] = (uint8_t)(w.random >> 56);
	}
	return (ssize_t)size;
}

int __wrap_stray_socket_open(uint16_t own_usid)
{
	(void)own_usid;
	return dup(0);
}

static void see_answer(uint16_t to_port, const struct probe_packet *p)
{
	mb_assert(!p->asks && p->from < w.t.n_hosts && p->asked == HOST);
	mb_assert(to_port == w.udp_port[p->from]);
	mb_assert(p->bytes >= PROBE_BYTES_MIN && p->bytes <= PROBE_BYTES_MAX);
	w.answered_bytes += p->bytes + PROBE_HEADER_BYTES;
}

int __wrap_probe_socket_send(int fd, const uint8_t to[16], uint16_t to_port, uint32_t by_port,
			     uint32_t hops, const struct probe_packet *packet)
{
	(void)fd;
	(void)hops;
	mb_assert(to[0] || to[1]);
	mb_assert(by_port == 0 || (by_port >= IFINDEX && by_port < IFINDEX + w.t.cfg.planes));
	if (packet->from != HOST) {
		see_answer(to_port, packet);
		return 0;
	}
	if (w.full) {
		w.full--;
		w.was_full = true;
		return -1;
	}
	mb_assert(w.n_sent < SENT_MAX);
	w.sent[w.n_sent++] = (struct flight){.packet = *packet};
	return 0;
}

int __wrap_probe_socket_receive(int fd, struct probe_packet *packet)
{
	(void)fd;
	if (w.arrival_at == w.n_arrivals)
		return 0;
	*packet = w.arrival[w.arrival_at++];
	return packet->bytes ? 1 : -1;
}

int __wrap_stray_socket_receive(int fd, struct probe_packet *packet)
{
	(void)fd;
	if (!w.has_stray)
		return 0;
	w.has_stray = false;
	*packet = w.stray;
	return 1;
}

/* ---- what the prober counts ---- */

static void take_route(void *ctx, const struct mm_route_of *of, uint32_t *memo,
		       const struct mm_counts *counts)
{
	(void)ctx;
	mb_assert(of->witness == HOST && of->links > 0 && of->links <= MM_ROUTE_LINKS);
	/* A train to a neighbour tells of the way there alone. */
	mb_assert(of->peer == MM_NO_HOST || (of->links == 2) == (counts->known[MM_SLOWED] > 0));
	for (unsigned i = 0; i < MM_SYMPTOMS; i++) {
		mb_assert(counts->bad[i] <= counts->known[i]);
		w.sum.bad[i] += counts->bad[i];
	}
	w.trains_known += of->peer != MM_NO_HOST ? counts->known[MM_SLOWED] : 0;
	if (*memo == MM_NO_ROUTE)
		*memo = mm_map_route(w.map, of, w.now_ns);
	mb_assert(mm_map_add(w.map, *memo, HOST, counts, w.now_ns));
}

static void take_plain(void *ctx, uint32_t host, uint32_t plane, uint32_t sent, uint32_t lost)
{
	(void)ctx;
	mb_assert(host == HOST && plane < w.t.cfg.planes && lost <= sent);
	w.plain_lost += lost;
	mb_assert(mm_map_plain(w.map, host, plane, sent, lost, w.now_ns));
}

static void take_stray(void *ctx, uint32_t host, uint32_t plane, const struct probe_packet *packet)
{
	(void)ctx;
	mb_assert(host == HOST && plane < w.t.cfg.planes);
	/* One that is true is a packet of the host's own, which did not end elsewhere. */
	mb_assert(w.stray_is_true || !probe_host_has(w.host, packet));
	w.strays--;
}

static void take_loop(void *ctx, uint32_t host, uint32_t plane, uint32_t to)
{
	(void)ctx;
	mb_assert(w.stray_is_true);
	mb_assert(host == HOST && plane < w.t.cfg.planes && to < w.t.n_hosts);
	w.loops--;
}

static void take_asked(void *ctx, uint32_t host, const struct probe_packet *packet)
{
	(void)ctx;
	mb_assert(host == HOST && packet->asks && packet->from < w.t.n_hosts);
	mm_map_asked(w.map, host, packet->from, w.now_ns);
}

/* ---- what happens ---- */

static void arrive(const struct probe_packet *packet)
{
	if (w.n_arrivals < ARRIVALS_MAX)
		w.arrival[w.n_arrivals++] = *packet;
}

/* A packet that is like one of the prober's in what the input does not change. */
static struct probe_packet make_up(void)
{
	uint8_t like = fuzz_u8(&w.in), how = fuzz_u8(&w.in);
	struct probe_packet p = {.from = HOST, .bytes = PROBE_BYTES_MIN, .port = IFINDEX};

	if (w.n_sent)
		p = w.sent[like % w.n_sent].packet;
	p.port = IFINDEX + p.plane;
	p.asks = false;
	p.nonce ^= UINT64_C(1) << (how & 63);
	if (how & 0x40)
		p.stream = fuzz_u8(&w.in);
	if (how & 0x80) {
		p.seq = fuzz_u32(&w.in);
		p.from = fuzz_u8(&w.in);
		p.nonce = fuzz_u32(&w.in);
		p.whole = p.nonce & 1;
	}
	return p;
}

static struct probe_packet make_question(void)
{
	struct probe_packet p = make_up();
	uint8_t how = fuzz_u8(&w.in);

	p.asks = true;
	p.from = how & 1 ? fuzz_u8(&w.in) : 0;
	p.asked = how & 2 ? fuzz_u32(&w.in) : HOST;
	p.plane = how & 4 ? fuzz_u8(&w.in) : 0;
	p.plain = how & 8;
	p.bytes = how & 16 ? PROBE_BYTES_MIN + fuzz_u16(&w.in) : PROBE_BYTES_MIN;
	if (p.bytes > PROBE_BYTES_MAX)
		p.bytes = PROBE_BYTES_MAX;
	return p;
}

static void make_stray(void)
{
	uint8_t how = fuzz_u8(&w.in);

	w.has_stray = true;
	w.stray_is_true = (how & 1) && w.n_sent;
	w.stray = w.stray_is_true ? w.sent[how % w.n_sent].packet : make_up();
	w.stray.looped = how & 2;
	w.stray.asks = w.stray.looped;
	w.stray.asked = how & 4 ? fuzz_u32(&w.in) : w.stray.asked;
	w.stray.port = how & 8 ? fuzz_u8(&w.in) : IFINDEX;
	w.strays = w.loops = 0;
	if (w.stray.port < IFINDEX || w.stray.port >= IFINDEX + w.t.cfg.planes)
		return;
	w.strays = !w.stray.looped;
	w.loops = w.stray.looped && w.stray_is_true && w.stray.plain && w.stray.asked < w.t.n_hosts;
}

static void make_raw(void)
{
	uint8_t bytes[RAW_MAX] = {0};
	struct probe_packet p = {.port = IFINDEX};
	size_t n = fuzz_take(&w.in, bytes + 4, fuzz_u8(&w.in) % (RAW_MAX - 4));

	mb_store_be32(bytes, PROBE_MAGIC);
	if (!probe_packet_read(bytes, n + 4, &p))
		p.bytes = 0;
	arrive(&p);
}

enum event {
	LOSE,
	DAMAGE,
	DOUBLE,
	MADE_UP,
	QUESTION,
	STRAY,
	RAW,
	WRONG_PORT,
	REPEAT,
	FULL,
	SILENCE, /* of a neighbour, or all */
	EVENTS
};

static void happen(void)
{
	unsigned event = fuzz_u8(&w.in) % EVENTS;
	struct flight *f = w.n_sent ? &w.sent[fuzz_u8(&w.in) % w.n_sent] : NULL;
	struct probe_packet p;

	if (event == MADE_UP || event == QUESTION) {
		p = event == QUESTION ? make_question() : make_up();
		arrive(&p);
	} else if (event == STRAY) {
		make_stray();
	} else if (event == RAW) {
		make_raw();
	} else if (event == REPEAT) {
		for (uint32_t n = fuzz_u8(&w.in), i = 0; w.n_arrivals && i < n; i++)
			arrive(&w.arrival[w.n_arrivals - 1]);
	} else if (event == FULL) {
		w.full = fuzz_u8(&w.in);
	} else if (event == SILENCE) {
		w.silent = fuzz_u8(&w.in);
	} else if (f && event == WRONG_PORT) {
		p = f->packet;
		p.asks = false;
		p.port = IFINDEX + p.plane + 1;
		arrive(&p);
	} else if (f && event == LOSE) {
		f->lost = true;
	} else if (f && event == DAMAGE) {
		f->packet.whole = false;
	} else if (f) {
		f->doubled = true;
	}
}

static bool is_silent(uint32_t host)
{
	return w.silent == ALL_SILENT || (w.silent && w.silent == host + 1);
}

static bool came_once(const struct flight *f)
{
	return !f->lost && !f->doubled;
}

/* What was sent comes back by the port that it has to. */
static void bring_back(void)
{
	for (uint32_t i = 0; i < w.n_sent; i++) {
		struct flight *f = &w.sent[i];

		f->lost = f->lost ||
			  (f->packet.asks && !f->packet.plain && is_silent(f->packet.asked));
		w.lost += f->lost;
		if (f->lost)
			continue;
		f->packet.asks = false;
		f->packet.port = IFINDEX + f->packet.plane;
		f->packet.came_ns = w.now_ns + i;
		/* A neighbour answers when it gets to it. */
		if (f->packet.asked != MM_NO_HOST && !f->packet.plain) {
			f->packet.asked_at = probe_packet_stamp(f->packet.came_ns);
			f->packet.came_ns += i * MS_NS;
		}
		w.damaged += !f->packet.whole && !f->packet.plain;
		w.doubled += f->doubled && !f->packet.plain;
		/* There is room for these: the others are fewer. */
		w.arrival[w.n_arrivals++] = f->packet;
		if (f->doubled)
			w.arrival[w.n_arrivals++] = f->packet;
		w.trains += f->ends_train && came_once(f) && came_once(f - 1) && came_once(f - 2) &&
			    came_once(f - 3);
	}
	w.n_sent = 0;
}

/*
 * They leave in pairs, of which the second is short; a whole one of the MTU comes now and then.
 * Where the rate of links is known four whole ones do instead, together.
 */
static void check_pairs(void)
{
	uint32_t full = w.t.cfg.mtu - PROBE_HEADER_BYTES, n;

	if (w.was_full)
		return;
	mb_assert(w.n_sent % PROBE_PAIR == 0);
	for (uint32_t i = 0; i < w.n_sent; i += n) {
		bool train = w.sent[i + 1].packet.bytes == full;

		n = train ? PROBE_TRAIN : PROBE_PAIR;
		mb_assert(i + n <= w.n_sent && (!train || w.takes_trains));
		for (uint32_t k = 1; k < n; k++) {
			mb_assert(w.sent[i + k].packet.stream == w.sent[i].packet.stream);
			mb_assert(w.sent[i + k].packet.bytes == (train ? full : PROBE_BYTES_MIN));
		}
		w.long_ones += w.sent[i].packet.bytes == full ? n - 1 : 0;
		w.sent[i + n - 1].ends_train = train && w.sent[i].packet.asks;
	}
}

static void step(void)
{
	w.n_arrivals = w.arrival_at = 0;
	for (unsigned n = fuzz_u8(&w.in) & 7; n > 0 && w.in.left; n--)
		happen();
	mb_assert(w.n_arrivals + 2 * w.n_sent <= ARRIVALS_MAX || w.n_sent == 0);
	bring_back();
	probe_host_receive(w.host);
	probe_host_send(w.host);
	mb_assert(w.strays == 0 && w.loops == 0);
	check_pairs();
	w.has_stray = false;
	w.now_ns += PROBE_STEP_NS;
	w.steps++;
}

/* ---- an input ---- */

static void open_all(uint8_t how)
{
	static const struct probe_sink sink = {NULL,	   take_route, take_plain,
					       take_stray, take_loop,  take_asked};
	static void *memory;
	struct mf_topology_cfg topology;
	struct mf_error error;
	struct mm_cfg cfg;
	char why[128];

	topology = mf_preset_cfg(how & 2 ? "tiny" : "lab");
	mb_assert(mf_topology_init(&w.t, &topology, &error));
	mb_assert(w.t.n_hosts <= sizeof(w.udp_port) / sizeof(w.udp_port[0]));
	for (uint32_t i = 0; i < w.t.cfg.planes; i++)
		w.ifindex[i] = IFINDEX + i;
	for (uint32_t i = 0; i < w.t.n_hosts; i++)
		w.udp_port[i] = (uint16_t)(1000 + i);
	w.takes_trains = how & 8;
	w.rate_bit_s = how & 4 ? PROBE_RATE_MAX / 100 : PROBE_RATE_USUAL / 10;
	cfg = mm_cfg_default(&w.t, PROBE_ROUTES_MAX, 10 * PROBE_STEP_NS);
	free(memory);
	memory = malloc(mm_map_bytes(&cfg, &w.t));
	mb_assert(memory);
	w.map = mm_map_init(memory, &cfg, &w.t);
	w.host = probe_host_create(
		&(struct probe_host_cfg){.t = &w.t,
					 .host = HOST,
					 .share = PROBE_SHARE_USUAL,
					 .rate_bit_s = w.rate_bit_s,
					 .ifindex = w.ifindex,
					 .udp_port = w.udp_port,
					 .link_bit_s = w.takes_trains ? 100000000 : 0,
					 .asks_who_lives = how & 1},
		&sink, why, sizeof(why));
	mb_assert(w.host);
}

static void check(bool exact)
{
	const struct probe_figures *f = probe_host_figures(w.host);
	uint64_t budget = w.rate_bit_s / 8 * PROBE_STEP_NS / 1000000000;
	struct mm_sick sick[SICK_MAX];
	char line[MM_SICK_TEXT_BYTES];
	size_t n = mm_map_judge(w.map, w.now_ns, sick, SICK_MAX);

	mb_assert(w.answered_bytes <= budget * (w.steps + ANSWER_STEPS) + PROBE_BYTES_MAX);
	for (size_t i = 0; i < n; i++)
		mb_assert(mm_sick_text(&w.t, &sick[i], w.now_ns, line)[0]);
	mb_assert(n == 0 || w.lost || w.damaged || w.doubled);
	mb_assert(w.sum.bad[MM_LOST] + w.plain_lost == f->lost && f->lost <= w.lost);
	mb_assert(w.sum.bad[MM_REORDERED] == 0 && w.sum.bad[MM_SLOWED] == 0);
	if (!exact)
		return;
	/*
	 * As many as it says, for the plan stays as it is; routes in doubt have what the rate
	 * leaves, with what was saved up, and trains are longer.
	 */
	mb_assert(f->sent <=
		  PROBE_PAIR *
				  ((w.steps + f->round_steps - 1) / f->round_steps *
				   (f->routes + w.t.cfg.planes)) *
				  (w.takes_trains ? 2 : 1) +
			  (budget * (w.steps + SAVED_STEPS) + PROBE_TRAIN * w.t.cfg.mtu) /
				  (PROBE_BYTES_MIN + PROBE_HEADER_BYTES));
	mb_assert(w.was_full ||
		  w.long_ones >= w.steps / f->round_steps * (f->routes + w.t.cfg.planes) / 16 / 2);
	mb_assert(f->lost == w.lost);
	mb_assert(w.sum.bad[MM_CORRUPTED] == w.damaged);
	mb_assert(w.sum.bad[MM_DUPLICATED] == w.doubled);
	mb_assert(w.was_full || w.trains_known == w.trains);
}

/* Who does not answer leaves the plan; where nobody does it is this host that is alone. */
static void check_living(void)
{
	const struct probe_figures *f = probe_host_figures(w.host);
	uint32_t first = mf_host_t0(&w.t, HOST) * w.t.cfg.hosts_per_t0, gone = 0;

	for (uint32_t i = 0; i < w.t.cfg.hosts_per_t0; i++)
		gone += first + i != HOST && is_silent(first + i);
	mb_assert(f->neighbours == w.t.cfg.hosts_per_t0 - 1);
	mb_assert(f->living == f->neighbours - gone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t how;

	memset(&w, 0, sizeof(w));
	w.in = (struct fuzz_input){data, size};
	w.now_ns = 1000000000;
	how = fuzz_u8(&w.in);
	open_all(how);
	for (unsigned i = 0; i < STEPS_MAX && w.in.left; i++)
		step();
	w.in.left = 0;
	for (unsigned i = 0; (how & 9) == 9 && i < LONG_STEPS; i++)
		step();
	if ((how & 9) == 9)
		check_living();
	w.silent = 0;
	/* What is under way comes back, and is settled. */
	for (unsigned i = 0; i < 2 * PROBE_WAIT_STEPS; i++)
		step();
	/* Of questions whether a neighbour lives nobody is told, and they change the plan. */
	check(!(how & 1));
	probe_host_destroy(w.host);
	return 0;
}
