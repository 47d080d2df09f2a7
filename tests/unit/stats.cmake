# SPDX-License-Identifier: BSD-2-Clause
foreach(name stats_copy stats_files stats_reader)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS stats LABELS unit)
endforeach()
softmrc_wrap(unit_stats_reader fdopendir)
