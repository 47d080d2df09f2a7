# SPDX-License-Identifier: BSD-2-Clause
foreach(name pool serial timer)
	softmrc_test(prop_${name} SOURCES prop_${name}.c LINKS base LABELS property release)
endforeach()
foreach(name every nscc ev_set rx_window spray tx_window)
	softmrc_test(prop_${name} SOURCES prop_${name}.c LINKS core LABELS property release)
endforeach()
softmrc_test(prop_local SOURCES prop_local_wr.c ../support/node.c ../support/engine_node.c
	LINKS core LABELS property release)
