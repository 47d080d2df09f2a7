# SPDX-License-Identifier: BSD-2-Clause
#
# A NIC of one's own around the engine: sees nothing but <mrc/engine.h> and <mrc/wire.h>.
softmrc_example(own_nic SOURCES own_nic.c LINKS softmrc-engine)
