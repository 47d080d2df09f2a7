/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_table.h - the reliability probes of an engine that are not answered yet.
 *
 * A probe is an entry from the moment it leaves, whatever it is for. Its answer counts once, and
 * only for the QP that sent it, in the connection in which it did. REQ(req.probe.match)
 *
 * The table is a ring: ids count up, and the low bits of an id are its slot. A slot is used again
 * no sooner than one life after its probe was sent, so that answers always find their probes; more
 * probes than slots in one life are not sent. So an id is not used again for eight lives at least.
 * A quarter of the slots is not for tail probes, which each QP sends as it needs: EVs and ports are
 * probed however many QPs wait for peers that are gone. REQ(req.probe.bounded)
 */
#ifndef SOFTMRC_CORE_STATE_PROBE_TABLE_H
#define SOFTMRC_CORE_STATE_PROBE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct mt_qp;

enum mt_probe_purpose {
	MT_PROBE_TAIL,	      /* silence after the last packets */
	MT_PROBE_NEGOTIATION, /* of extensions */
	MT_PROBE_REVIVAL,     /* an EV that is ASSUMED_BAD */
	MT_PROBE_REVERSE_EV,  /* an EV for answers */
	MT_PROBE_PEER_PORT,   /* a port of the peer that is in doubt */
	MT_PROBE_LOCAL_PORT,  /* one of ours */
	MT_PROBE_RESUMPTION,  /* a plane, after a silence of the peer */
};

/* The endpoint that answers is that of the QP's peer. */
struct mt_probe {
	const struct mt_qp *qp; /* that sent it; NULL: it is answered */
	uint64_t sent_ns;
	uint16_t ev; /* in the QP's EV set */
	uint8_t purpose;
	bool used; /* set by the table: the slot has had a probe */
};

/* An id is 16 bits: eight probes in a row of one slot have different ones. */
#define MT_PROBES_MAX (1u << 13)

struct mt_probe_table {
	struct mt_probe *slots;
	uint32_t mask;
	uint64_t life_ns;
	uint32_t next; /* probes sent so far; the low 16 bits are the next id */
};

/* mt_probe_table_init makes a table of n zeroed slots, a power of two, 4 .. MT_PROBES_MAX. */
void mt_probe_table_init(struct mt_probe_table *t, struct mt_probe *slots, uint32_t n,
			 uint64_t life_ns);
/* mt_probe_add enters a probe that leaves now; false: it is not to be sent, there are too many. */
bool mt_probe_add(struct mt_probe_table *t, const struct mt_probe *probe, uint16_t *id);
/*
 * mt_probe_match takes the answer to probe `id` that came to a QP, whose connection began when
 * `first` probes had been sent. It removes the probe and returns it in *probe; false: there is
 * none.
 */
bool mt_probe_match(struct mt_probe_table *t, uint16_t id, const struct mt_qp *qp, uint32_t first,
		    struct mt_probe *probe);

#endif
