/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program on a host has to know: src/lab/host_env.c, of a lab that is a file alone. */
#include "fabric/usid.h"
#include "lab/ip_batch.h"
#include "support/open_fds.h"
#include "support/test.h"
#include "unit/lab_run_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define FOLDER ML_STATE_DIR "/" LAB_RUN_NAME
#define CONFIG_MAX 8192u

/* ---- the system, which fails where it is asked to ---- */

static struct {
	const char *setenv_of; /* there is no memory for this variable */
	bool no_node_dir, no_write;
	size_t config_bytes;
	struct mf_host_options options;
} t;

__typeof__(setenv) __real_setenv, __wrap_setenv;
int __wrap_setenv(const char *name, const char *value, int overwrite)
{
	return t.setenv_of && strcmp(name, t.setenv_of) == 0
		       ? -1
		       : __real_setenv(name, value, overwrite);
}

__typeof__(mkdir) __real_mkdir, __wrap_mkdir;
int __wrap_mkdir(const char *path, mode_t mode)
{
	if (!t.no_node_dir || !strstr(path, ".node"))
		return __real_mkdir(path, mode);
	errno = EACCES;
	return -1;
}

__typeof__(fwrite) __real_fwrite, __wrap_fwrite;
size_t __wrap_fwrite(const void *from, size_t size, size_t n, FILE *f)
{
	if (!t.no_write)
		return __real_fwrite(from, size, n, f);
	errno = ENOSPC;
	return n - 1;
}

/* Of a length of the test's choice; what does not fit is left out. */
__typeof__(mf_host_config_write) __wrap_mf_host_config_write;
size_t __wrap_mf_host_config_write(const struct mf_topology *topology, uint32_t host,
				   const struct mf_host_options *options, char *out, size_t size)
{
	size_t n = t.config_bytes < size ? t.config_bytes : size - 1;

	(void)topology;
	memset(out, '0' + (int)host, n);
	out[n] = '\0';
	t.options = *options;
	return t.config_bytes;
}

static struct ml_lab *lab;

static const char *const variables[] = {"MRC_FABRIC",	"MRC_LAB",	   "MRC_LAB_NODE",
					"MRC_LAB_HOST", "MRC_LAB_ADDRESS", "MRC_CONFIG",
					"MRC_NODE_DIR", "MRC_LAB_IPV4"};

static void forget(void)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
}

static int open_lab(void **state)
{
	int failed = lab_run_open(state);

	memset(&t, 0, sizeof(t));
	t.config_bytes = 3;
	forget();
	lab_run_make_folders();
	lab = lab_run_create("tiny", NULL);
	return failed;
}

static int shut(void **state)
{
	ml_state_destroy(lab);
	return lab_run_leave(state);
}

#define ENV_TEST(name) TEST_WITH(open_lab, shut, ml_host_environment, name)

static void set(uint32_t node, enum mf_host_form form)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	if (ml_host_environment(lab, node, form, &e))
		fail_msg("%s", e.text);
	assert_u_eq(test_open_fds(), open_before);
}

static void is_not_set(uint32_t node, const char *why)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	assert_i_eq(ml_host_environment(lab, node, MF_HOST_UDP, &e), -1);
	assert_string_equal(e.text, why);
	assert_u_eq(test_open_fds(), open_before);
}

static void is(const char *name, const char *want)
{
	const char *value = getenv(name);

	if (!want)
		assert_null(value);
	else if (!value || strcmp(value, want) != 0)
		fail_msg("%s is %s, want %s", name, value ? value : "not set", want);
}

/* A file holds so many of a character and no more. */
static void holds(const char *path, char c, size_t n)
{
	FILE *f = fopen(path, "re");
	size_t seen = 0;
	int next;

	assert_non_null(f);
	while ((next = fgetc(f)) != EOF) {
		assert_i_eq(next, c);
		seen++;
	}
	fclose(f);
	assert_u_eq(seen, n);
}

/* ---- a host, a switch ---- */

ENV_TEST(of_a_host)
{
	uint8_t bytes[MF_ADDRESS_BYTES], told[MF_ADDRESS_BYTES];
	char ipv4[ML_IPV4_TEXT];
	struct stat st;

	lab->pace_bps = 5000000;
	set(3, MF_HOST_UDP);
	is("MRC_FABRIC", "tiny");
	is("MRC_LAB", LAB_RUN_NAME);
	is("MRC_LAB_NODE", "host3");
	is("MRC_LAB_HOST", "3");
	is("MRC_LAB_IPV4", ml_ipv4_of_host(&lab->t, 3, ipv4));
	is("MRC_CONFIG", FOLDER "/host3-udp.toml");
	is("MRC_NODE_DIR", FOLDER "/host3.node");
	mf_address_of_host(&lab->t, 3, bytes);
	assert_i_eq(inet_pton(AF_INET6, getenv("MRC_LAB_ADDRESS"), told), 1);
	assert_memory_equal(told, bytes, sizeof(bytes));
	holds(FOLDER "/host3-udp.toml", '3', 3);
	assert_i_eq(stat(FOLDER "/host3.node", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_i_eq(t.options.form, MF_HOST_UDP);
	assert_u_eq(t.options.pace_bps, 5000000);
	assert_u_eq(t.options.queue_ns, ml_program_queue_ns(lab));
	lab_run_shell("test \"$(ls " FOLDER ")\" = 'host3-udp.toml\nhost3.node'");
}

/* Once more, in the other form: the folder is there; what the user chose stays. */
ENV_TEST(keeps_what_the_user_chose)
{
	set(1, MF_HOST_UDP);
	setenv("MRC_CONFIG", "/mine.toml", 1);
	setenv("MRC_NODE_DIR", "/mine", 1);
	set(2, MF_HOST_RAW41);
	set(2, MF_HOST_RAW41);
	is("MRC_CONFIG", "/mine.toml");
	is("MRC_NODE_DIR", "/mine");
	is("MRC_LAB_HOST", "2");
	holds(FOLDER "/host2-raw41.toml", '2', 3);
}

ENV_TEST(of_a_switch)
{
	set(lab->t.n_hosts, MF_HOST_UDP);
	is("MRC_FABRIC", "tiny");
	is("MRC_LAB_NODE", "plane0.t0-0");
	is("MRC_LAB_HOST", NULL);
	is("MRC_CONFIG", NULL);
	is("MRC_LAB_IPV4", NULL);
	assert_i_eq(access(FOLDER, F_OK), -1);
}

/* The text of a topology file is beside it, whatever the file says by now. */
ENV_TEST(names_the_kept_text_of_a_topology)
{
	lab->topology_text = malloc(10001);
	assert_non_null(lab->topology_text);
	memset(lab->topology_text, 't', 10000);
	lab->topology_text[10000] = '\0';
	set(0, MF_HOST_UDP);
	is("MRC_FABRIC", FOLDER "/topology.toml");
	holds(FOLDER "/topology.toml", 't', 10000);
	lab_run_shell("rm " FOLDER "/topology.toml && mkdir " FOLDER "/topology.toml");
	is_not_set(0, "writing " FOLDER "/topology.toml: Is a directory");
	lab_run_shell("test \"$(ls " FOLDER ")\" = 'host0-udp.toml\nhost0.node\ntopology.toml'");
}

ENV_TEST(takes_a_file_that_fits)
{
	t.config_bytes = CONFIG_MAX - 1;
	set(3, MF_HOST_UDP);
	holds(FOLDER "/host3-udp.toml", '3', CONFIG_MAX - 1);
	t.config_bytes = CONFIG_MAX;
	is_not_set(3, FOLDER "/host3-udp.toml: 8192 bytes are too many");
}

/* ---- what fails ---- */

ENV_TEST(needs_memory)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		t.setenv_of = variables[i];
		is_not_set(3, "no memory for the environment");
		forget();
	}
}

ENV_TEST(needs_room_for_its_files)
{
	t.no_node_dir = true;
	is_not_set(3, FOLDER "/host3.node: Permission denied");
	t.no_node_dir = false;
	t.no_write = true;
	is_not_set(3, "writing " FOLDER "/host3-udp.toml: No space left on device");
	t.no_write = false;
	lab_run_shell("test \"$(ls " FOLDER ")\" = host3-udp.toml");
	lab_run_shell("mount -o remount,size=4096 /run && head -c 9999 /dev/zero >/run/full "
		      "2>/dev/null || :");
	is_not_set(3, "writing " FOLDER "/host3-udp.toml: No space left on device");
	lab_run_shell("rm -r /run/softmrc");
	is_not_set(3, "writing " FOLDER "/host3-udp.toml: No such file or directory");
}
