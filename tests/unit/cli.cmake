# SPDX-License-Identifier: BSD-2-Clause
#
# The one command and the training example.
foreach(name cli_gid_text ctl_link dump_capture_reader dump_packet ui_flags ui_text_table ui_text_buffer ui_format_units ui_verb doctor_facts
	doctor_diagnose doctor_report perf_net_health perf_connection perf_latency_histogram perf_peer_link perf_options
	perf_plan perf_report plan_figures plan_emit_formats plan_options plan_report plan_route_tables
	lab_drain_book lab_drain_plan map_result map_session ping_paths ping_round ping_report run_counter_report study_figure study_sweep_grid
	study_html_page study_map study_report_data study_run_result stat_evs stat_exposition stat_http top_ev_row top_json top_view trace_path
	demo_fault_table demo_training_processes demo_loopback_stage demo_options
	demo_outcome demo_rank_report demo_result demo_fault_script demo_machine demo_run_dir demo_summary
	demo_recovery_times demo_ui demo_view demo_counter_sums)
	softmrc_test(unit_${name} SOURCES unit_${name}.c LINKS cli LABELS unit)
endforeach()
softmrc_wrap(unit_perf_peer_link poll)
softmrc_wrap(unit_map_session clock_gettime lab_sleep ui_term_caught ml_lab_netns prober_receive prober_send prober_map
	prober_figures mm_map_judge mm_map_silent)
softmrc_wrap(unit_demo_training_processes waitpid)

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
unit_example(ring_rendezvous ring_rendezvous.c)
unit_example(ring_tcp_fault ring_tcp_fault.c)
unit_example(ring ring.c ring_rendezvous.c)
