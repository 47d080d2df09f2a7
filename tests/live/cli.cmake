# SPDX-License-Identifier: BSD-2-Clause
#
# The training job over MRC and TCP, and the demo as a whole, small.
softmrc_test(live_train SOURCES live_train.c LABELS live release TIMEOUT 180
	ARGS -- $<TARGET_FILE:softmrc-example-train>)
add_dependencies(live_train softmrc-example-train)
softmrc_test(live_demo SOURCES live_demo.c LINKS softmrc_jansson LABELS live release TIMEOUT 600
	ARGS -- $<TARGET_FILE:softmrc-program-mrc>)
add_dependencies(live_demo softmrc-program-mrc softmrc-example-train softmrc-example-write_bw)
softmrc_test(live_run SOURCES live_run.c LABELS live release TIMEOUT 120
	ARGS -- $<TARGET_FILE:softmrc-program-mrc> $<TARGET_FILE_DIR:softmrc-example-write_bw>
	${PROJECT_SOURCE_DIR}/examples/pyverbs_write.py "${runtime}")
add_dependencies(live_run softmrc-program-mrc softmrc-libibverbs softmrc-example-write_bw)
# A program linked to libmlx5, which Debian's libibverbs-dev has.
find_library(MLX5_LIBRARY mlx5)
set(ask_mlx5 none)
if(MLX5_LIBRARY)
	add_executable(ask_mlx5 EXCLUDE_FROM_ALL real/ask_mlx5.c)
	target_link_libraries(ask_mlx5 PRIVATE softmrc_flags ${MLX5_LIBRARY} softmrc-libibverbs)
	set_target_properties(ask_mlx5 PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/real)
	set(ask_mlx5 $<TARGET_FILE:ask_mlx5>)
endif()
softmrc_test(live_run_real SOURCES live_run_real.c LABELS live release TIMEOUT 120
	ARGS -- $<TARGET_FILE:softmrc-program-mrc> ${ask_mlx5} ${runtime})
add_dependencies(live_run_real softmrc-program-mrc softmrc-libibverbs)
if(MLX5_LIBRARY)
	add_dependencies(live_run_real ask_mlx5)
endif()
softmrc_test(live_stat SOURCES live_stat.c LINKS host LABELS live TIMEOUT 120
	ARGS -- $<TARGET_FILE:softmrc-program-mrc>)
add_dependencies(live_stat softmrc-program-mrc)
softmrc_test(live_cli SOURCES live_cli.c live_program.c LINKS softmrc_jansson LABELS live release TIMEOUT 120
	ARGS -- $<TARGET_FILE:softmrc-program-mrc>)
add_dependencies(live_cli softmrc-program-mrc)
softmrc_test(live_plan SOURCES live_plan.c LINKS softmrc_jansson
	LABELS live release TIMEOUT 120 ARGS -- $<TARGET_FILE:softmrc-program-mrc> ${PROJECT_SOURCE_DIR}/docs/plan.md)
add_dependencies(live_plan softmrc-program-mrc)
softmrc_test(live_sim SOURCES live_sim.c LINKS softmrc_jansson LABELS live release TIMEOUT 240
	ARGS -- $<TARGET_FILE:softmrc-program-mrc> ${PROJECT_SOURCE_DIR}/docs/simulator.md)
add_dependencies(live_sim softmrc-program-mrc)
if(mrcd IN_LIST SOFTMRC_MODULES_BUILT)
	# The day of an operator: with the example everywhere, with perftest where it needs no sanitizer.
	find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
	set(day ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/mrcd_day.py $<TARGET_FILE:softmrc-program-mrc>
		$<TARGET_FILE:softmrc-program-mrcd>)
	softmrc_command_test(live_mrcd_day LABELS live release TIMEOUT 180
		COMMAND ${day} $<TARGET_FILE:softmrc-example-write_bw>)
	if(NOT SOFTMRC_SANITIZE)
		softmrc_command_test(live_mrcd_day_perftest LABELS live release TIMEOUT 120 COMMAND ${day} ib_write_bw)
	endif()
	softmrc_command_test(mrcd_unit LABELS unit COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/mrcd_unit.py
		$<TARGET_FILE:softmrc-program-mrcd> ${PROJECT_BINARY_DIR}/packaging/mrcd.service ${PROJECT_SOURCE_DIR}/packaging/mrcd.toml)
	softmrc_test(live_mrcd SOURCES live_mrcd.c LINKS mrcd LABELS live TIMEOUT 120)
	foreach(name live_ctl_expansion live_ctl_shared live_hints)
		set(app "")
		if(name MATCHES live_ctl)
			set(app live_ctl_app.c)
		endif()
		softmrc_test(${name} SOURCES ${name}.c ${app} live_daemon.c live_fixture.c LINKS libibverbs libmrc Threads::Threads
			LABELS live release TIMEOUT 180 ARGS -- $<TARGET_FILE:softmrc-program-mrcd>)
		add_dependencies(${name} softmrc-program-mrcd)
	endforeach()
endif()
softmrc_test(live_conform SOURCES live_conform.c live_program.c LINKS softmrc_jansson
	LABELS live TIMEOUT 120 ARGS -- $<TARGET_FILE:softmrc-program-mrc>)
add_dependencies(live_conform softmrc-program-mrc)
