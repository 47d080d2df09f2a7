/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rx_window.h - which PSNs a responder has, and which of them end a message.
 *
 * Two bitmaps over the window [expected, expected + MPR): received, and ends-a-message. When the
 * PSN at the window's start arrives, the start moves over everything that is there already, and
 * the message ends it passes are the messages complete in order. While nothing is received above
 * expected the bitmaps are empty and need not be there.
 */
#ifndef SOFTMRC_CORE_WINDOW_RX_WINDOW_H
#define SOFTMRC_CORE_WINDOW_RX_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_rx_window {
	uint64_t *received; /* NULL: not attached */
	uint64_t *ends;
	uint64_t first;	     /* PSN with which the connection began */
	uint64_t expected;   /* ePSN: lowest PSN not received; cack_psn is the one before */
	uint64_t top;	     /* one above the highest PSN received; expected when there is none */
	uint64_t unreported; /* no PSN below this was received without having been in a SACK */
	uint64_t walk;	     /* where the next look back over old holes starts */
	uint32_t size;	     /* bits, a power of two */
	uint32_t limit;	     /* PSNs that may be ahead: MPR x 128 */
	uint32_t ahead;	     /* received above expected: ooo_count */
	uint32_t wide;	     /* SACKs so far that could not name everything */
};

/* Where a PSN stands. */
enum mt_rx_place {
	MT_RX_NEW,	    /* in the window, not received */
	MT_RX_DUP_BEHIND,   /* received, below expected */
	MT_RX_DUP_AHEAD,    /* received, in the window */
	MT_RX_BEFORE_START, /* from before the connection began: of an earlier life of the QP */
	MT_RX_FAR,	    /* ahead of the window */
};

/* mt_rx_window_size returns the bytes of both bitmaps for a window of `limit` PSNs. */
size_t mt_rx_window_size(uint32_t limit);
/* mt_rx_window_init begins a window without bitmaps. */
void mt_rx_window_init(struct mt_rx_window *w, uint32_t limit, uint64_t first_psn);
/* mt_rx_window_attach gives it mt_rx_window_size bytes for them; needed before anything is
 * taken. */
void mt_rx_window_attach(struct mt_rx_window *w, void *mem);
/*
 * mt_rx_window_resize gives the window another limit, at least what it holds already, and memory
 * for it: mt_rx_window_size(limit) bytes, or NULL while nothing lies above expected. What it held
 * before is the caller's again.
 */
void mt_rx_window_resize(struct mt_rx_window *w, void *mem, uint32_t limit);
/* mt_rx_window_place says where psn stands, in 64 bits. REQ(rsp.window.range) */
enum mt_rx_place mt_rx_window_place(const struct mt_rx_window *w, uint64_t psn);
/*
 * mt_rx_window_record records a NEW psn and returns how many messages became complete in order.
 */
uint32_t mt_rx_window_record(struct mt_rx_window *w, uint64_t psn, bool ends_message);
/*
 * mt_rx_window_report chooses the 64 PSNs that the next SACK describes, and marks them reported.
 * The window of PSNs may be 500 times wider than a SACK. When everything ahead of expected fits,
 * it starts there; otherwise SACKs alternate between the newest PSNs not yet reported and a walk
 * over all older ones, so that every hole is named again and again, whatever SACK is lost.
 * REQ(rsp.sack.bitmap-slides)
 */
uint64_t mt_rx_window_report(struct mt_rx_window *w, uint64_t *base);

#endif
