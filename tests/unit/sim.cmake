# SPDX-License-Identifier: BSD-2-Clause
foreach(name arena frame nic nic_check run workload)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS sim LABELS unit)
endforeach()

foreach(name app graph graph_collective graph_run job words keys labels load_file chakra_collective chakra_groups read_chakra read_cm read_topo read_flows read_goal poisson fault_spans scenario capture)
	softmrc_test(unit_sim_${name} SOURCES unit_sim_${name}.c LINKS sim LABELS unit)
endforeach()

foreach(name chunk order units)
	softmrc_test(unit_sim_${name} SOURCES unit_sim_${name}.c LINKS sim LABELS unit)
endforeach()

# The kernel; sim_net_bed is a small fabric with hosts that follow a script.
softmrc_test(unit_sim_net SOURCES unit_sim_net.c sim_net_bed.c LINKS sim LABELS unit)
softmrc_test(unit_sim_theory SOURCES unit_sim_theory.c sim_net_bed.c LINKS sim m LABELS unit release)

foreach(name dcqcn pfc roce)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS sim LABELS unit)
endforeach()
softmrc_test(unit_routing SOURCES unit_routing.c LINKS sim m LABELS unit)
softmrc_test(unit_sim_steps_measure SOURCES unit_sim_steps_measure.c LINKS sim LABELS unit)
softmrc_test(unit_sim_hashing SOURCES unit_sim_hashing.c LINKS sim m LABELS unit)
softmrc_test(unit_sim_steps SOURCES unit_sim_steps.c LINKS sim m LABELS unit)
