# SPDX-License-Identifier: BSD-2-Clause
softmrc_test(prop_plan_walk SOURCES prop_plan_walk.c LINKS cli LABELS property release)
