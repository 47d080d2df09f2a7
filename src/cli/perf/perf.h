/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.h - the parts of mrc perf: its plan, the TCP connection between the ends, their MRC
 * objects, the loops that measure, and the report.
 */
#ifndef SOFTMRC_CLI_PERF_PERF_H
#define SOFTMRC_CLI_PERF_PERF_H

#include "stats/stats_reader.h"
#include "ui/text.h"
#include "ui/verb.h"

#include <jansson.h>
#include <mrc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a run of `mrc perf` measures: the client's wish, sent to the server. */

#define PERF_QPS_MAX 64u
#define PERF_DEPTH_MAX 4096u
#define PERF_BYTES_MAX (UINT64_C(1) << 30)
#define PERF_NS_MIN UINT64_C(1000000)
#define PERF_NS_MAX UINT64_C(3600000000000)

struct perf_plan {
	uint64_t min, max; /* message sizes: min, 2 min, 4 min, ... up to max */
	uint64_t duration_ns;
	uint32_t qps, depth;
	bool imm;	    /* WRITE_WITH_IMM instead of WRITE */
	bool bidirectional; /* the server sends as well */
	bool bandwidth, latency;
};

/* perf_plan_json returns a new object; perf_plan_read takes one from the network: 0, or -1. */
json_t *perf_plan_json(const struct perf_plan *plan);
int perf_plan_read(json_t *json, struct perf_plan *plan, char *error, size_t size);

/*
 * How the two ends of `mrc perf` agree on what to run: a TCP connection that carries one JSON
 * object a line. All input is checked; a line that is too long or no JSON ends the run.
 */

#define PERF_LINK_PORT 18186u
#define PERF_LINK_LINE 16384u

struct perf_link {
	int fd; /* -1: none */
	size_t have;
	char line[PERF_LINK_LINE];
	char error[240]; /* why the last call failed */
};

/* perf_link_listen returns a socket that waits for clients, or -1 with link->error. */
int perf_link_listen(struct perf_link *link, uint16_t port);
/* perf_link_accept waits for a client. 0, or -1; with an empty error a signal came. */
int perf_link_accept(struct perf_link *link, int listener);
/* perf_link_connect connects to a server, trying for as long as `patience_ms`. 0, or -1. */
int perf_link_connect(struct perf_link *link, const char *host, uint16_t port,
		      uint32_t patience_ms);
void perf_link_close(struct perf_link *link);

/* perf_link_send sends an object and drops the reference to it. 0, or -1. */
int perf_link_send(struct perf_link *link, json_t *message);
/*
 * perf_link_receive waits for the next object, at most timeout_ms; -1 waits for ever. NULL with an
 * error; with *nothing (may be NULL) true the time was over and nothing is wrong. An object that
 * says {"error": text} is an error with that text.
 */
json_t *perf_link_receive(struct perf_link *link, int timeout_ms, bool *nothing);
/* perf_link_is_closed says, without taking anything, whether the peer has closed the connection. */
bool perf_link_is_closed(const struct perf_link *link);

/*
 * Times in buckets that grow with them: 32 to each power of two, so that a percentile is right
 * within 3 %; no memory but its own.
 */

#define PERF_HISTOGRAM_SUB 32u
#define PERF_HISTOGRAM_BUCKETS (60u * PERF_HISTOGRAM_SUB)

struct perf_histogram {
	uint64_t count, max;
	uint64_t bucket[PERF_HISTOGRAM_BUCKETS];
};

void perf_histogram_add(struct perf_histogram *h, uint64_t ns);
/* perf_histogram_percentile returns a bound that `percent` of the times are not above; 0: empty. */
uint64_t perf_histogram_percentile(const struct perf_histogram *h, double percent);

/*
 * The MRC objects of one end of `mrc perf`: device, memory, CQ, QPs, all connected.
 *
 * Memory: `bytes` to send from, `bytes` for the peer to write to, and for each QP a credit that the
 * peer writes and one to write from. A credit is how many immediates a QP has taken so far: the
 * other end may have as many under way as there are receives beyond it.
 */

struct perf_qp {
	struct mrc_qp *qp;
	uint32_t qpn, psn;
	uint32_t peer_qpn, peer_psn;
	uint64_t *posted_ns;   /* when each message in flight was posted; a ring of `depth` */
	uint64_t posted, done; /* messages */
	uint64_t received;     /* immediates taken */
	uint64_t credited;     /* of these, the peer knows */
	bool crediting;	       /* a credit is under way */
};

struct perf_connection {
	const struct perf_plan *plan;
	struct ibv_context *device;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct mrc_context *context;
	struct mrc_comp_channel *channel; /* NULL: the CQ is polled all the time */
	struct mrc_cq *cq;
	bool notified;	    /* the next completion is an event on the channel */
	uint64_t cq_events; /* taken from it */
	struct perf_qp qp[PERF_QPS_MAX];
	uint8_t *memory;
	uint64_t bytes;	   /* of a message at most, rounded up to pages */
	uint32_t receives; /* of each QP, always posted */
	uint64_t peer_memory, peer_bytes;
	uint32_t peer_rkey;
	union ibv_gid gid, peer_gid;
	enum ibv_mtu mtu;   /* agreed */
	const char *form;   /* what carries packets here; NULL: statistics do not tell */
	char peer_form[24]; /* there; empty: the peer does not tell */
	char error[240];
};

/* What a completion is of, in the low bits of wr_id; the QP's index is above. */
enum perf_wr { PERF_WR_DATA, PERF_WR_CREDIT, PERF_WR_RECV };
#define PERF_WR_BITS 2u

/* perf_connection_open makes everything up to QPs in INIT, with `events` a completion channel as
 * well. 0, or -1; perf_connection_close in any case. */
int perf_connection_open(struct perf_connection *r, const struct perf_plan *plan, bool events);
void perf_connection_close(struct perf_connection *r);

/* perf_connection_describe returns what the peer must know; perf_connection_connect takes the
 * peer's. 0 or -1. */
json_t *perf_connection_describe(struct perf_connection *r);
int perf_connection_connect(struct perf_connection *r, json_t *peer);

/* perf_connection_write posts `size` bytes on QP i. 0, 1 when there is no room, -1. */
int perf_connection_write(struct perf_connection *r, uint32_t i, uint64_t size, bool imm,
			  uint32_t value);
/* perf_connection_can_write says whether QP i has room for one more message, and credit for an
 * immediate. */
bool perf_connection_can_write(const struct perf_connection *r, uint32_t i, bool imm);
/* perf_connection_received notes an immediate taken by QP i, posts its receive again and gives
 * credit. */
int perf_connection_received(struct perf_connection *r, uint32_t i);
/* perf_connection_credited notes that a credit has arrived at the peer. 0 or -1. */
int perf_connection_credited(struct perf_connection *r, uint32_t i);
/* perf_connection_poll takes completions, checks them, and returns how many, or -1. With a
 * completion channel it sleeps where there are none, until there are or a millisecond is over: the
 * caller has other things to look at, and a credit of the peer is no completion. */
int perf_connection_poll(struct perf_connection *r, struct ibv_wc *wc, int n);

/* The loops that measure: bandwidth in one or both directions, and latency. */

/* One direction of one size. */
struct perf_figure {
	uint64_t messages, ns;
};

struct perf_measure {
	struct perf_connection *conn;
	struct perf_link *link;
	bool client;
	uint64_t size;
	struct perf_figure out, in; /* what this end sent, and what it received */
	struct perf_histogram
		times; /* bandwidth: from post to completion; latency: half round trips */
	void (*tick)(void *context, const struct perf_measure *m,
		     uint64_t ns); /* now and then; or NULL */
	void *context;
	char error[260];
};

/*
 * perf_measure_bandwidth writes for the plan's duration: the client, and with a bidirectional plan
 * the server as well. Returns when both have all their messages acknowledged. 0, or -1.
 */
int perf_measure_bandwidth(struct perf_measure *m);
/* perf_measure_latency sends one immediate to and fro. 0, or -1. */
int perf_measure_latency(struct perf_measure *m);

/* What the network did to a measurement, read from this process's own statistics. */

struct perf_health {
	bool known; /* false: statistics are not kept; all else is 0 */
	uint64_t retransmits, lost, trimmed, timeouts, drops;
	uint32_t planes;
	uint64_t sent[MRC_STATS_PORTS], received[MRC_STATS_PORTS]; /* bytes */
	bool up[MRC_STATS_PORTS];
	uint8_t address[MRC_STATS_PORTS][16];
	char interface[MRC_STATS_PORTS][16];
	uint32_t evs_good, evs_skip, evs_bad, evs_denied; /* of all QPs */
};

/* perf_health_of adds up one segment. */
void perf_health_of(const struct mrc_stats_segment *s, struct perf_health *h);
/* perf_health_since returns later - earlier; states are those of later. */
struct perf_health perf_health_since(const struct perf_health *later,
				     const struct perf_health *earlier);

/*
 * perf_health_read reads this process's statistics after waiting until they are newer than now, a
 * twentieth of a second as a rule.
 */
void perf_health_read(struct stats_reader *stats, struct perf_health *h);

/* What `mrc perf` found, as lines for eyes and as JSON. */

/* All about one size. */
struct perf_row {
	uint64_t bytes;
	struct perf_figure out, in;
	uint64_t p50_ns, p99_ns, max_ns;
	uint64_t rounds; /* of the latency; 0: the times are from post to completion */
	struct perf_health health;
};

/* perf_row_times takes the percentiles of a histogram. */
void perf_row_times(struct perf_row *row, const struct perf_histogram *h);

/* perf_report_head writes what the columns are; perf_report_row one line. */
void perf_report_head(const struct perf_plan *plan, struct ui_text *out);
void perf_report_row(const struct perf_plan *plan, const struct perf_row *row, struct ui_text *out);
/* perf_report_tick writes a short line about a measurement that goes on. */
void perf_report_tick(uint64_t bytes, const struct perf_figure *out, uint64_t duration_ns,
		      struct ui_text *text);
/* perf_report_tail writes the share of each plane, the EVs and the losses of the whole run. */
void perf_report_tail(const struct perf_health *all, struct ui_text *out);

/* perf_report_json returns a new object. */
json_t *perf_report_json(const struct perf_plan *plan, const char *peer, const struct perf_row *row,
			 size_t rows, const struct perf_health *all);

/* The command line of `mrc perf`. */

struct perf_options {
	struct perf_plan plan;
	const char *host; /* NULL: the server */
	uint64_t size;	  /* of all messages; 0: those of the plan */
	uint32_t port;
	bool server, once, events, no_latency, no_bandwidth, json, plain;
};

/* perf_main is what runs `mrc perf`. */
int perf_main(int argc, char **argv);

/* perf_options_parse reads a command line; help and errors are printed. */
enum ui_flags_result perf_options_parse(struct perf_options *o, int argc, char **argv);

#endif
