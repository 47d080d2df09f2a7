/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of programs on hosts: see lab.h. */
#include "fabric/usid.h"
#include "lab/ip_batch.h"
#include "lab/lab.h"
#include "lab/lab_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_MAX 8192

char *ml_host_address(const struct ml_lab *lab, uint32_t host, char *out)
{
	uint8_t bytes[MF_ADDRESS_BYTES];

	mf_address_of_host(ml_lab_topology(lab), host, bytes);
	inet_ntop(AF_INET6, bytes, out, INET6_ADDRSTRLEN);
	return out;
}

char *ml_lab_folder(const struct ml_lab *lab, char *out)
{
	snprintf(out, ML_HOST_PATH_MAX, ML_STATE_DIR "/%s", lab->name);
	mkdir(out, 0755); /* what fails here shows when a file is written */
	return out;
}

/*
 * Writes the configuration file of a host (docs/configuration.md), which goes with the lab, and its
 * path into out[ML_HOST_PATH_MAX]. 0, or -1.
 */
static int write_config(const struct ml_lab *lab, uint32_t host, enum mf_host_form form, char *out,
			struct ml_error *e)
{
	const struct mf_host_options options = {.form = form,
						.pace_bps = ml_lab_rate_scale(lab),
						.queue_ns = ml_program_queue_ns(lab)};
	char text[CONFIG_MAX], part[ML_HOST_PATH_MAX + 16];
	size_t len = mf_host_config_write(ml_lab_topology(lab), host, &options, text, sizeof(text));
	FILE *f;
	bool ok;

	ml_lab_folder(lab, out);
	snprintf(out, ML_HOST_PATH_MAX, ML_STATE_DIR "/%s/host%u-%s.toml", lab->name, host,
		 form == MF_HOST_UDP ? "udp" : "raw41");
	if (len >= sizeof(text))
		return ml_error_set(e, "%s: %zu bytes are too many", out, len);
	/* Another process of the host may read the file now. */
	snprintf(part, sizeof(part), "%s.%d", out, (int)getpid());
	f = fopen(part, "we");
	ok = f && fwrite(text, 1, len, f) == len;
	if (f && fclose(f) != 0)
		ok = false;
	return ok && rename(part, out) == 0
		       ? 0
		       : ml_error_set(e, "writing %s: %s", out, strerror(errno));
}

int ml_host_environment(const struct ml_lab *lab, uint32_t node, enum mf_host_form form,
			struct ml_error *e)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char path[ML_HOST_PATH_MAX], address[INET6_ADDRSTRLEN], number[16], ipv4[ML_IPV4_TEXT];
	char name[MF_NODE_NAME_BYTES];
	int failed;

	mf_node_name(t, node, name);
	failed = setenv("MRC_LAB", ml_lab_name(lab), 1) || setenv("MRC_LAB_NODE", name, 1);
	if (node < t->n_hosts) {
		if (write_config(lab, node, form, path, e))
			return -1;
		snprintf(number, sizeof(number), "%u", node);
		failed = failed || setenv("MRC_LAB_HOST", number, 1) ||
			 setenv("MRC_LAB_ADDRESS", ml_host_address(lab, node, address), 1) ||
			 setenv("MRC_CONFIG", path, 0) ||
			 (ml_ipv4_fits(t) &&
			  setenv("MRC_LAB_IPV4", ml_ipv4_of_host(t, node, ipv4), 1));
	}
	return failed ? ml_error_set(e, "no memory for the environment") : 0;
}
