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

char *ml_host_node_dir(const struct ml_lab *lab, uint32_t host, char *out)
{
	char folder[ML_HOST_PATH_MAX];

	snprintf(out, ML_HOST_PATH_MAX, "%.*s/host%u.node", (int)ML_HOST_PATH_MAX - 24,
		 ml_lab_folder(lab, folder), host);
	return out;
}

/* Another process may read the file now: it is replaced whole, or stays as it was. */
static int write_whole(const char *path, const char *text, size_t len, struct ml_error *e)
{
	char part[ML_HOST_PATH_MAX + 48];
	FILE *f;
	bool ok;

	snprintf(part, sizeof(part), "%s.%d", path, (int)getpid());
	f = fopen(part, "we");
	ok = f && fwrite(text, 1, len, f) == len;
	if (f && fclose(f) != 0)
		ok = false;
	if (ok && rename(part, path) == 0)
		return 0;
	ml_error_set(e, "writing %s: %s", path, strerror(errno));
	if (f)
		unlink(part);
	return -1;
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
	char text[CONFIG_MAX];
	size_t len = mf_host_config_write(ml_lab_topology(lab), host, &options, text, sizeof(text));

	ml_lab_folder(lab, out);
	snprintf(out, ML_HOST_PATH_MAX, ML_STATE_DIR "/%s/host%u-%s.toml", lab->name, host,
		 form == MF_HOST_UDP ? "udp" : "raw41");
	if (len >= sizeof(text))
		return ml_error_set(e, "%s: %zu bytes are too many", out, len);
	return write_whole(out, text, len, e);
}

/* The lab keeps the text of a topology file, for the file itself may change. */
static int set_fabric(const struct ml_lab *lab, struct ml_error *e)
{
	char folder[ML_HOST_PATH_MAX], path[ML_HOST_PATH_MAX + 24];
	const char *what = lab->topology_what;

	if (lab->topology_text) {
		snprintf(path, sizeof(path), "%s/topology.toml", ml_lab_folder(lab, folder));
		if (write_whole(path, lab->topology_text, strlen(lab->topology_text), e))
			return -1;
		what = path;
	}
	return setenv("MRC_FABRIC", what, 1) ? ml_error_set(e, "no memory for the environment") : 0;
}

/* The folder is there before a program looks for changes in it: then it hears of the first. */
static int set_node_dir(const struct ml_lab *lab, uint32_t host, struct ml_error *e)
{
	char dir[ML_HOST_PATH_MAX];

	if (mkdir(ml_host_node_dir(lab, host, dir), 0755) != 0 && errno != EEXIST)
		return ml_error_set(e, "%s: %s", dir, strerror(errno));
	return setenv("MRC_NODE_DIR", dir, 0) ? ml_error_set(e, "no memory for the environment")
					      : 0;
}

int ml_host_environment(const struct ml_lab *lab, uint32_t node, enum mf_host_form form,
			struct ml_error *e)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char path[ML_HOST_PATH_MAX], address[INET6_ADDRSTRLEN], number[16], ipv4[ML_IPV4_TEXT];
	char name[MF_NODE_NAME_BYTES];
	int failed;

	mf_node_name(t, node, name);
	if (set_fabric(lab, e))
		return -1;
	failed = setenv("MRC_LAB", ml_lab_name(lab), 1) || setenv("MRC_LAB_NODE", name, 1);
	if (node < t->n_hosts) {
		if (write_config(lab, node, form, path, e) || set_node_dir(lab, node, e))
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
