/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings in general: see doctor.h. */
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

const char *doctor_severity_name(enum doctor_severity severity)
{
	static const char *const name[] = {"good", "note", "warning", "failure"};

	return name[severity];
}

struct doctor_finding *doctor_add_finding(struct doctor_findings *out,
					  enum doctor_severity severity, const char *subject,
					  const char *text, ...)
{
	struct doctor_finding *finding;
	va_list args;

	if (out->n < DOCTOR_FINDINGS_MAX)
		out->n++;
	finding = &out->finding[out->n - 1];
	*finding = (struct doctor_finding){.severity = severity};
	snprintf(finding->subject, sizeof(finding->subject), "%s", subject);
	va_start(args, text);
	vsnprintf(finding->text, sizeof(finding->text), text, args);
	va_end(args);
	return finding;
}

void doctor_add_reason(struct doctor_finding *finding, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	vsnprintf(finding->why, sizeof(finding->why), text, args);
	va_end(args);
}

void doctor_fix(struct doctor_finding *finding, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	vsnprintf(finding->fix, sizeof(finding->fix), text, args);
	va_end(args);
}

enum doctor_severity doctor_worst(const struct doctor_findings *all)
{
	enum doctor_severity worst = DOCTOR_GOOD;

	for (size_t i = 0; i < all->n; i++)
		if (all->finding[i].severity > worst)
			worst = all->finding[i].severity;
	return worst;
}

void doctor_diagnose(const struct doctor_facts *f, struct doctor_findings *out)
{
	out->n = 0;
	doctor_diagnose_ports(f, out);
	doctor_diagnose_buffers(f, out);
	doctor_diagnose_kernel(f, out);
	doctor_diagnose_srv6(f, out);
	doctor_diagnose_process(f, out);
}
