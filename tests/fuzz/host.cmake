# SPDX-License-Identifier: BSD-2-Clause
set(virtual_nic ../support/virtual_nic.c)
softmrc_fuzz(frames SOURCES fuzz_frames.c frames_world.c ../support/packet.c ${virtual_nic}
	LINKS host TIMEOUT 300 CORPUS corpus/frames)
# Time, chance and large blocks are the test's: see tests/support/virtual_nic.h.
set(virtual_nic_wraps clock_gettime mh_entropy ppoll aligned_alloc free)
softmrc_wrap(fuzz_frames ${virtual_nic_wraps})
softmrc_fuzz(settings SOURCES fuzz_settings.c LINKS host CORPUS corpus/settings)
