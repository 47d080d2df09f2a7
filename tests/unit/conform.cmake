# SPDX-License-Identifier: BSD-2-Clause
foreach(name script serve_request udp_link)
	softmrc_test(unit_conform_${name} SOURCES unit_conform_${name}.c LINKS conform LABELS unit)
endforeach()
softmrc_test(unit_conform_run SOURCES unit_conform_run.c ../support/conform_link.c LINKS conform LABELS unit)
# How often a socket that has nothing to say wakes the kit.
softmrc_wrap(unit_conform_udp_link ppoll)
