# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(sim_readers SOURCES fuzz_sim_readers.c LINKS sim CORPUS corpus/sim_readers)
softmrc_fuzz(sim_scenario SOURCES fuzz_sim_scenario.c LINKS sim CORPUS corpus/sim_scenario)
softmrc_fuzz(sim_traces SOURCES fuzz_sim_traces.c LINKS sim CORPUS corpus/sim_traces)
