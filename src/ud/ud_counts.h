/* SPDX-License-Identifier: BSD-2-Clause */
/* ud_counts.h - what the UD engine counts. */
#ifndef SOFTMRC_UD_UD_COUNTS_H
#define SOFTMRC_UD_UD_COUNTS_H

#include <stdint.h>

#define MU_COUNTS(X)                                                                 \
	X(ud_tx, "datagrams sent by UD and UC QPs")                                  \
	X(ud_tx_bytes, "payload bytes of these")                                     \
	X(ud_tx_unsent, "datagrams not sent: too long, or no port was up")           \
	X(ud_rx, "datagrams received by UD and UC QPs")                              \
	X(ud_rx_bytes, "payload bytes of these")                                     \
	X(ud_drop_corrupt, "datagrams dropped: bad ICRC, or cut by a switch")        \
	X(ud_drop_malformed, "datagrams dropped: headers, pad or length wrong")      \
	X(ud_drop_no_qp, "datagrams dropped: no UD or UC QP there that may receive") \
	X(ud_drop_key, "datagrams dropped: wrong Q_Key, P_Key or peer")              \
	X(ud_drop_no_recv, "datagrams dropped: no receive was posted")               \
	X(ud_drop_recv_too_short, "datagrams dropped: longer than the receive")      \
	X(ud_evs_retired, "EVs that datagrams left after unanswered probes")         \
	X(ud_evs_revived, "EVs that datagrams took again after answered probes")

struct mu_counts {
#define MU_COUNTS_FIELD(name, text) uint64_t name;
	MU_COUNTS(MU_COUNTS_FIELD)
#undef MU_COUNTS_FIELD
};

#endif
