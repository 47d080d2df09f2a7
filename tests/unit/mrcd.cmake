# SPDX-License-Identifier: BSD-2-Clause
if(mrcd IN_LIST SOFTMRC_MODULES_BUILT)
	foreach(name md_args md_config md_hints md_notes md_offer md_policy md_request md_peer md_subuid md_users)
		softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS mrcd LABELS unit)
	endforeach()
	softmrc_wrap(unit_md_subuid fopen)
endif()
