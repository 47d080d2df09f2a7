/* SPDX-License-Identifier: BSD-2-Clause */
/* run_to_end.h - a run of the simulator to its end, where everything must be well. */
#ifndef PROPERTY_RUN_TO_END_H
#define PROPERTY_RUN_TO_END_H

#include "support/test.h"

#include "sim/run/sim_run.h"

/* In steps of step_ps; sums are those of all NICs at the end, or NULL. */
static inline struct ms_run_result run_to_end(const struct ms_run_cfg *cfg, uint64_t step_ps,
					      struct ms_nic_sums *sums)
{
	char why[MS_WHY_BYTES];
	struct ms_run *run = ms_run_create(cfg, why);
	struct ms_run_result r;
	enum ms_run_state state;

	assert_string_equal(why, "");
	do
		state = ms_run_step(run, step_ps);
	while (state == MS_RUN_RUNNING);
	assert_true(ms_run_result(run, &r));
	for (uint32_t i = 0; state != MS_RUN_DONE && i < r.flows; i++)
		if (ms_run_describe_wait(run, i, why, sizeof(why)))
			print_message("%s\n", why);
	assert_i_eq(state, MS_RUN_DONE);
	if (ms_nics_violation(run->nics))
		fail_msg("%s", ms_nics_violation(run->nics));
	assert_u_eq(r.violations + r.flows_unfinished + r.flows_failed, 0);
	assert_u_eq(r.net.waiting + r.net.flying, 0);
	if (sums)
		ms_nics_sums(run->nics, sums);
	ms_run_destroy(run);
	return r;
}

#endif
