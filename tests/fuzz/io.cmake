# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(drivers SOURCES fuzz_drivers.c LINKS io CORPUS corpus/drivers)
# What a kernel does is up to the input.
softmrc_wrap(fuzz_drivers socket setsockopt getsockopt bind connect sendmmsg recvmmsg send mmap)
