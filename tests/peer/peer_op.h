/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_op.h - one operation, of whichever end; what a world plans and both ends execute. */
#ifndef PEER_OP_H
#define PEER_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum peer_op_kind {
	PEER_OP_WRITE,
	PEER_OP_SEND,
	PEER_OP_READ,
	PEER_OP_COMPARE_SWAP,
	PEER_OP_FETCH_ADD,
	PEER_OP_ATOMIC_WRITE,
	PEER_OP_KINDS,
};

enum peer_status {
	PEER_SUCCESS,
	PEER_FLUSHED,
	PEER_INVALID_REQUEST,
	PEER_ACCESS_ERROR,
	PEER_OPERATION_ERROR,
	PEER_FATAL,
};

struct peer_op {
	enum peer_op_kind kind;
	bool has_imm, fence, solicited;
	bool has_inv;  /* SEND: makes the window invalid whose key is in imm */
	bool windowed; /* its rkey is that of a window, which begins at the region's first byte */
	bool poisoned; /* will be refused */
	bool silent;   /* our engine is not asked for a completion of success */
	uint32_t imm, bytes, rkey;
	/* Offsets in the two memories. SEND: remote is where its receive is. */
	uint64_t local, remote;
	uint64_t compare, operand; /* operand: swapped in, added or stored */
	uint64_t original;	   /* atomics: what has to be found there */
	uint8_t operands[16];	   /* ... as they travel */
	uint64_t post_at_ns;
	/* How far it is. */
	bool posted, begun, done;
	enum peer_status status;
	/* Of the peer as requester: its message; of READs and atomics also which request it is. */
	size_t message;
	uint32_t request;
};

/* peer_op_takes_receive: a SEND, or a WRITE with immediate. */
static inline bool peer_op_takes_receive(const struct peer_op *op)
{
	return op->kind == PEER_OP_SEND || (op->kind == PEER_OP_WRITE && op->has_imm);
}

/* peer_op_is_request: a READ or an atomic, which is answered. */
static inline bool peer_op_is_request(const struct peer_op *op)
{
	return op->kind >= PEER_OP_READ;
}

#endif
