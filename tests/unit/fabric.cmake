# SPDX-License-Identifier: BSD-2-Clause
foreach(name plan plan_failures plan_loss plan_rates)
	softmrc_test(unit_fabric_${name} SOURCES unit_fabric_${name}.c LINKS fabric LABELS unit)
endforeach()
softmrc_test(unit_host_config SOURCES unit_host_config.c LINKS fabric host LABELS unit)
