# SPDX-License-Identifier: BSD-2-Clause
foreach(name
	agree
	cc_none
	cc_nscc
	cc_profile
	control
	ep_table
	in_order
	loss
	names
	path_set
	planes
	port
	presence
	pressure
	recv_queue
	retry
	rnr
	rtt
	rx_window
	sack
	spray
	srq
	tx_window
	wimm
	wq)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS core LABELS unit)
endforeach()
# These need an engine around what they test. mr.c and qp.c exist in two rooms.
foreach(name
	request
	response
	completer
	completer_loss
	config
	control_emit
	core_mr
	core_qp
	endpoint
	engine
	engine_ports
	engine_rx
	engine_tx
	memory
	paths
	peer
	peer_ports
	qp_modify
	requester
	responder
	responder_answers
	reverse
	)
	softmrc_test(unit_${name}
		SOURCES unit_${name}.c ${PROJECT_SOURCE_DIR}/tests/support/node.c
		LINKS core LABELS unit)
endforeach()
