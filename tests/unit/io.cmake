# SPDX-License-Identifier: BSD-2-Clause
foreach(name af_packet_driver backlog delay_queue io_open nexthop raw41_driver udp_driver)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS io LABELS unit)
endforeach()
foreach(name fake_driver fault_driver capture_driver)
	softmrc_test(unit_${name} SOURCES unit_${name}.c ../support/fake_driver.c LINKS io LABELS unit)
endforeach()
# The test decides when the system has room for a frame, and sees what is connected.
target_link_options(unit_udp_driver PRIVATE LINKER:--wrap=sendmmsg LINKER:--wrap=connect)
# Each call to the system fails in turn, and mappings are counted.
set(opening_calls calloc malloc socket setsockopt bind fdopen ioctl mmap munmap)
list(TRANSFORM opening_calls PREPEND LINKER:--wrap=)
target_link_options(unit_io_open PRIVATE ${opening_calls})
