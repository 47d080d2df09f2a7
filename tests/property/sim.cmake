# SPDX-License-Identifier: BSD-2-Clause
softmrc_test(prop_sim_net SOURCES prop_sim_net.c sim_reference.c LINKS sim LABELS property release)
