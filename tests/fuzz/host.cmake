# SPDX-License-Identifier: BSD-2-Clause
set(virtual_nic ../support/virtual_nic.c)
softmrc_fuzz(frames SOURCES fuzz_frames.c frames_world.c ../support/packet.c ${virtual_nic} LINKS host
	CORPUS corpus/frames)
# Time and chance are the test's: see tests/support/virtual_nic.h.
target_link_options(fuzz_frames PRIVATE
	LINKER:--wrap=clock_gettime,--wrap=mh_entropy,--wrap=ppoll,--wrap=aligned_alloc,--wrap=free)
softmrc_fuzz(settings SOURCES fuzz_settings.c LINKS host CORPUS corpus/settings)
