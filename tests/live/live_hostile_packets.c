/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_hostile_packets.c - a third party sends rubbish at both ends of a running transfer: random
 * bytes, mutated packets, packets of an unknown sender. All of it is counted and none of it does
 * harm.
 */
#include "live/live.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/prng.h"
#include "support/frame_icrc.h"
#include "support/test.h"
#include "wire/headers.h"
#include "wire/packet.h"

#define ATTACKER_BYTES (8u << 20)
#define ATTACKER_BURST 64u
#define ATTACKER_TRIMMED (12 << 2)

struct attacker {
	atomic_bool stop;
	pthread_t thread;
	uint64_t seed;
	uint32_t source; /* address it sends from, host order */
	bool forges;	 /* packets that are right in all that is public */
	struct live_card victim;
	uint64_t sent;
};

/* attacker_packet makes a packet of a random opcode for the victim's QP, its fields at random. */
static size_t attacker_packet(const struct attacker *g, struct mb_prng *prng, uint8_t *out)
{
	static const uint8_t opcodes[] = {MW_WRITE_FIRST, MW_WRITE_MIDDLE,   MW_WRITE_LAST,
					  MW_WRITE_ONLY,  MW_WRITE_ONLY_IMM, MW_ACK,
					  MW_SACK,	  MW_NACK,	     MW_PROBE,
					  MW_EP_REQUEST,  MW_EP_RESPONSE};
	size_t len = 16 + mb_prng_below(prng, 300);

	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)mb_prng_u64(prng);
	if (mb_prng_chance(prng, 300000))
		return len; /* plain rubbish */
	out[0] = opcodes[mb_prng_below(prng, sizeof(opcodes))];
	out[1] &= 0xF0;
	out[2] = out[3] = 0xFF;
	out[5] = (uint8_t)(g->victim.qpn >> 16);
	out[6] = (uint8_t)(g->victim.qpn >> 8);
	out[7] = (uint8_t)g->victim.qpn;
	/* A PSN near those in use is the most dangerous one. */
	if (mb_prng_chance(prng, 500000)) {
		uint32_t psn = g->victim.psn + mb_prng_below(prng, 4000);

		out[9] = (uint8_t)(psn >> 16);
		out[10] = (uint8_t)(psn >> 8);
		out[11] = (uint8_t)psn;
	}
	return len;
}

/*
 * attacker_forge makes a packet that is right in all that is public, the ICRC above all, and of the
 * numbers of QP and PSN what chance gives: SECURITY.md has the probability of harm, here 2^-28 at
 * most for each of some 10,000 packets.
 */
static size_t attacker_forge(const struct attacker *g, struct mb_prng *prng,
			     const struct sockaddr_in *from, const struct sockaddr_in *to,
			     uint8_t *out)
{
	const struct frame_ends ends = {true, (const uint8_t *)&from->sin_addr,
					(const uint8_t *)&to->sin_addr, ntohs(from->sin_port),
					ntohs(to->sin_port)};
	size_t len, body;

	do {
		len = attacker_packet(g, prng, out);
	} while (out[2] != 0xFF); /* plain rubbish */
	out[6] = (uint8_t)((out[6] & 0xC0) | mb_prng_below(prng, 0x40));
	out[7] = (uint8_t)mb_prng_u64(prng);
	for (size_t i = 9; i < 12; i++)
		out[i] = (uint8_t)mb_prng_u64(prng);
	body = len - 4;
	frame_icrc(&ends, out, body, out + body);
	return len;
}

static void *attacker_main(void *arg)
{
	struct attacker *g = arg;
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(g->source)};
	uint16_t port = (uint16_t)(4791 + (g->victim.qpn >> 14));
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t size = sizeof(from);
	struct mb_prng prng;

	mb_prng_init(&prng, g->seed);
	memcpy(&to.sin_addr, g->victim.gid.b + 12, 4);
	live_check(bind(s, (struct sockaddr *)&from, sizeof(from)) == 0);
	live_check(getsockname(s, (struct sockaddr *)&from, &size) == 0);
	while (!g->stop) {
		for (uint32_t i = 0; i < ATTACKER_BURST; i++) {
			/* Every fourth claims to have been trimmed, and so to have no ICRC. */
			int tos = i % 4 ? (int)(mb_prng_u64(&prng) & 0xFF) : ATTACKER_TRIMMED;
			uint8_t bytes[512];
			size_t len = g->forges ? attacker_forge(g, &prng, &from, &to, bytes)
					       : attacker_packet(g, &prng, bytes);

			if (g->forges)
				tos = 0;

			setsockopt(s, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
			sendto(s, bytes, len, 0, (struct sockaddr *)&to, sizeof(to));
			g->sent++;
		}
		usleep(1000);
	}
	close(s);
	return NULL;
}

static struct live_setup attacker_setup;
static uint32_t attacker_source;
static bool attacker_forges;

/* attacker_transfer sends the whole buffer in messages of 32 KiB. */
static void attacker_transfer(struct live_side *s)
{
	uint32_t posted = 0, done = 0, all = ATTACKER_BYTES / 32768;

	live_fill(s->buffer, s->setup->bytes, 4);
	while (done < all) {
		struct mh_wc wc;

		for (; posted < all && posted - done < LIVE_DEPTH; posted++)
			live_write(s, posted, (size_t)posted * 32768, 32768, RD_SEND_SIGNALED, 0);
		live_wait(s, &wc, 1);
		live_expect(&wc, done++, RD_WC_SUCCESS);
	}
}

static uint64_t attacker_counted(struct live_side *s)
{
	static const char *const names[] = {
		"drop_decode",	  "drop_icrc",	     "drop_no_qp", "drop_src_mismatch",
		"drop_malformed", "drop_bogus_ack",  "drop_p_key", "rx_outside_subnet",
		"rx_trimmed",	  "drop_context_ids"};
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		sum += live_counter(s, names[i]);
	return sum;
}

static void attacker_initiator(struct live_side *s)
{
	struct attacker at_peer = {.seed = 1, .source = attacker_source, .victim = s->peer};
	struct attacker at_us = {.seed = 2, .source = attacker_source, .victim = s->mine};

	at_peer.forges = at_us.forges = attacker_forges;

	live_check(pthread_create(&at_peer.thread, NULL, attacker_main, &at_peer) == 0);
	live_check(pthread_create(&at_us.thread, NULL, attacker_main, &at_us) == 0);
	for (int round = 0; round < 5; round++)
		attacker_transfer(s);
	at_peer.stop = at_us.stop = true;
	pthread_join(at_peer.thread, NULL);
	pthread_join(at_us.thread, NULL);
	live_check(at_us.sent > 100 && attacker_counted(s) > 100);
	live_barrier(s);
}

static void attacker_target(struct live_side *s)
{
	live_barrier(s);
	live_check(live_compare(s->buffer, s->setup->bytes, 4));
	live_check(attacker_counted(s) > 100);
	/* That of a forger is right, so that something else must have stopped its packets. */
	live_check(!attacker_forges || live_counter(s, "drop_icrc") == 0);
	live_check(!attacker_forges || live_counter(s, "drop_no_qp") > 100);
}

static void attacker_run(const char *icrc, uint32_t source)
{
	attacker_setup = (struct live_setup){.bytes = ATTACKER_BYTES, .icrc = icrc};
	attacker_source = source;
	live_run(&attacker_setup, attacker_initiator, attacker_target);
}

/* ---- ICMP ---- */

#define ICMP_QUOTE_BYTES 28u
#define ICMP_MTU 552u
/* Source ports that EVs of either side have (live.c). */
#define ICMP_EV_FIRST 12000u
#define ICMP_EVS 64u

/* icmp_too_big makes what a router says that could not forward a datagram of the victim's. */
static void icmp_too_big(uint8_t out[8 + ICMP_QUOTE_BYTES], const uint8_t victim[4],
			 const uint8_t peer[4], uint16_t sport, uint16_t dport)
{
	uint32_t sum = 0;

	memset(out, 0, 8 + ICMP_QUOTE_BYTES);
	out[0] = 3; /* unreachable */
	out[1] = 4; /* fragmentation needed */
	mb_store_be16(out + 6, ICMP_MTU);
	out[8] = 0x45;
	mb_store_be16(out + 10, 4200);
	out[17] = IPPROTO_UDP;
	memcpy(out + 20, victim, 4);
	memcpy(out + 24, peer, 4);
	mb_store_be16(out + 28, sport);
	mb_store_be16(out + 30, dport);
	mb_store_be16(out + 32, 4180);
	for (size_t i = 0; i < 8 + ICMP_QUOTE_BYTES; i += 2)
		sum += mb_load_be16(out + i);
	mb_store_be16(out + 2, (uint16_t) ~((sum & 0xFFFF) + (sum >> 16)));
}

/* Routers that nobody knows say of all planes and EVs that packets are too big. */
static void icmp_initiator(struct live_side *s)
{
	int icmp = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
	uint16_t dport = (uint16_t)(4791 + (s->peer.qpn >> 14));
	struct sockaddr_in to = {.sin_family = AF_INET};
	uint8_t victim[4], peer[4], says[8 + ICMP_QUOTE_BYTES];

	live_check(icmp >= 0);
	memcpy(victim, s->mine.gid.b + 12, 4);
	memcpy(peer, s->peer.gid.b + 12, 4);
	attacker_transfer(s);
	for (uint32_t plane = 0; plane < LIVE_PLANES; plane++) {
		victim[2] = peer[2] = (uint8_t)plane;
		memcpy(&to.sin_addr, victim, 4);
		for (uint32_t ev = 0; ev < ICMP_EVS; ev++) {
			icmp_too_big(says, victim, peer, (uint16_t)(ICMP_EV_FIRST + ev), dport);
			live_check(sendto(icmp, says, sizeof(says), 0, (struct sockaddr *)&to,
					  sizeof(to)) == sizeof(says));
		}
	}
	close(icmp);
	attacker_transfer(s);
	live_check(live_counter(s, "port_tx_refused") == 0);
	live_barrier(s);
}

static void icmp_target(struct live_side *s)
{
	live_barrier(s);
	live_check(live_compare(s->buffer, s->setup->bytes, 4));
}

/* From an address of the plane that is nobody's peer, with nothing but addresses to tell. */
TEST(live_hostile_packets, of_the_same_subnet_without_icrc)
{
	attacker_run("off", 0x7F000063);
}

TEST(live_hostile_packets, of_another_subnet_without_icrc)
{
	attacker_run("off", 0x7F006363);
}

/* In the name of the peer (host 1 attacks host 2, and itself), with its numbers and no ICRC. */
TEST(live_hostile_packets, under_the_address_of_the_peer_with_a_wrong_icrc)
{
	attacker_run("on", 0x7F000001);
}

/* The ICRC is no secret: only the numbers of QPs and PSNs are to be guessed. */
TEST(live_hostile_packets, under_the_address_of_the_peer_with_the_right_icrc)
{
	attacker_forges = true;
	attacker_run("on", 0x7F000001);
	attacker_forges = false;
}

TEST(live_hostile_packets, icmp_that_says_packets_are_too_big)
{
	attacker_setup = (struct live_setup){.bytes = ATTACKER_BYTES};
	live_run(&attacker_setup, icmp_initiator, icmp_target);
}
