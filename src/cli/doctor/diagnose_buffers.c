/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers of sockets: where packets wait while their process does not run. */
#include "cli/doctor/doctor.h"

#include "ui/text.h"

#include <inttypes.h>

/* What a 10 Gb/s link brings while a process waits two ticks of 4 ms, about. */
#define RECEIVE_GOOD (INT64_C(4) << 20)
#define RECEIVE_POOR (INT64_C(1) << 20)
#define SEND_GOOD (INT64_C(1) << 20)

void doctor_diagnose_buffers(const struct doctor_facts *f, struct doctor_findings *out)
{
	int64_t wanted = f->receive_wanted > 0 ? f->receive_wanted : RECEIVE_GOOD;
	char granted[UI_UNITS_MAX], want[UI_UNITS_MAX];
	struct doctor_finding *finding;

	if (f->receive_granted != DOCTOR_UNKNOWN && f->receive_granted >= wanted) {
		doctor_add_finding(out, DOCTOR_GOOD, "receive buffer", "%s%s",
				   ui_units_bytes(granted, (uint64_t)f->receive_granted),
				   f->rmem_max < wanted && f->net_admin ? ", by CAP_NET_ADMIN"
									: "");
	} else if (f->receive_granted != DOCTOR_UNKNOWN) {
		finding = doctor_add_finding(
			out, f->receive_granted < RECEIVE_POOR ? DOCTOR_WARN : DOCTOR_NOTE,
			"receive buffer", "%s, of %s wanted",
			ui_units_bytes(granted, (uint64_t)f->receive_granted),
			ui_units_bytes(want, (uint64_t)wanted));
		doctor_add_reason(finding,
				  "the kernel drops what does not fit while the process waits for "
				  "its core; every drop is retransmitted");
		doctor_fix(finding, "sysctl -w net.core.rmem_max=%" PRId64, wanted);
	}
	if (f->wmem_max == DOCTOR_UNKNOWN || f->wmem_max >= SEND_GOOD || f->net_admin)
		return;
	finding = doctor_add_finding(out, DOCTOR_NOTE, "send buffer", "net.core.wmem_max is %s",
				     ui_units_bytes(granted, (uint64_t)f->wmem_max));
	doctor_add_reason(finding,
			  "runs of packets are cut when the socket holds no more, and sending "
			  "costs more calls");
	doctor_fix(finding, "sysctl -w net.core.wmem_max=%" PRId64, SEND_GOOD);
}
