# SPDX-License-Identifier: BSD-2-Clause
foreach(name bits bytes list suggest pcapng pool prng quantity serial timer toml)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS base LABELS unit)
endforeach()
