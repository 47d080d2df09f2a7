# SPDX-License-Identifier: BSD-2-Clause
foreach(name script serve_request udp_link)
	softmrc_test(unit_conform_${name} SOURCES unit_conform_${name}.c LINKS conform LABELS unit)
endforeach()
softmrc_test(unit_conform_run SOURCES unit_conform_run.c ../support/conform_link.c LINKS conform LABELS unit)
# How often a socket that has nothing to say wakes the kit.
target_link_options(unit_conform_udp_link PRIVATE LINKER:--wrap=ppoll)
