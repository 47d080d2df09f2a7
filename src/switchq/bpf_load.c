/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_load.c - the compiled program, which is part of this library, goes into the kernel by
 * libbpf. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "switchq/switchq_handle.h"

#define LOG_BYTES 65536u

/* The last line of what the verifier has to say. */
static const char *last_line(char *log)
{
	size_t n = strlen(log);
	char *newline;

	while (n && log[n - 1] == '\n')
		log[--n] = '\0';
	newline = strrchr(log, '\n');
	return newline ? newline + 1 : log;
}

static int report_verifier_error(int code, char *log, struct mswq_error *error)
{
	if (code == EPERM || code == EACCES) {
		if (!*log)
			return mswq_fail(error, EPERM,
					 "loading the switch program needs root (CAP_BPF, "
					 "CAP_NET_ADMIN, CAP_PERFMON): %s",
					 strerror(code));
	}
	return mswq_fail(error, code, "the kernel refuses the switch program: %s%s%s",
			 strerror(code), *log ? ": " : "", last_line(log));
}

static int dup_cloexec(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static int dup_descriptors(struct mswq *swq, struct bpf_object *object, struct mswq_error *error)
{
	swq->prog = dup_cloexec(
		bpf_program__fd(bpf_object__find_program_by_name(object, MSWQ_PROGRAM)));
	if (swq->prog < 0)
		return mswq_fail(error, errno, "switch program: %s", strerror(errno));
	for (int i = 0; i < MSWQ_MAPS; i++) {
		swq->map[i] =
			dup_cloexec(bpf_object__find_map_fd_by_name(object, mswq_map_names[i]));
		if (swq->map[i] < 0)
			return mswq_fail(error, errno, "map %s: %s", mswq_map_names[i],
					 strerror(errno));
	}
	return 0;
}

static int load_object(struct mswq *swq, uint32_t max_ports, char *log, struct mswq_error *error)
{
	struct bpf_object_open_opts options = {.sz = sizeof(options),
					       .object_name = "swq",
					       .kernel_log_buf = log,
					       .kernel_log_size = LOG_BYTES};
	struct bpf_object *object = bpf_object__open_mem(mswq_object, mswq_object_bytes, &options);
	int code = 0;

	if (!object)
		return mswq_fail(error, errno, "switch program: %s", strerror(errno));
	for (int i = 0; i < MSWQ_MAPS && !code; i++)
		code = -bpf_map__set_max_entries(
			bpf_object__find_map_by_name(object, mswq_map_names[i]), max_ports);
	if (!code)
		code = -bpf_object__load(object);
	code = code ? report_verifier_error(code, log, error) : dup_descriptors(swq, object, error);
	bpf_object__close(object);
	return code;
}

int mswq_load_fds(struct mswq *swq, uint32_t max_ports, struct mswq_error *error)
{
	char *log = calloc(1, LOG_BYTES);
	int code;

	if (!log)
		return mswq_fail(error, ENOMEM, "switch program: %s", strerror(ENOMEM));
	/* Errors are in struct mswq_error, not on stderr. */
	libbpf_set_print(NULL);
	code = load_object(swq, max_ports, log, error);
	free(log);
	return code;
}
