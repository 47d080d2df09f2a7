# SPDX-License-Identifier: BSD-2-Clause
foreach(name bits bytes suggest pcapng pool prng quantity serial timer toml)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS base LABELS unit)
endforeach()
# What a compiler makes of loops over lists depends on how hard it optimises.
softmrc_test(unit_list SOURCES unit_list.c LINKS base LABELS unit release)
