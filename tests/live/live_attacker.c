/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_attacker.c - an attacker off the path, over real sockets: an unprivileged process sends from
 * the address of one of two hosts to the other, and sees nothing of what they say to each other.
 *
 * It knows all that is public: addresses, ports, the slot, P_Key, EVs, and how the ICRC is made. It
 * must guess the rest. In one test it guesses everything, at QPs under traffic: nothing ends, every
 * byte is right, and the counters account for its packets. In the other it is told most bits, and
 * reaches its goal as often as SECURITY.md's arithmetic has it. tests/sim/sim_attacker.c does so
 * for all goals.
 */
#include "live/live.h"

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prng.h"
#include "host/config/env.h"
#include "host/port/nic_ports.h"
#include "support/test.h"
#include "wire/headers.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#define NOBODY 65534u
#define UDP_PORT 4791u
#define SOURCE_PORT 33000u
#define EV_BASE 12000u
#define BURST 64u
#define QPS 4u /* of each host */
#define WINDOW 1024u
#define BUFFER_BYTES (1u << 20)
#define MESSAGE_BYTES 32768u
#define PATIENCE_MS 60000u

enum goal {
	END_BY_NACK,
	END_BY_NAK,
	END_BY_WRITE,
	WITHHOLD_BY_SACK,
	COMPLETE_BY_ACK,
	REPLACE_BY_EMPTY_WRITE,
	CORRUPT,
	READ_MEMORY,
	PROBE,
	PORT_DOWN,
	EV_PROBE,
	EP_RESPONSE,
	GOALS,
};

/* What the processes of a case share. */
struct attack {
	/* Whom it attacks: 0 and 1 are hosts 1 and 2. What is public of them. */
	uint32_t slot[2];
	/* Told: how many low bits of QPN and PSN are to be guessed, and what the rest is. */
	struct {
		uint32_t qpn, qpn_bits, psn, psns;
	} told;
	uint64_t seed;
	_Atomic uint32_t wanted; /* packets; of the batch that goes on */
	_Atomic uint32_t batch, done_batch;
	_Atomic uint64_t sent[2][GOALS];
	atomic_bool all_sent, stop;
};

static struct attack *attack;
static struct live_setup setup;
static pid_t attacker;

/* ---- packets ---- */

struct shooter {
	struct mb_prng prng;
	int socket[LIVE_PLANES][2]; /* of the plane, from host 1 and from host 2 */
	struct mmsghdr msg[BURST];
	struct iovec iov[BURST];
	struct sockaddr_in to[BURST];
	uint8_t bytes[BURST][128];
};

static uint32_t guess(struct shooter *s, uint32_t bits)
{
	return (uint32_t)(mb_prng_u64(&s->prng) >> 32) & ((1u << bits) - 1);
}

static void fill_neth(struct shooter *s, uint32_t dst, struct mw_packet *p)
{
	p->neth = (struct mw_neth){
		.reason = MW_NACK_UNEXP_EVENT,
		.cc_type = 2,
		.nack_psn = p->bth.psn,
		.entropy = EV_BASE + guess(s, 3),
		.dpdcid = (uint16_t)p->bth.dqp,
		.spdcid = (uint16_t)(attack->slot[1 - dst] << MH_QPN_INDEX_BITS | guess(s, 14)),
	};
}

static void fill_seth(struct shooter *s, uint32_t dst, struct mw_packet *p)
{
	p->seth = (struct mw_seth){
		.cack_psn = p->bth.psn,
		.mpr = 8,
		.entropy = EV_BASE + guess(s, 3),
		.dpdcid = (uint16_t)p->bth.dqp,
		.spdcid = (uint16_t)(attack->slot[1 - dst] << MH_QPN_INDEX_BITS | guess(s, 14)),
	};
}

static void fill_data(struct shooter *s, uint8_t opcode, uint32_t len, struct mw_packet *p)
{
	p->bth.opcode = opcode;
	p->payload_len = len;
	p->data.meth.msn = (uint16_t)guess(s, 16);
	p->data.reth = (struct mw_reth){.va = mb_prng_u64(&s->prng),
					.rkey = guess(s, 31) << 1 | guess(s, 1),
					.dmalen = len};
}

static void fill_control(struct shooter *s, enum goal goal, uint32_t dst, struct mw_packet *p)
{
	static const uint8_t opcodes[GOALS] = {
		[END_BY_NACK] = MW_NACK,    [WITHHOLD_BY_SACK] = MW_SACK,
		[PROBE] = MW_PROBE,	    [PORT_DOWN] = MW_EP_REQUEST,
		[EV_PROBE] = MW_EP_REQUEST, [EP_RESPONSE] = MW_EP_RESPONSE,
		[COMPLETE_BY_ACK] = MW_ACK, [END_BY_NAK] = MW_ACK,
	};

	p->bth.opcode = opcodes[goal];
	if (goal == END_BY_NACK) {
		fill_neth(s, dst, p);
	} else if (goal == WITHHOLD_BY_SACK) {
		fill_seth(s, dst, p);
	} else if (goal == COMPLETE_BY_ACK) {
		p->aeth = (struct mw_aeth){.syndrome = MW_ACK_NO_CREDIT, .msn = guess(s, 16)};
	} else if (goal == END_BY_NAK) {
		p->aeth = (struct mw_aeth){.syndrome = MW_NAK_REMOTE_ACCESS, .msn = guess(s, 16)};
	} else if (goal == PROBE) {
		p->peth = (struct mw_peth){.probe_id = (uint16_t)guess(s, 16),
					   .dpdcid = (uint16_t)p->bth.dqp,
					   .ts = {.ftype = MW_FTYPE_TIMESTAMP}};
	} else if (goal != EP_RESPONSE) {
		p->erth = (struct mw_erth){.op = goal == PORT_DOWN ? MW_EP_PORT_STATUS
								   : MW_EP_EV_PROBE,
					   .port_status_mask = guess(s, LIVE_PLANES),
					   .ts = {.ftype = MW_FTYPE_TIMESTAMP}};
	} else {
		p->eeth = (struct mw_eeth){.op = MW_EP_EV_PROBE};
	}
}

static bool is_for_endpoint(enum goal goal)
{
	return goal == PORT_DOWN || goal == EV_PROBE || goal == EP_RESPONSE;
}

/* forge makes a packet for host dst of everything that is told, and guesses for the rest. */
static struct mw_packet forge(struct shooter *s, enum goal goal, uint32_t dst)
{
	struct mw_packet p = {.bth = {.p_key = MW_P_KEY_DEFAULT, .dqp = MW_QPN_ENDPOINT}};
	uint32_t qpn_bits = attack->told.qpn_bits;

	if (!is_for_endpoint(goal))
		p.bth.dqp = (attack->told.qpn & ~((1u << qpn_bits) - 1)) | guess(s, qpn_bits);
	if (attack->told.psns > 0)
		p.bth.psn =
			(attack->told.psn + mb_prng_below(&s->prng, attack->told.psns)) & 0xFFFFFF;
	else
		p.bth.psn = guess(s, 24);
	if (goal == END_BY_WRITE || goal == CORRUPT)
		fill_data(s, MW_WRITE_ONLY, 16, &p);
	else if (goal == REPLACE_BY_EMPTY_WRITE)
		fill_data(s, MW_WRITE_ONLY, 0, &p);
	else if (goal == READ_MEMORY)
		fill_data(s, MW_READ_REQUEST, 0, &p);
	else
		fill_control(s, goal, dst, &p);
	/* The number of the first message goes with all PSNs of a new QP's window. */
	if (attack->told.psns > 0 && goal == END_BY_WRITE)
		p.data.meth.msn = 0;
	return p;
}

/* seal adds payload and ICRC to the headers and returns the length of all. */
static size_t seal(uint8_t *bytes, size_t headers, uint32_t payload, uint32_t plane, uint32_t dst)
{
	size_t body = headers + payload;
	struct mh_addr_datagram d = {
		.sport = (uint16_t)(SOURCE_PORT + plane),
		.dport = (uint16_t)(UDP_PORT + attack->slot[dst]),
		.len = (uint32_t)(body + MW_ICRC_BYTES),
	};
	uint8_t from[16], to[16];
	struct mw_icrc_carrier carrier;
	uint32_t crc;

	mh_addr_from_ip(0x7F000001 + (plane << 8) + (1 - dst), from);
	mh_addr_from_ip(0x7F000001 + (plane << 8) + dst, to);
	d.src = from;
	d.dst = to;
	carrier = mh_addr_icrc_carrier(&d);
	memset(bytes + headers, 0xEE, payload);
	crc = mw_icrc_start(mw_crc32_update, &carrier, bytes);
	crc = mw_crc32_update(crc, bytes + MW_BTH_BYTES, body - MW_BTH_BYTES);
	mw_icrc_finish(crc, bytes + body);
	return body + MW_ICRC_BYTES;
}

/* ---- the attacker's process ---- */

static void shooter_open(struct shooter *s)
{
	for (uint32_t plane = 0; plane < LIVE_PLANES; plane++)
		for (uint32_t host = 0; host < 2; host++) {
			struct sockaddr_in from = {.sin_family = AF_INET,
						   .sin_port =
							   htons((uint16_t)(SOURCE_PORT + plane))};
			int fd = socket(AF_INET, SOCK_DGRAM, 0);

			from.sin_addr.s_addr = htonl(0x7F000001 + (plane << 8) + host);
			live_check(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
			s->socket[plane][host] = fd;
		}
	for (uint32_t i = 0; i < BURST; i++) {
		s->iov[i].iov_base = s->bytes[i];
		s->msg[i].msg_hdr = (struct msghdr){.msg_name = &s->to[i],
						    .msg_namelen = sizeof(s->to[i]),
						    .msg_iov = &s->iov[i],
						    .msg_iovlen = 1};
	}
}

/* shoot sends n packets to a host over a plane; goal GOALS: of all goals. */
static void shoot(struct shooter *s, enum goal goal, uint32_t plane, uint32_t dst, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		enum goal of = goal < GOALS ? goal : mb_prng_below(&s->prng, GOALS);
		struct mw_packet p = forge(s, of, dst);
		size_t headers = mw_packet_encode(&p, s->bytes[i]);

		s->iov[i].iov_len =
			seal(s->bytes[i], headers,
			     is_for_endpoint(of) || of == PROBE ? 0 : p.payload_len, plane, dst);
		s->to[i] = (struct sockaddr_in){
			.sin_family = AF_INET,
			.sin_port = htons((uint16_t)(UDP_PORT + attack->slot[dst]))};
		s->to[i].sin_addr.s_addr = htonl(0x7F000001 + (plane << 8) + dst);
		attack->sent[dst][of]++;
	}
	for (uint32_t done = 0; done < n;) {
		int sent = sendmmsg(s->socket[plane][1 - dst], s->msg + done, n - done, 0);

		live_check(sent > 0);
		done += (uint32_t)sent;
	}
}

static _Noreturn void attacker_main(void (*body)(struct shooter *))
{
	static struct shooter s;

	if (geteuid() == 0)
		live_check(setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
			   setresuid(NOBODY, NOBODY, NOBODY) == 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	mb_prng_init(&s.prng, attack->seed);
	shooter_open(&s);
	while (attack->batch == 0)
		usleep(1000);
	body(&s);
	_exit(0);
}

static void attacker_join(void)
{
	int status;

	attack->stop = true;
	live_check(waitpid(attacker, &status, 0) == attacker && status == 0);
}

static void attack_open(void (*enter)(struct live_side *s, uint32_t host))
{
	attack = mmap(NULL, sizeof(*attack), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	live_check(attack != MAP_FAILED);
	attack->seed = test_rand();
	setup = (struct live_setup){
		.bytes = BUFFER_BYTES, .extended = true, .enter = enter, .limit_s = 150};
}

static void attack_close(void)
{
	munmap(attack, sizeof(*attack));
}

/* ---- it guesses everything ---- */

static void guess_everything(struct shooter *s)
{
	for (uint32_t left = attack->wanted; left > 0; left -= left < BURST ? left : BURST) {
		uint32_t dst = guess(s, 1);

		attack->told.qpn = attack->slot[dst] << MH_QPN_INDEX_BITS;
		attack->told.qpn_bits = MH_QPN_INDEX_BITS;
		shoot(s, GOALS, guess(s, 2), dst, left < BURST ? left : BURST);
		/* As fast as the two take it: what a socket drops no guess was made with. */
		usleep(100);
	}
	attack->all_sent = true;
}

static void enter_guessing(struct live_side *s, uint32_t host)
{
	(void)s;
	if (host != 1)
		return;
	attacker = fork();
	live_check(attacker >= 0);
	if (attacker == 0)
		attacker_main(guess_everything);
}

/* transfer writes the whole buffer over all QPs; the target compares all of it. */
static void transfer(struct live_side *qps, uint32_t pass)
{
	struct mh_wc wc;

	live_fill(qps[0].buffer, BUFFER_BYTES, pass);
	for (uint32_t i = 0; i < BUFFER_BYTES / MESSAGE_BYTES; i++)
		live_write(&qps[i % QPS], i, (size_t)i * MESSAGE_BYTES, MESSAGE_BYTES,
			   RD_SEND_SIGNALED, 0);
	for (uint32_t i = 0; i < BUFFER_BYTES / MESSAGE_BYTES; i++) {
		live_wait(&qps[i % QPS], &wc, 1);
		live_expect(&wc, i, RD_WC_SUCCESS);
	}
}

static void open_qps(struct live_side *s, struct live_side qps[QPS])
{
	qps[0] = *s;
	for (uint32_t i = 1; i < QPS; i++)
		live_more(s, &qps[i]);
}

static uint64_t sent_to(uint32_t host, enum goal first, enum goal last)
{
	uint64_t sum = 0;

	for (enum goal g = first; g <= last; g++)
		sum += attack->sent[host][g];
	return sum;
}

/* Of so many guesses so many meet a QP, by the arithmetic. */
static double hits_of(uint64_t guesses)
{
	return (double)guesses * QPS / (1 << MH_QPN_INDEX_BITS);
}

/* Every packet of the attacker is in one of the counters, if the system did not drop it. */
static bool is_counted(struct live_side *s, uint32_t host)
{
	uint64_t guesses = sent_to(host, 0, PROBE), lost = live_counter(s, "port_rx_overruns");
	uint64_t met = guesses - live_counter(s, "drop_no_qp");
	double hits = hits_of(guesses);

	return (double)met <= hits + 5 * sqrt(hits) + 5 + (double)lost &&
	       live_counter(s, "rx_ep_requests") + lost >= sent_to(host, PORT_DOWN, EV_PROBE) &&
	       live_counter(s, "drop_ep_response") + lost >=
		       sent_to(host, EP_RESPONSE, EP_RESPONSE);
}

/* What is under way arrives, on a busy machine later. */
static void await_all(struct live_side *s, uint32_t host)
{
	usleep(200000);
	for (uint32_t ms = 0; ms < PATIENCE_MS && !is_counted(s, host); ms += 10)
		usleep(10000);
}

static void account(struct live_side *s, uint32_t host)
{
	uint64_t guesses = sent_to(host, 0, PROBE), lost = live_counter(s, "port_rx_overruns");
	uint64_t missed = live_counter(s, "drop_no_qp");

	printf("# host %u: %llu guesses, %llu met a QP, by the arithmetic %.1f; %llu lost\n",
	       host + 1, (unsigned long long)guesses, (unsigned long long)(guesses - missed),
	       hits_of(guesses), (unsigned long long)lost);
	fflush(stdout);
	live_check(missed <= guesses);
	live_check(is_counted(s, host));
	live_check(live_counter(s, "drop_icrc") == 0 && live_counter(s, "drop_decode") == 0);
	live_check(live_counter(s, "rx_access_errors") == 0);
}

static void assert_nothing_ended(struct live_side *qps)
{
	for (uint32_t i = 0; i < QPS; i++) {
		struct rd_qp_attr attr;

		mh_qp_query(qps[i].qp, &attr);
		live_check(attr.state == RD_QPS_RTS);
	}
}

static void close_attacked(struct live_side *s, struct live_side *qps, uint32_t host)
{
	live_barrier(s);
	assert_nothing_ended(qps);
	await_all(s, host);
	account(s, host);
	live_barrier(s);
	for (uint32_t i = 1; i < QPS; i++)
		live_less(&qps[i]);
}

static void attacked_initiator(struct live_side *s)
{
	struct live_side qps[QPS];
	bool last = false;

	open_qps(s, qps);
	attack->slot[0] = s->mine.qpn >> MH_QPN_INDEX_BITS;
	attack->slot[1] = s->peer.qpn >> MH_QPN_INDEX_BITS;
	attack->batch = 1;
	for (uint32_t pass = 1; !last; pass++) {
		last = attack->all_sent;
		transfer(qps, pass);
		live_tell(s, &last, sizeof(last));
		live_barrier(s);
	}
	attacker_join();
	close_attacked(s, qps, 0);
}

static void attacked_target(struct live_side *s)
{
	struct live_side qps[QPS];
	bool last = false;

	open_qps(s, qps);
	for (uint32_t pass = 1; !last; pass++) {
		live_hear(s, &last, sizeof(last));
		live_check(live_compare(s->buffer, BUFFER_BYTES, pass));
		live_barrier(s);
	}
	close_attacked(s, qps, 1);
}

TEST(live_attacker, guesses_everything)
{
	attack_open(enter_guessing);
	attack->wanted = (uint32_t)test_rounds(100000);
	live_run(&setup, attacked_initiator, attacked_target);
	assert_true(attack->all_sent);
	attack_close();
}

/* ---- it is told most bits ---- */

#define TOLD_QPN_BITS 4u
#define TOLD_PSNS (1u << 14)
#define TOLD_BATCHES 100u

/* Batches of WRITEs without the right key, each with an endpoint response behind it. */
static void guess_what_is_left(struct shooter *s)
{
	for (uint32_t batch = 1; !attack->stop; batch++) {
		shoot(s, END_BY_WRITE, 0, 1, attack->wanted);
		shoot(s, EP_RESPONSE, 0, 1, 1);
		attack->done_batch = batch;
		while (attack->batch == batch && !attack->stop)
			sched_yield();
	}
}

static void enter_told(struct live_side *s, uint32_t host)
{
	(void)s;
	if (host != 1)
		return;
	attacker = fork();
	live_check(attacker >= 0);
	if (attacker == 0)
		attacker_main(guess_what_is_left);
}

/* tell says what the attacker knows of the target's QP: all but the bits that it guesses. */
static void tell(const struct live_side *qp, uint32_t qpn_bits, uint32_t psns)
{
	attack->told.qpn = qp->peer.qpn;
	attack->told.qpn_bits = qpn_bits;
	attack->told.psn = qp->mine.psn + WINDOW - psns;
	attack->told.psns = psns;
}

/* run_batch has a batch of n packets sent; true: it ended the target's QP. */
static bool run_batch(struct live_side *s, uint32_t n)
{
	bool ended;

	attack->wanted = n;
	attack->batch++;
	live_hear(s, &ended, sizeof(ended));
	return ended;
}

static void told_initiator(struct live_side *s)
{
	uint32_t batches = (uint32_t)test_rounds(TOLD_BATCHES), ended = 0;
	double p = (double)WINDOW / TOLD_PSNS / (1 << TOLD_QPN_BITS), mean, deviation;
	struct live_side qp;

	attack->slot[0] = s->mine.qpn >> MH_QPN_INDEX_BITS;
	attack->slot[1] = s->peer.qpn >> MH_QPN_INDEX_BITS;
	p = 1 - pow(1 - p, BURST);
	mean = p * batches;
	deviation = sqrt(mean * (1 - p));
	for (uint32_t i = 0; i <= batches; i++) {
		bool success;

		live_more(s, &qp);
		/* Told everything but that the last PSN of the window is as good as the first. */
		tell(&qp, i == 0 ? 0 : TOLD_QPN_BITS, i == 0 ? WINDOW : TOLD_PSNS);
		success = run_batch(s, i == 0 ? 1 : BURST);
		live_check(i > 0 || success);
		ended += i > 0 && success;
		live_less(&qp);
	}
	printf("# told all but %u bits: %u of %u batches ended their QP, by the arithmetic %.1f\n",
	       TOLD_QPN_BITS + 4, ended, batches, mean);
	fflush(stdout);
	live_check(fabs(ended - mean) <= 5 * deviation + 1);
	attacker_join();
}

static void told_target(struct live_side *s)
{
	uint32_t batches = (uint32_t)test_rounds(TOLD_BATCHES);
	struct live_side qp;

	for (uint32_t i = 0; i <= batches; i++) {
		uint64_t errors = live_counter(s, "rx_access_errors");
		bool ended;

		live_more(s, &qp);
		/* Behind the batch, on the same socket. */
		live_check(live_wait_counter(s, "drop_ep_response", i + 1, 60000));
		ended = live_counter(s, "rx_access_errors") > errors;
		live_tell(s, &ended, sizeof(ended));
		live_less(&qp);
	}
}

TEST(live_attacker, told_most_bits)
{
	attack_open(enter_told);
	live_run(&setup, told_initiator, told_target);
	attack_close();
}
