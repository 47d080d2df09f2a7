# SPDX-License-Identifier: BSD-2-Clause
foreach(name negotiation cc_none cc_nscc cc_profile control ep_table probe_table in_order loss lost_log names ev_set ev_many
	peer_port local_port liveness backpressure recv_queue core_pace rto reorder slowest flight spray_flight rnr rtt rx_window sack senders spray srq
	tx_window imm_stash wq)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS core LABELS unit)
endforeach()
# These need an engine around what they test. mr.c and qp.c exist in two modules.
foreach(name rd_atomic_responder rd_atomic_requester completer completer_ack completer_cc completer_loss
	completer_match config
	control_emit core_mr core_qp qp_flight endpoint engine engine_ports engine_rx engine_tx qp_memory local_wr
	mw engine_profiles ev_sets port_notify port_status qp_modify requester requester_ext responder responder_acks
	rd_atomic responder_ext reverse_ev ev_probes probe_budget send_inv srq_qp uplink)
	softmrc_test(unit_${name}
		SOURCES unit_${name}.c ../support/node.c ../support/engine_node.c
		LINKS core LABELS unit)
endforeach()
