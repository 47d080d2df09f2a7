# SPDX-License-Identifier: BSD-2-Clause
#
# libmrc and the libibverbs device over real sockets on loopback.
foreach(name api_locks cancel ctl ctl_bounds ctl_profiles devices meet objects qp post events verbs verbs_qp verbs_ud)
	softmrc_test(live_${name} SOURCES live_${name}.c live_fixture.c LINKS libibverbs libmrc Threads::Threads
		LABELS live release TIMEOUT 180)
endforeach()
foreach(name endpoint meet_calls meet_wait)
	softmrc_test(live_${name} SOURCES live_${name}.c LINKS libibverbs libmrc Threads::Threads
		LABELS live release TIMEOUT 180)
endforeach()
foreach(name verbs_bounds verbs_change verbs_cq verbs_ex verbs_mw verbs_ops verbs_query verbs_srq verbs_states verbs_status
	verbs_uc)
	softmrc_test(live_${name} SOURCES live_${name}.c verbs_fixture.c ../support/held_mutexes.c
		LINKS libibverbs libmrc Threads::Threads LABELS live release TIMEOUT 180)
endforeach()
softmrc_test(live_node SOURCES live_node.c live_fixture.c LINKS libibverbs libmrc store Threads::Threads
	LABELS live release TIMEOUT 180)
softmrc_test(live_watched SOURCES live_watched.c LINKS libibverbs libmrc Threads::Threads LABELS live release TIMEOUT 180)
softmrc_test(live_group SOURCES live_group.c LINKS softmrc-group libibverbs libmrc Threads::Threads
	LABELS live TIMEOUT 180)
softmrc_test(live_limits SOURCES live_limits.c LINKS libibverbs Threads::Threads LABELS live release TIMEOUT 180)
# These stand before the C library for all that the test links.
set_target_properties(live_meet_calls PROPERTIES ENABLE_EXPORTS ON)
softmrc_test(live_failing_calls SOURCES live_failing_calls.c failing_calls.c device_life.c
	LINKS libibverbs libmrc Threads::Threads ${CMAKE_DL_LIBS} LABELS live release TIMEOUT 1800)
set_target_properties(live_failing_calls PROPERTIES ENABLE_EXPORTS ON)
# Sanitizers call it before they are ready themselves; and it defines what others check or inline.
set_source_files_properties(failing_calls.c PROPERTIES
	COMPILE_OPTIONS "-fno-sanitize=all;-U_FORTIFY_SOURCE")
softmrc_test(live_verbs_every SOURCES live_verbs_every.c verbs_fixture.c LINKS libibverbs libmrc Threads::Threads
	LABELS live release TIMEOUT 60 ARGS -- ${PROJECT_SOURCE_DIR}/src/libibverbs/libibverbs.map)
softmrc_test(live_examples SOURCES live_examples.c LABELS live release TIMEOUT 180
	ARGS -- $<TARGET_FILE_DIR:softmrc-example-hello>)
add_dependencies(live_examples softmrc-example-hello softmrc-example-write_bw
	softmrc-example-allreduce)
# Programs load it first; tests/compat has it, too.
add_library(fast_clock MODULE EXCLUDE_FROM_ALL fast_clock.c)
target_link_libraries(fast_clock PRIVATE softmrc_os_flags)
set_target_properties(fast_clock PROPERTIES C_VISIBILITY_PRESET default
	LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
softmrc_test(live_programs SOURCES live_programs.c LABELS live TIMEOUT 300
	ARGS -- $<TARGET_FILE_DIR:softmrc-libibverbs> "${runtime}:$<TARGET_FILE:fast_clock>")
add_dependencies(live_programs softmrc-libibverbs fast_clock)
# rdma-core's own tests over the drop-in.
find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
softmrc_command_test(live_pyverbs LABELS live release TIMEOUT 600 COMMAND ${Python3_EXECUTABLE} -B
	${CMAKE_CURRENT_SOURCE_DIR}/pyverbs/suite.py $<TARGET_FILE_DIR:softmrc-libibverbs> ${runtime})
softmrc_test(live_killed SOURCES live_killed.c LINKS libibverbs Threads::Threads LABELS live release TIMEOUT 3600)
# It loads the drop-in itself.
softmrc_test(live_nccl SOURCES live_nccl.c LINKS Threads::Threads ${CMAKE_DL_LIBS} LABELS live release TIMEOUT 180
	ARGS -- $<TARGET_FILE:softmrc-libibverbs>)
add_dependencies(live_nccl softmrc-libibverbs)
# Real devices beside mrc0: libraries that stand for the system's own, and a driver of theirs.
function(softmrc_fake_ibverbs name dir)
	add_library(${name} SHARED EXCLUDE_FROM_ALL real/fake_ibverbs.c)
	target_compile_definitions(${name} PRIVATE _GNU_SOURCE ${ARGN})
	target_compile_options(${name} PRIVATE -Wno-unused-parameter -Wno-missing-prototypes)
	target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
	target_link_libraries(${name} PRIVATE softmrc_flags ${CMAKE_DL_LIBS})
	target_link_options(${name} PRIVATE
		LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/real/fake.map)
	set_target_properties(${name} PROPERTIES OUTPUT_NAME ibverbs VERSION 1 SOVERSION 1
		C_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${dir})
endfunction()
softmrc_fake_ibverbs(fake_ibverbs real)
softmrc_fake_ibverbs(fake_ibverbs_old real/old FAKE_OLD)
add_library(fake_provider MODULE EXCLUDE_FROM_ALL real/fake_provider.c)
target_include_directories(fake_provider PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(fake_provider PRIVATE softmrc_flags fake_ibverbs)
set_target_properties(fake_provider PROPERTIES OUTPUT_NAME fake-rdmav34 SKIP_BUILD_RPATH ON
	LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/real)
softmrc_test(live_real SOURCES live_real.c verbs_fixture.c ../support/held_mutexes.c LINKS libibverbs libmrc Threads::Threads ${CMAKE_DL_LIBS}
	LABELS live release TIMEOUT 180
	ARGS -- $<TARGET_FILE_DIR:fake_ibverbs> $<TARGET_FILE_DIR:fake_ibverbs_old>)
add_dependencies(live_real fake_ibverbs fake_ibverbs_old fake_provider)
softmrc_test(live_fork_locks SOURCES live_fork_locks.c LINKS libibverbs libmrc Threads::Threads ${CMAKE_DL_LIBS}
	LABELS live release TIMEOUT 300 ARGS -- $<TARGET_FILE_DIR:fake_ibverbs>)
add_dependencies(live_fork_locks fake_ibverbs)
# These stand before the C library for all that the test links.
set_target_properties(live_fork_locks PROPERTIES ENABLE_EXPORTS ON)
# The essentials once more under valgrind, which is none of the sanitizers: make check-full.
if(NOT SOFTMRC_SANITIZE)
	foreach(name events objects post qp verbs verbs_ex verbs_mw verbs_srq verbs_ud)
		softmrc_command_test(memcheck_${name} LABELS live memcheck TIMEOUT 900 COMMAND
			${PROJECT_SOURCE_DIR}/tests/support/memcheck $<TARGET_FILE:live_${name}>)
	endforeach()
endif()
# The module for Python, which loads the libraries as they are installed: without sanitizers.
if(NOT SOFTMRC_SANITIZE AND NOT SOFTMRC_FUZZ)
	softmrc_command_test(live_python LABELS live release TIMEOUT 120 COMMAND /usr/bin/python3 -B
		${CMAKE_CURRENT_SOURCE_DIR}/python_module.py ${SOFTMRC_OUTPUT_DIR}/lib/softmrc/python
		${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/include)
endif()
