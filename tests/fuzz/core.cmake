# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(engine SOURCES fuzz_engine.c engine_world.c engine_model.c ../support/engine_node.c
	LINKS core CORPUS corpus/engine)
