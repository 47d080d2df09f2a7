# SPDX-License-Identifier: BSD-2-Clause
#
# The one command and the training example.
foreach(name cli_address cli_flags cli_stats cli_table cli_text cli_units cli_verb doctor_facts doctor_judge doctor_show perf_health perf_histogram perf_link perf_options perf_plan
		perf_report plan_figures plan_formats plan_options plan_report plan_tables ping_path ping_round ping_show run_report sim_figure sim_grid sim_page sim_result top_evs top_json top_view
		demo_calibrate demo_cpu demo_faults demo_figures demo_job demo_loopback
		demo_options demo_outcome demo_report demo_result demo_rundir demo_script demo_size
		demo_summary demo_times demo_ui demo_view demo_watch)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS cli LABELS unit)
endforeach()

function(unit_example name)
	list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/examples/)
	softmrc_test(unit_${name} SOURCES unit_${name}.c ${ARGN} LINKS Threads::Threads m LABELS unit)
	target_include_directories(unit_${name} PRIVATE ${PROJECT_SOURCE_DIR}/examples)
endfunction()

unit_example(train_sha256 train_sha256.c)
unit_example(train_text train_text.c)
unit_example(train_model train_model.c train_text.c)
unit_example(train_args train_args.c)
unit_example(train_report train_report.c)
unit_example(ring_env ring_env.c)
unit_example(ring_meet ring_meet.c)
unit_example(ring_tcp_fault ring_tcp_fault.c)
unit_example(ring ring.c ring_meet.c)
