/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma.h - the values that the core, the software NIC and the APIs share: addresses, SGEs, rights,
 * work requests, completions. With IBTA's meaning. Numbers are in host order unless said otherwise.
 */
#ifndef SOFTMRC_RDMA_RDMA_H
#define SOFTMRC_RDMA_RDMA_H

#include <stdbool.h>
#include <stdint.h>

/* An address of an endpoint in network order: it names all its planes. */
struct rd_gid {
	uint8_t b[16];
};

/* A scatter/gather element, laid out as an ibv_sge: an array of those may be used as one of
 * these. */
struct rd_sge {
	uint64_t addr; /* in the address space of the MR that lkey names; inline: a pointer */
	uint32_t length;
	uint32_t lkey; /* not looked at when inline */
};
/* SGEs of a WR at most. */
#define RD_SGE_MAX 16u

/* A walk over the pieces of SGEs that bytes [offset, offset + len) of a message take. */
struct rd_sge_walk {
	const struct rd_sge *sge, *end;
	uint64_t offset; /* in *sge */
	uint32_t left;
};

/*
 * rd_sge_walk begins a walk over n SGEs; behind the last one there is no piece. C has no sum of
 * NULL and 0, and without SGEs there may be no array.
 */
static inline struct rd_sge_walk rd_sge_walk(const struct rd_sge *sge, uint32_t n, uint64_t offset,
					     uint32_t len)
{
	return (struct rd_sge_walk){sge, n > 0 ? sge + n : sge, offset, len};
}

/* rd_sge_next returns the next piece, which lies in one SGE and is not empty; false: the end. */
static inline bool rd_sge_next(struct rd_sge_walk *w, struct rd_sge *piece)
{
	uint64_t room;

	while (w->sge < w->end && w->offset >= w->sge->length)
		w->offset -= w->sge++->length;
	if (w->left == 0 || w->sge == w->end)
		return false;
	room = w->sge->length - w->offset;
	*piece = (struct rd_sge){w->sge->addr + w->offset,
				 room < w->left ? (uint32_t)room : w->left, w->sge->lkey};
	w->offset += piece->length;
	w->left -= piece->length;
	return true;
}

/* What a QP or an MR grants; the values are those of verbs. */
enum rd_access {
	RD_ACCESS_LOCAL_WRITE = 1u << 0,
	RD_ACCESS_REMOTE_WRITE = 1u << 1, /* of an MR: needs LOCAL_WRITE */
	/* With the extensions of docs/protocol.md only. */
	RD_ACCESS_REMOTE_READ = 1u << 2,
	RD_ACCESS_REMOTE_ATOMIC = 1u << 3, /* of an MR: needs LOCAL_WRITE */
	RD_ACCESS_MW_BIND = 1u << 4,	   /* of an MR: memory windows may be bound to it */
};

/* Types of memory windows; the values are those of verbs. */
enum rd_mw_type {
	RD_MW_TYPE_1 = 1, /* for peers of all QPs of its PD; bound again, or to nothing, any time */
	RD_MW_TYPE_2,	  /* for the peer of the QP that bound it, until it is invalidated (2B) */
};

/* ---- work requests ---- */

/* What a send WR asks for. MRC has WRITE; the others need the extensions of docs/protocol.md. */
enum rd_wr_opcode {
	RD_WR_WRITE,
	RD_WR_SEND,	    /* to a receive of the peer; the only one of a UD QP */
	RD_WR_READ,	    /* into the SGEs, whose MRs grant LOCAL_WRITE */
	RD_WR_COMPARE_SWAP, /* of 8 bytes at an aligned address; what was there goes to the SGEs */
	RD_WR_FETCH_ADD,    /* likewise */
	RD_WR_ATOMIC_WRITE, /* of 8 bytes to an aligned address, in one step */
	/* Of our own windows, without a packet, in their order among the others. */
	RD_WR_LOCAL_INV, /* of the window that rkey names */
	RD_WR_BIND_MW,
	RD_WR_OPCODES,
};

enum rd_send_flags {
	RD_SEND_IMM = 1u << 0,	     /* WRITE_WITH_IMM, SEND_WITH_IMM */
	RD_SEND_SIGNALED = 1u << 1,  /* reports success too */
	RD_SEND_SOLICITED = 1u << 2, /* sets BTH.SE on the last packet */
	RD_SEND_INLINE = 1u << 3,    /* the bytes are copied before the call returns */
	RD_SEND_FENCE = 1u << 4,     /* begins when all READs and atomics before it are complete */
	RD_SEND_INV = 1u << 5, /* SEND: `imm` is the rkey of a window of type 2 of the peer's, which
				  its receive makes invalid */
};

/* An address handle: where a datagram goes. It is read during the call that posts only. */
struct rd_ah {
	struct rd_gid dest;
	uint8_t traffic_class; /* DSCP << 2; the lower two bits are not looked at */
};

/* To which QP of that host. A Q_Key with its highest bit set means the sending QP's own. */
struct rd_ud_addr {
	const struct rd_ah *ah;
	uint32_t qpn; /* 24 bits */
	uint32_t q_key;
};

struct rd_bind;

/* A send WR. What it points to is read during the call that posts it only. */
struct rd_send_wr {
	uint64_t wr_id;
	const struct rd_sge *sge;
	uint32_t n_sge;	      /* 0 and zero lengths make an empty message */
	uint32_t flags;	      /* enum rd_send_flags */
	uint32_t imm;	      /* host order number; big-endian on the wire */
	uint32_t rkey;	      /* WRITE, READ, atomics; LOCAL_INV; BIND_MW of type 2: its next key */
	uint64_t remote_addr; /* WRITE, READ, atomics */
	enum rd_wr_opcode opcode;
	uint64_t compare_add; /* COMPARE_SWAP: is compared; FETCH_ADD: is added */
	uint64_t swap;	      /* COMPARE_SWAP: is stored when what is there compares equal */
	/* What the core does not read. */
	struct rd_ud_addr ud;	    /* of a UD QP */
	const struct rd_bind *bind; /* BIND_MW; the software NIC says what is in it */
};

/* A receive WR. The sge array is read during the call only. */
struct rd_recv_wr {
	uint64_t wr_id;
	const struct rd_sge *sge; /* where a SEND goes */
	uint32_t n_sge;		  /* 0 .. max_recv_sge */
};

/* ---- completions ---- */

enum rd_wc_status {
	RD_WC_SUCCESS,
	RD_WC_WR_FLUSH_ERR,
	RD_WC_REM_INV_REQ_ERR,
	RD_WC_REM_ACCESS_ERR,
	RD_WC_REM_OP_ERR,
	RD_WC_RETRY_EXC_ERR,
	RD_WC_FATAL_ERR,
	RD_WC_LOC_LEN_ERR,  /* extended: a SEND was longer than its receive */
	RD_WC_LOC_PROT_ERR, /* local memory of the WR was deregistered or is gone */
	/* With extensions only. */
	RD_WC_RNR_RETRY_EXC_ERR, /* the peer had no receive, more often than rnr_retry says */
	RD_WC_MW_BIND_ERR,	 /* a memory window may not be bound so */
	RD_WC_LOC_QP_OP_ERR,	 /* LOCAL_INV: no window of type 2 that is bound on this QP */
	RD_WC_STATUSES,
};

/* Of a send WR: its enum rd_wr_opcode. */
enum rd_wc_opcode {
	RD_WC_WRITE = RD_WR_WRITE,
	RD_WC_SEND = RD_WR_SEND,
	RD_WC_READ = RD_WR_READ,
	RD_WC_COMPARE_SWAP = RD_WR_COMPARE_SWAP,
	RD_WC_FETCH_ADD = RD_WR_FETCH_ADD,
	RD_WC_ATOMIC_WRITE = RD_WR_ATOMIC_WRITE,
	RD_WC_LOCAL_INV = RD_WR_LOCAL_INV,
	RD_WC_BIND_MW = RD_WR_BIND_MW,
	RD_WC_RECV,	/* a receive WR used up by a peer's SEND */
	RD_WC_RECV_IMM, /* a receive WR used up by a peer's WRITE_WITH_IMM, or flushed */
};

/* The values are those of verbs, which has no SOLICITED. */
enum rd_wc_flags {
	RD_WC_GRH = 1u << 0, /* of a UD QP: the first bytes received are a GRH */
	RD_WC_WITH_IMM = 1u << 1,
	RD_WC_SOLICITED = 1u << 2,
	RD_WC_WITH_INV = 1u << 3, /* instead of an immediate, the rkey that is invalid now */
};

#endif
