# SPDX-License-Identifier: BSD-2-Clause
softmrc_test(prop_fabric_walk SOURCES prop_fabric_walk.c LINKS fabric LABELS property release)
