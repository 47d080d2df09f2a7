/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conform_world.h - the peer of this folder as a target of `mrc conform`, in virtual time, with one
 * fault planted at a time. The faults stand between the peer and the kit: they change, drop or mend
 * packets, as an implementation that is wrong would have.
 */
#ifndef PEER_CONFORM_WORLD_H
#define PEER_CONFORM_WORLD_H

#include "conform/run.h"
#include "peer.h"

#define CONFORM_MEMORY (1u << 20)
#define CONFORM_FRAMES 8192u
#define CONFORM_OPS 64u

/* X(name): each is explained where it is planted. */
#define CONFORM_FAULTS(X) \
	X(NONE)           \
	X(SACK_MAP_BIT)   \
	X(SACK_EV)        \
	X(SACK_CACK)      \
	X(SACK_TIME)      \
	X(SACK_RTX)       \
	X(SACK_MARK)      \
	X(SACK_OOO)       \
	X(SACK_PSN)       \
	X(SACK_CLASS)     \
	X(SACK_ICRC)      \
	X(SACK_TRIGGER)   \
	X(SACK_FUTURE)    \
	X(RCVD_COPIES)    \
	X(RCVD_UNIT)      \
	X(NACK_REASON)    \
	X(NACK_LAST_HOP)  \
	X(NACK_EV)        \
	X(NACK_TIME)      \
	X(NACK_PSN)       \
	X(TRIM_BY_LENGTH) \
	X(TRIM_IGNORED)   \
	X(TRIM_SILENT)    \
	X(PROBE_SILENT)   \
	X(PROBE_ID)       \
	X(PROBE_EV)       \
	X(PROBE_TIME)     \
	X(EP_SILENT)      \
	X(EP_TIME)        \
	X(EP_CLASS)       \
	X(ACK_CREDITS)    \
	X(P_KEY_SENT)     \
	X(COPY_PLACED)    \
	X(PAD_PLACED)     \
	X(PAD_TRUSTED)    \
	X(PSN_WRAP)       \
	X(OTHER_QP)       \
	X(BAD_ICRC)       \
	X(OTHER_P_KEY)    \
	X(OTHER_VERSION)  \
	X(KEY_IGNORED)    \
	X(IMM_TWICE)      \
	X(WRITE_TELLS)    \
	X(SACK_COMPLETES) \
	X(NAK_IGNORED)    \
	X(FATAL_IGNORED)  \
	X(NACK_IGNORED)   \
	X(HOLE_IGNORED)   \
	X(SENT_RTX)       \
	X(SENT_CLASS)     \
	X(SENT_SAME_EV)   \
	X(SENT_LENGTH)    \
	X(SENT_NO_PROBES) \
	X(SENT_BEYOND)    \
	X(SENT_RQMSN)     \
	X(MSN_ZERO)

enum conform_fault {
#define CONFORM_FAULT_NAME(name) FAULT_##name,
	CONFORM_FAULTS(CONFORM_FAULT_NAME)
#undef CONFORM_FAULT_NAME
		CONFORM_FAULT_COUNT,
};

struct conform_frame {
	uint64_t at_ns;
	struct cf_frame f;
};

/* Results of completions or receives that the target's program did not ask for yet. */
struct conform_results {
	int status[2 * CONFORM_OPS];
	uint32_t imm[2 * CONFORM_OPS];
	size_t n, taken;
};

struct conform_world {
	unsigned fault; /* enum conform_fault */
	struct cf_link link;
	struct cf_server server;
	uint64_t now_ns, next_tick_ns;
	uint32_t qpn;
	bool open;
	struct peer peer;
	struct peer_op ops[CONFORM_OPS];
	uint64_t receives[CONFORM_OPS];
	uint32_t receive_bytes[CONFORM_OPS];
	struct conform_results sends, recvs;
	uint8_t memory[CONFORM_MEMORY + 4096];
	struct conform_frame *frames; /* a ring of CONFORM_FRAMES, on their way to the kit */
	size_t head, tail;
	/* What faults remember: that the QP is no more, PSNs that came, EVs that PSNs left by. */
	bool ended;
	bool came[4096];
	uint32_t left_by[4096];
	bool has_left[4096];
};

struct conform_world *conform_world_open(enum conform_fault fault);
void conform_world_close(struct conform_world *w);
const char *conform_fault_name(enum conform_fault fault);

/* conform_fault.c: false: the packet is lost. */
bool conform_fault_out(struct conform_world *w, struct peer_packet *p);
/* ... of a frame that is sent; after its ICRC was made. */
void conform_fault_frame(const struct conform_world *w, const struct peer_packet *p,
			 struct peer_frame *f);
bool conform_fault_in(struct conform_world *w, struct peer_frame *f);

void conform_result(struct conform_results *r, int status, uint32_t imm);

#endif
