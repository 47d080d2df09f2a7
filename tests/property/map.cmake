# SPDX-License-Identifier: BSD-2-Clause
softmrc_test(prop_map SOURCES prop_map.c map_world.c LINKS map LABELS property release)
