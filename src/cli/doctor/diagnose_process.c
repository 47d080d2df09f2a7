/* SPDX-License-Identifier: BSD-2-Clause */
/* Rights, limits and cores of a process. */
#include "cli/doctor/doctor.h"

#include "ui/text.h"

#include <inttypes.h>

#define SLACK_DEFAULT_NS 50000
/* A QP's queues and buffers of packets, not registered memory, which nobody locks. */
#define MEMLOCK_GOOD (INT64_C(64) << 20)
/* Besides sockets: files of the program itself. */
#define FILES_SPARE 32

static void judge_right(bool there, const char *subject, const char *lost,
			struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (there) {
		doctor_add_finding(out, DOCTOR_GOOD, subject, "this process has it");
		return;
	}
	finding = doctor_add_finding(out, DOCTOR_NOTE, subject, "this process does not have it");
	doctor_add_reason(finding, "%s", lost);
}

static void judge_cores(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (f->cores >= 4) {
		doctor_add_finding(out, DOCTOR_GOOD, "cores", "%" PRId64, f->cores);
		return;
	}
	finding = doctor_add_finding(out, f->cores < 2 ? DOCTOR_WARN : DOCTOR_NOTE, "cores",
				     "%" PRId64, f->cores);
	doctor_add_reason(finding,
			  "a program and its progress thread share them with the kernel's network "
			  "work; when all are busy answers come late by ticks, which looks like "
			  "loss");
}

static void judge_files(const struct doctor_facts *f, struct doctor_findings *out)
{
	int64_t wanted = (int64_t)f->ports * ((int64_t)f->evs + 1) + FILES_SPARE;
	struct doctor_finding *finding;

	if (f->open_files == DOCTOR_UNKNOWN)
		return;
	if (f->open_files >= wanted) {
		doctor_add_finding(out, DOCTOR_GOOD, "open files", "enough for a socket an EV");
		return;
	}
	finding = doctor_add_finding(out, DOCTOR_FAIL, "open files",
				     "%" PRId64 " at most, %" PRId64 " wanted", f->open_files,
				     wanted);
	doctor_add_reason(finding, "the device has a socket for each EV of each port");
	doctor_fix(finding, "ulimit -n %" PRId64, 2 * wanted);
}

static void judge_memlock(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;
	char text[UI_UNITS_MAX];

	if (f->memlock == DOCTOR_UNKNOWN || f->memlock >= MEMLOCK_GOOD) {
		doctor_add_finding(out, DOCTOR_GOOD, "locked memory", "enough");
		return;
	}
	finding = doctor_add_finding(out, DOCTOR_NOTE, "locked memory", "%s at most",
				     ui_units_bytes(text, (uint64_t)f->memlock));
	doctor_add_reason(finding,
			  "registered memory is not locked, so nothing here needs more; programs "
			  "that lock buffers themselves may");
	doctor_fix(finding, "ulimit -l unlimited");
}

static void judge_slack(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (f->timer_slack_ns == DOCTOR_UNKNOWN || f->timer_slack_ns <= SLACK_DEFAULT_NS)
		return;
	finding = doctor_add_finding(out, DOCTOR_NOTE, "timer slack", "%" PRId64 " ns",
				     f->timer_slack_ns);
	doctor_add_reason(finding,
			  "threads of the program wake later by that; the device's own thread "
			  "sets it to 1 ns for itself");
}

static void judge_statistics(const struct doctor_facts *f, struct doctor_findings *out)
{
	struct doctor_finding *finding;

	if (f->device_error[0])
		return;
	if (f->statistics) {
		doctor_add_finding(out, DOCTOR_GOOD, "statistics", "mrc top can see processes");
		return;
	}
	finding = doctor_add_finding(out, DOCTOR_NOTE, "statistics", "cannot be published");
	doctor_add_reason(finding, "mrc top sees nothing, mrc perf cannot tell losses");
	doctor_fix(finding, "export MRC_STATS_DIR=/tmp");
}

void doctor_diagnose_process(const struct doctor_facts *f, struct doctor_findings *out)
{
	judge_right(f->net_admin, "CAP_NET_ADMIN",
		    "receive buffers end at net.core.rmem_max; ports and routes cannot be changed",
		    out);
	judge_right(f->net_raw, "CAP_NET_RAW",
		    "drivers on raw and packet sockets are not to be had; UDP ports need no rights",
		    out);
	judge_cores(f, out);
	judge_files(f, out);
	judge_memlock(f, out);
	judge_slack(f, out);
	judge_statistics(f, out);
}
