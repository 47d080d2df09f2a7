/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.h - the engine's counters, as one list from which struct, names and printers are made. */
#ifndef SOFTMRC_CORE_STATS_H
#define SOFTMRC_CORE_STATS_H

#include <stdint.h>

#define MT_STATS(X)                                                                            \
	X(tx_data_packets, "data packets sent, retransmissions included")                      \
	X(tx_data_bytes, "payload bytes sent, retransmissions included")                       \
	X(tx_retransmits, "data packets sent again")                                           \
	X(tx_sacks, "SACKs sent")                                                              \
	X(tx_acks, "transport ACKs and NAKs sent")                                             \
	X(tx_nacks, "reliability NACKs sent")                                                  \
	X(tx_no_room, "times that a QP with data found no port with room that it may use")     \
	X(tx_probes, "reliability probes sent")                                                \
	X(probes_refused, "probes not sent because too many were outstanding")                 \
	X(rx_data_packets, "data packets accepted as new")                                     \
	X(rx_data_bytes, "payload bytes placed")                                               \
	X(rx_duplicates, "data packets that had arrived before")                               \
	X(rx_trimmed, "data packets cut by a switch")                                          \
	X(rx_ecn, "data packets marked congestion-experienced")                                \
	X(rx_sacks, "SACKs received")                                                          \
	X(rx_acks, "transport ACKs and NAKs received")                                         \
	X(rx_nacks, "reliability NACKs received")                                              \
	X(rx_probes, "reliability probes received")                                            \
	X(lost_inferred, "packets found lost by a SACK")                                       \
	X(losses_spurious, "of these, packets that arrived after all, but late")               \
	X(rx_requests, "READs and atomics executed for peers")                                 \
	X(rnr_waits, "packets for which the responder had no receive yet")                     \
	X(rnr_nacks, "packets refused because no receive was posted")                          \
	X(nacks_stale, "NACKs for no transmission that is outstanding")                        \
	X(acks_stale, "SACKs and ACKs for PSNs of more than a window ago")                     \
	X(nack_backoffs, "packets held back because the responder refused them")               \
	X(lost_timeout, "packets sent again because of a timeout")                             \
	X(timeouts, "ACK timeouts")                                                            \
	X(tail_probes, "probes sent because of silence")                                       \
	X(reverse_ev_probes, "probes sent to test a return path for answers")                  \
	X(tx_ep_requests, "endpoint requests sent")                                            \
	X(tx_ep_responses, "endpoint responses sent")                                          \
	X(rx_ep_requests, "endpoint requests received")                                        \
	X(rx_ep_responses, "endpoint responses that answered a request")                       \
	X(ep_timeouts, "endpoint requests without an answer in time")                          \
	X(drop_ep_response, "endpoint responses to nothing that was asked")                    \
	X(drop_unknown_sender, "endpoint requests of unknown senders beyond their rate")       \
	X(evs_retired, "EVs that became ASSUMED_BAD")                                          \
	X(evs_revived, "EVs that became GOOD after successful probes")                         \
	X(evs_hinted, "EVs that were probed before their first use, as others found them bad") \
	X(peer_ports_abandoned, "planes left because a peer's port is down")                   \
	X(peer_ports_restored, "planes in use again because something was answered")           \
	X(uplinks_left, "local ports left because nothing sent on them was answered")          \
	X(uplinks_restored, "local ports in use again because a probe was answered")           \
	X(evs_skipped, "EVs skipped once")                                                     \
	X(ev_events_dropped, "EV and port events for which the ring was full")                 \
	X(control_dropped, "control packets dropped because too many were waiting")            \
	X(rx_overflows, "received packets that the adapter had no buffer for")                 \
	X(drop_decode, "packets that do not decode")                                           \
	X(drop_icrc, "packets with a wrong ICRC")                                              \
	X(drop_endpoint, "endpoint operations that are not known")                             \
	X(drop_no_qp, "packets for a QP that is not there")                                    \
	X(drop_src_mismatch, "packets from an address that is not the QP's peer")              \
	X(drop_qp_state, "packets for a QP that may not receive them")                         \
	X(drop_p_key, "packets of another partition")                                          \
	X(drop_old_psn, "packets too far behind the window")                                   \
	X(drop_far_psn, "packets ahead of the window")                                         \
	X(drop_no_buffer, "data packets that must wait, as too many do already")               \
	X(drop_no_memory, "data packets for which no window could be had")                     \
	X(drop_malformed, "packets whose fields contradict each other")                        \
	X(drop_bogus_ack, "SACKs, NACKs and ACKs for what was never sent")                     \
	X(drop_context_ids, "SACKs and NACKs whose context ids name other QPs")                \
	X(rx_access_errors, "packets refused by rkey, bounds or access rights")

struct mt_stats {
#define MT_STATS_FIELD(name, text) uint64_t name;
	MT_STATS(MT_STATS_FIELD)
#undef MT_STATS_FIELD
};

#endif
