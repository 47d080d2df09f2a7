# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(drivers SOURCES fuzz_drivers.c LINKS io CORPUS corpus/drivers)
# What a kernel does is up to the input.
set(wraps socket setsockopt getsockopt bind connect sendmmsg recvmmsg send mmap)
list(TRANSFORM wraps PREPEND LINKER:--wrap=)
target_link_options(fuzz_drivers PRIVATE ${wraps})
