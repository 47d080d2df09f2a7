# SPDX-License-Identifier: BSD-2-Clause
foreach(name probe_book probe_evidence probe_packet probe_spare probe_streams probe_turns)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS prober LABELS unit)
endforeach()
