# SPDX-License-Identifier: BSD-2-Clause
foreach(name sim_arena sim_packet_codec nic sim_nic_check sim_run sim_workload)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS sim LABELS unit)
endforeach()

softmrc_test(unit_sim_job SOURCES unit_sim_job.c LINKS sim LABELS unit release)
foreach(name sim_flow_app sim_graph sim_graph_collective sim_graph_exec sim_tokens
	sim_key_table sim_labels sim_load_file sim_chakra_collective sim_chakra_groups sim_read_chakra
	sim_read_htsim_cm sim_read_htsim_topo sim_read_flows_csv sim_read_goal sim_poisson_flows
	sim_fault_spans sim_scenario sim_frame_capture)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS sim LABELS unit)
endforeach()

foreach(name sim_chunk sim_arrival_order sim_units)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS sim LABELS unit)
endforeach()

# The kernel; sim_net_fixture is a small fabric with hosts that follow a script.
softmrc_test(unit_sim_net SOURCES unit_sim_net.c sim_net_fixture.c LINKS sim LABELS unit)
softmrc_test(unit_sim_theory SOURCES unit_sim_theory.c sim_net_fixture.c LINKS sim m LABELS unit release)

foreach(name sim_dcqcn sim_pfc sim_roce)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS sim LABELS unit)
endforeach()
softmrc_test(unit_sim_routing SOURCES unit_sim_routing.c LINKS sim m LABELS unit)
softmrc_test(unit_sim_step_effects SOURCES unit_sim_step_effects.c LINKS sim LABELS unit)
softmrc_test(unit_sim_ecmp_hashing SOURCES unit_sim_ecmp_hashing.c LINKS sim m LABELS unit)
softmrc_test(unit_sim_step_model SOURCES unit_sim_step_model.c LINKS sim m LABELS unit)
