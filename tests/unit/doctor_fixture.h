/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor_fixture.h - the facts of a machine on which nothing is wrong. */
#ifndef UNIT_DOCTOR_FIXTURE_H
#define UNIT_DOCTOR_FIXTURE_H

#include "cli/doctor/doctor.h"

#include <string.h>

static struct doctor_findings fixture_all;

static inline struct doctor_facts fixture_healthy(void)
{
	struct doctor_facts f = {
		.statistics = true,
		.loopback_up = true,
		.ports = 2,
		.udp_first = 4791,
		.rmem_max = 8 << 20,
		.wmem_max = 8 << 20,
		.receive_granted = 4 << 20,
		.receive_wanted = 4 << 20,
		.net_raw = true,
		.net_admin = true,
		.rxq_ovfl = true,
		.udp_gso = true,
		.udp_gro = true,
		.seg6 = true,
		.cores = 8,
		.hz = 1000,
		.timer_slack_ns = 50000,
		.memlock = INT64_MAX,
		.open_files = 1024,
		.evs = 8,
	};

	for (uint32_t i = 0; i < f.ports; i++)
		f.port[i] = (struct doctor_port){.address = "10.0.0.1",
						 .interface = "eth0",
						 .up = true,
						 .mtu = 9000,
						 .rp_filter = 2,
						 .accept_local = 1,
						 .echo = {.sent = 8, .received = 8}};
	return f;
}

/* The finding of this subject that is worse than good, or fails. */
static inline const struct doctor_finding *fixture_finding(const struct doctor_facts *f,
							   const char *subject)
{
	doctor_diagnose(f, &fixture_all);
	for (size_t i = 0; i < fixture_all.n; i++)
		if (fixture_all.finding[i].severity != DOCTOR_GOOD &&
		    strcmp(fixture_all.finding[i].subject, subject) == 0)
			return &fixture_all.finding[i];
	fail_msg("nothing was found about %s", subject);
	return NULL;
}

/* Severity of the only thing that is wrong, and the command that fixes it. */
static inline void fixture_expect(const struct doctor_facts *f, const char *subject,
				  enum doctor_severity severity, const char *fix)
{
	const struct doctor_finding *finding = fixture_finding(f, subject);

	assert_int_equal(finding->severity, severity);
	assert_true(finding->why[0] != '\0');
	assert_string_equal(finding->fix, fix);
	assert_int_equal(doctor_worst(&fixture_all), severity);
}

#endif
