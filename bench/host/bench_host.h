/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h - two processes, one way to carry bytes between them, and what that cost.
 *
 * A case says what is measured, over which network and by what means. Its two ends run as
 * processes of their own, in the network namespace of their side, and leave their figures in
 * memory that is shared with the parent. Side 0 sends, or asks; side 1 receives, or answers.
 */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HB_PAYLOAD 4096u
/* BTH, RETH, METH and ICRC, which every data packet of MRC has. */
#define HB_HEADERS 36u
#define HB_EVS 8u
#define HB_MESSAGE (UINT64_C(1) << 20)
#define HB_SMALL_MESSAGE (UINT64_C(1) << 16)
#define HB_DEPTH 16u
#define HB_SMALL_DEPTH 64u
#define HB_PING_BYTES 8u
#define HB_ROUNDS_MAX 16u
#define HB_WHY 160u

static const char hb_program[] = "host";

/* HB_FABRIC: three switches between the hosts, see fabric.c. */
enum hb_net { HB_LO, HB_VETH, HB_FABRIC, HB_NETS };
enum hb_means { HB_MRC, HB_UDP, HB_TCP, HB_UCX };
enum hb_driver { HB_DRIVER_UDP, HB_DRIVER_AF_PACKET, HB_DRIVER_RAW41 };
/* HB_POLL and HB_WAIT: ping-pong, waiting with the CPU or asleep. */
enum hb_kind { HB_BANDWIDTH, HB_POLL, HB_WAIT };

struct hb_case {
	enum hb_kind kind;
	enum hb_net net;
	enum hb_means means;
	enum hb_driver driver; /* of HB_MRC */
	uint32_t run;	       /* of HB_MRC and HB_UDP: packets that leave as one */
	uint32_t planes;       /* of HB_MRC, 1 .. HB_PLANES_MAX; 0 is 1 */
	bool icrc;	       /* of HB_MRC */
	bool small;	       /* of HB_MRC: HB_SMALL_MESSAGE, not HB_MESSAGE */
	uint32_t ms;	       /* how long */
};

/* What an end found, in memory shared with the parent. */
struct hb_end {
	uint64_t bytes;			  /* that arrived, or that were acknowledged */
	uint64_t sent_bytes;		  /* side 0 of HB_UDP: lost ones too */
	uint64_t ns;			  /* side 0: of the measurement */
	uint64_t cpu_ns;		  /* of this process, all threads, user and system */
	uint64_t p50_ns, p99_ns, p999_ns; /* of half a round trip */
	uint64_t switches;		  /* context switches of this process, all threads */
	uint64_t round_trips;
};

struct hb_figure {
	bool skipped; /* and why */
	bool failed;
	char why[HB_WHY];
	double gbit_s;
	double cpu_s_per_gb; /* both sides */
	double lost;	     /* share of what HB_UDP sent */
	double p50_us, p99_us, p999_us;
	double switches; /* a half round trip, both ends */
};

/*
 * hb_space_open makes the namespaces of a network: two joined by a veth pair, or those of a fabric.
 * What hinders it goes to why.
 */
bool hb_space_open(enum hb_net net, char why[HB_WHY]);
void hb_space_close(void);
/* hb_space_enter takes this process to its side of a network. 0 or -1. */
int hb_space_enter(enum hb_net net, int side);
const char *hb_space_address(enum hb_net net, int side, bool ipv6);
/* hb_space_planes returns the addresses of that many planes, as MRC_PORTS takes them; not of
 * HB_FABRIC. */
#define HB_PLANES_MAX 4u
const char *hb_space_planes(enum hb_net net, int side, uint32_t planes);
const char *hb_space_interface(enum hb_net net, int side);

/* The fabric while it is built: a command of the shell on a node, and a process that lives
 * there. */
bool hb_node_run(uint32_t node, const char *command);
int hb_node_pid(uint32_t node);
bool hb_fabric_build(char why[HB_WHY]);
/* hb_fabric_carrier returns the address that takes a packet from a side to the other. */
const char *hb_fabric_carrier(int side);
/* hb_fabric_environment sets what libmrc reads on a side of the fabric. */
void hb_fabric_environment(int side, void (*set)(const char *name, const char *value));

/* An end of a case, in its own process; fd leads to the other one. 0, or -1 after a message. */
int hb_mrc_end(const struct hb_case *c, int side, int fd, struct hb_end *out);
int hb_udp_end(const struct hb_case *c, int side, int fd, struct hb_end *out);
int hb_tcp_end(const struct hb_case *c, int side, int fd, struct hb_end *out);

/* hb_tcp_control is the congestion control that is asked of TCP; the default may pace. */
const char *hb_tcp_control(void);

/* hb_measure runs a case once. */
void hb_measure(const struct hb_case *c, struct hb_figure *figure);
void hb_ucx_measure(const struct hb_case *c, struct hb_figure *figure);

/* hb_fair runs eight processes on two cores for ms; gbit_s gets what each of them received. */
#define HB_FAIR 8u
int hb_fair(uint32_t ms, uint32_t run, double gbit_s[HB_FAIR]);

/* hb_environment sets what libmrc reads, in the process of an end. */
void hb_environment(const struct hb_case *c, int side);

uint64_t hb_now_ns(void);
uint64_t hb_cpu_ns(void);
/* hb_switches returns how often threads of this process gave up their core or lost it. */
uint64_t hb_switches(void);

/*
 * Times of a ping-pong; hb_times_end sorts them and fills in the percentiles. Its end counts the
 * switches since hb_times_begin.
 */
struct hb_times {
	uint64_t switches;
	uint32_t n;
	uint32_t ns[1u << 20];
};
void hb_times_begin(struct hb_times *t);
void hb_times_add(struct hb_times *t, uint64_t ns);
void hb_times_end(struct hb_times *t, struct hb_end *out);

#endif
