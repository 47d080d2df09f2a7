# SPDX-License-Identifier: BSD-2-Clause
# Its threads meet at barriers: on a busy machine that takes several times as long.
softmrc_test(prop_sim_net SOURCES prop_sim_net.c sim_world.c sim_reference.c LINKS sim
	LABELS property release TIMEOUT 300)

softmrc_test(prop_run SOURCES prop_run.c LINKS sim LABELS property release)

softmrc_test(prop_roce SOURCES prop_roce.c LINKS sim LABELS property release)

# Several processes: mpirun starts sim_ranks_node, which finds the library that speaks MPI in lib/ beside its folder.
set(arg_SOURCES sim_ranks_node.c sim_world.c sim_reference.c)
set(arg_LINKS sim softmrc-test-support)
softmrc_test_binary(sim_ranks_node)
set_target_properties(sim_ranks_node PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${SOFTMRC_OUTPUT_DIR}/tests)
softmrc_test(prop_sim_ranks SOURCES prop_sim_ranks.c LABELS property release TIMEOUT 300)
target_compile_definitions(prop_sim_ranks PRIVATE NODE="$<TARGET_FILE:sim_ranks_node>"
	MPIRUN="$<$<TARGET_EXISTS:softmrc-sim-mpi>:${MPIEXEC_EXECUTABLE}>")
add_dependencies(prop_sim_ranks sim_ranks_node)
if(TARGET softmrc-sim-mpi)
	add_dependencies(sim_ranks_node softmrc-sim-mpi)
endif()
if(SOFTMRC_SANITIZE STREQUAL "thread")
	# Where threads are looked at, what else is random is left out; this is not.
	foreach(pair sim_net=prop_sim_net sim_run=prop_run sim_roce=prop_roce)
		string(REGEX MATCH "^(.*)=(.*)$" pair ${pair})
		softmrc_command_test(threads_${CMAKE_MATCH_1} LABELS long TIMEOUT 900
			COMMAND ${CMAKE_MATCH_2})
	endforeach()
endif()
