/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_real.c - real devices beside mrc0: a library that stands for the system's own libibverbs,
 * with a driver of its own (live/real), is loaded behind the drop-in, and each call goes to whose
 * object it is given. A process loads it once, so each case is a process. REQ(api.real-devices)
 *
 * Arguments: the folder of that library, and that of an older one.
 */
#include "libibverbs/libibverbs.h"
#include "live/real/fake.h"
#include "live/verbs_fixture.h"
#include "support/test.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 60

static void fail_here(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	_exit(1);
}

#define check(cond) ((cond) ? (void)0 : fail_here(__FILE__, __LINE__, #cond))

static char said[4096];

/* Runs a case in a process of its own, with what it says on stderr in `said`. */
static void in_process(const char *setting, void (*run)(void))
{
	FILE *catcher = tmpfile();
	size_t n;
	int status;
	pid_t pid;

	assert_non_null(catcher);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(PATIENCE_S);
		dup2(fileno(catcher), STDERR_FILENO);
		setenv("MRC_PORTS", "127.0.0.1", 1);
		setenv("MRC_REAL_IBVERBS", setting, 1);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	rewind(catcher);
	n = fread(said, 1, sizeof(said) - 1, catcher);
	said[n] = '\0';
	fclose(catcher);
	if (status != 0)
		fail_msg("status %#x: %s", (unsigned int)status, said);
}

static const char *library(size_t folder)
{
	static char path[PATH_MAX];

	assert_non_null(test_arg(folder));
	snprintf(path, sizeof(path), "%s/libibverbs.so.1", test_arg(folder));
	return path;
}

/* ---- both devices ---- */

static struct ibv_device **both(void)
{
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	check(list && n == 2 && !list[2]);
	check(strcmp(ibv_get_device_name(list[0]), "mrc0") == 0);
	check(strcmp(ibv_get_device_name(list[1]), FAKE_NAME) == 0);
	return list;
}

static unsigned int calls(const char *name)
{
	static fake_calls_function *ask;

	if (!ask) {
		void *fake = dlopen(getenv("MRC_REAL_IBVERBS"), RTLD_NOW | RTLD_NOLOAD);
		void *address = fake ? dlsym(fake, "fake_calls") : NULL;

		check(address != NULL);
		memcpy(&ask, &address, sizeof(ask));
	}
	return ask(name);
}

static struct ibv_context *open_fake(void)
{
	struct ibv_device **list = both();
	struct ibv_context *context = ibv_open_device(list[1]);

	check(context && context->device == list[1]);
	check(calls("ibv_open_device") == 1);
	ibv_free_device_list(list);
	check(calls("ibv_free_device_list") == 1);
	return context;
}

static void list_both(void)
{
	struct ibv_device **list = both(), **again = both();

	check(strcmp(list[0]->dev_name, "uverbs4") == 0);
	check(ibv_get_device_guid(list[1]) == FAKE_INT);
	check(ibv_get_device_guid(list[0]) != FAKE_INT);
	ibv_free_device_list(list);
	ibv_free_device_list(again);
	check(calls("ibv_get_device_list") == 2 && calls("ibv_free_device_list") == 2);
}

TEST(ibv_get_device_list, real_devices_behind_ours)
{
	in_process(library(0), list_both);
	assert_string_equal(said, "");
}

/* What begins right behind the table of ours is a device of others. */
static void list_table(void)
{
	struct ibv_device **list, *behind;
	size_t bytes;
	int n = 0;

	setenv("MRC_PORTS", "127.0.1.1,127.0.2.1", 1);
	setenv("MRC_DEVICES", "2", 1);
	list = ibv_get_device_list(&n);
	check(list && n == 3);
	bytes = (size_t)((char *)list[1] - (char *)list[0]);
	behind = (void *)((char *)list[0] + MH_DEVICES_MAX * bytes);
	check(ibv_get_device_name(behind - 1) != NULL && calls("ibv_get_device_name") == 0);
	check(strcmp(ibv_get_device_name(behind), FAKE_NAME) == 0);
	check(calls("ibv_get_device_name") == 1);
	ibv_free_device_list(list);
}

TEST(ibv_get_device_name, of_the_table_to_its_end)
{
	in_process(library(0), list_table);
}

/* A driver that a program brought along comes before the library that it is for. */
static void driver_first(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/libfake-rdmav34.so", test_arg(0));
	check(dlopen(path, RTLD_NOW) != NULL);
	open_fake();
	check(calls("__verbs_log") == 1);
}

TEST(verbs_register_driver, before_there_is_a_list)
{
	in_process(library(0), driver_first);
}

/* Each release has a function of its own for drivers to come by. */
static void register_all(void)
{
	static const int ops;
	void (*come)(const void *);
	char name[40], version[32];
	void *address;

	for (int node = 30; node <= 79; node++) {
		snprintf(name, sizeof(name), "verbs_register_driver_%d", node);
		snprintf(version, sizeof(version), "IBVERBS_PRIVATE_%d", node);
		if (strcmp(version, FAKE_NODE) == 0)
			continue;
		address = dlvsym(RTLD_DEFAULT, name, version);
		check(address != NULL);
		memcpy(&come, &address, sizeof(come));
		come(&ops);
	}
}

/* The library ends the process when a second driver comes, and its own does with the first list. */
static void other_releases(void)
{
	register_all();
	register_all(); /* more than are remembered */
	open_fake();
	register_all();
}

TEST(verbs_register_driver, of_other_releases_than_the_library)
{
	in_process(library(0), other_releases);
}

static void fork_first(void)
{
	check(ibv_fork_init() == FAKE_INT && calls("ibv_fork_init") == 1);
	check(ibv_is_fork_initialized() == IBV_FORK_ENABLED);
}

TEST(ibv_fork_init, before_there_is_a_list)
{
	in_process(library(0), fork_first);
}

static void import(void)
{
	struct ibv_device **list;

	check(ibv_import_device(0) != NULL && calls("ibv_import_device") == 1);
	list = both();
	ibv_free_device_list(list);
}

/* The library lists devices for it, and must find its own alone. */
TEST(ibv_import_device, is_of_real_devices)
{
	in_process(library(0), import);
}

/* ---- what drivers ask ---- */

static void *private_symbol(const char *name)
{
	void *address = dlvsym(RTLD_DEFAULT, name, FAKE_NODE);

	check(address != NULL);
	return address;
}

/* Of a device of either, by one function. */
static void ask_gid_type(void)
{
	int (*query)(struct ibv_context *, uint8_t, unsigned int, int *);
	void *address = private_symbol("ibv_query_gid_type");
	struct ibv_context *fake = open_fake();
	struct verbs_fixture fixture = {0};
	int type = -1;

	memcpy(&query, &address, sizeof(query));
	check(query(fake, 1, 2, &type) == FAKE_INT && type == FAKE_INT);
	check(calls("ibv_query_gid_type") == 1);
	verbs_fixture_open(&fixture);
	check(query(fixture.ctx, 1, 2, &type) == 0 && type == 1); /* RoCE v2 */
	check(calls("ibv_query_gid_type") == 1);
	verbs_fixture_close(&fixture);
}

TEST(ibv_query_gid_type, goes_to_whose_device_it_is)
{
	in_process(library(0), ask_gid_type);
}

/* Drivers that found us see what the library decided. */
static void list_unplugged(void)
{
	const bool *allowed = private_symbol("verbs_allow_disassociate_destroy");

	check(!*allowed);
	ibv_free_device_list(both());
	check(*allowed == (getenv("FAKE_UNPLUGGED") != NULL));
}

TEST(verbs_allow_disassociate_destroy, is_what_the_library_says)
{
	in_process(library(0), list_unplugged);
	setenv("FAKE_UNPLUGGED", "1", 1);
	in_process(library(0), list_unplugged);
	unsetenv("FAKE_UNPLUGGED");
}

/* ---- every call ---- */

/* One call, which the library sees once, no other of its own beside it, and whose errno is seen. */
#define CALL(name, args)                                                                         \
	do {                                                                                     \
		unsigned int before = calls(#name), all = calls(NULL);                           \
		errno = 0;                                                                       \
		(void)name args;                                                                 \
		if (calls(#name) != before + 1 || calls(NULL) != all + 1 || errno != FAKE_ERRNO) \
			fail_here(__FILE__, __LINE__, #name);                                    \
	} while (0)

static char memory[64];

static void call_device(struct ibv_context *c)
{
	CALL(ibv_get_device_name, (c->device));
	CALL(ibv_get_device_guid, (c->device));
	CALL(ibv_get_device_index, (c->device));
	CALL(ibv_query_device, (c, NULL));
	CALL(ibv_query_port, (c, 1, NULL));
	CALL(ibv_query_gid, (c, 1, 0, NULL));
	CALL(ibv_query_pkey, (c, 1, 0, NULL));
	CALL(ibv_get_pkey_index, (c, 1, 0));
	CALL(_ibv_query_gid_ex, (c, 1, 0, NULL, 0, 0));
	CALL(_ibv_query_gid_table, (c, NULL, 0, 0, 0));
	CALL(ibv_query_port_speed, (c, 1, NULL));
	CALL(ibv_resolve_eth_l2_from_gid, (c, NULL, NULL, NULL));
	CALL(ibv_init_ah_from_wc, (c, 1, NULL, NULL, NULL));
	CALL(ibv_get_async_event, (c, NULL));
	CALL(ibv_fork_init, ());
	CALL(ibv_is_fork_initialized, ());
	CALL(ibv_dontfork_range, (memory, 1));
	CALL(ibv_dofork_range, (memory, 1));
	CALL(ibv_get_sysfs_path, ());
}

static struct ibv_pd *call_memory(struct ibv_context *c)
{
	struct ibv_pd *pd = ibv_alloc_pd(c);
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, 1, 0);

	check(pd && pd->context == c && mr && mr->context == c);
	CALL(ibv_alloc_pd, (c));
	CALL(ibv_import_pd, (c, 0));
	CALL(ibv_unimport_pd, (pd));
	CALL(ibv_dealloc_pd, (pd));
	CALL(ibv_reg_mr, (pd, memory, 1, 0));
	CALL(ibv_reg_mr_iova, (pd, memory, 1, 0, 0));
	CALL(ibv_reg_mr_iova2, (pd, memory, 1, 0, 0));
	CALL(ibv_reg_dmabuf_mr, (pd, 0, 1, 0, 0, 0));
	CALL(ibv_reg_mr_ex, (pd, NULL));
	CALL(ibv_import_mr, (pd, 0));
	CALL(ibv_unimport_mr, (mr));
	CALL(ibv_rereg_mr, (mr, 0, pd, memory, 1, 0));
	CALL(ibv_dereg_mr, (mr));
	return pd;
}

static void call_ah(struct ibv_pd *pd)
{
	struct ibv_ah *ah = ibv_create_ah(pd, NULL);

	check(ah != NULL);
	CALL(ibv_create_ah, (pd, NULL));
	CALL(ibv_create_ah_from_wc, (pd, NULL, NULL, 1));
	CALL(ibv_destroy_ah, (ah));
}

static void call_queues(struct ibv_context *c, struct ibv_pd *pd)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(c);
	struct ibv_cq *cq = ibv_create_cq(c, 1, NULL, channel, 0);
	struct ibv_srq *srq = ibv_create_srq(pd, NULL);

	check(channel && cq && srq);
	CALL(ibv_create_comp_channel, (c));
	CALL(ibv_create_cq, (c, 1, NULL, channel, 0));
	CALL(ibv_create_srq, (pd, NULL));
	CALL(ibv_get_cq_event, (channel, NULL, NULL));
	CALL(ibv_ack_cq_events, (cq, 1));
	CALL(ibv_resize_cq, (cq, 2));
	CALL(ibv_modify_srq, (srq, NULL, 0));
	CALL(ibv_query_srq, (srq, NULL));
	CALL(ibv_destroy_srq, (srq));
	CALL(ibv_destroy_cq, (cq));
	CALL(ibv_destroy_comp_channel, (channel));
}

static void call_qp(struct ibv_pd *pd, struct ibv_qp *qp)
{
	CALL(ibv_create_qp, (pd, NULL));
	CALL(ibv_modify_qp, (qp, NULL, 0));
	CALL(ibv_query_qp, (qp, NULL, 0, NULL));
	CALL(ibv_query_ece, (qp, NULL));
	CALL(ibv_set_ece, (qp, NULL));
	CALL(ibv_qp_to_qp_ex, (qp));
	CALL(ibv_query_qp_data_in_order, (qp, IBV_WR_SEND, 0));
	CALL(ibv_attach_mcast, (qp, NULL, 0));
	CALL(ibv_detach_mcast, (qp, NULL, 0));
	CALL(ibv_qp_attach_comp_cntr, (qp, NULL, NULL));
	CALL(ibv_destroy_qp, (qp));
}

static void call_events(struct ibv_context *c, struct ibv_pd *pd, struct ibv_qp *qp)
{
	struct ibv_cq *cq = ibv_create_cq(c, 1, NULL, NULL, 0);
	struct ibv_srq *srq = ibv_create_srq(pd, NULL);
	struct ibv_wq wq = {.context = c};
	struct ibv_async_event of_qp = {{.qp = qp}, IBV_EVENT_PATH_MIG};
	struct ibv_async_event of_cq = {{.cq = cq}, IBV_EVENT_CQ_ERR};
	struct ibv_async_event of_srq = {{.srq = srq}, IBV_EVENT_SRQ_ERR};
	struct ibv_async_event of_wq = {{.wq = &wq}, IBV_EVENT_WQ_FATAL};
	struct ibv_async_event of_port = {{.port_num = 1}, IBV_EVENT_PORT_ERR};

	CALL(ibv_ack_async_event, (&of_qp));
	CALL(ibv_ack_async_event, (&of_cq));
	CALL(ibv_ack_async_event, (&of_srq));
	CALL(ibv_ack_async_event, (&of_wq));
	ibv_ack_async_event(&of_port); /* nobody's, and nothing to do */
}

static void call_newer(struct ibv_context *c, struct ibv_pd *pd)
{
	struct ibv_dm *dm = ibv_import_dm(c, 0);
	void *object = ibv_create_comp_cntr(c, NULL);
	uint64_t value;

	CALL(ibv_import_dm, (c, 0));
	CALL(ibv_dm_export_dmabuf_fd, (dm));
	CALL(ibv_unimport_dm, (dm));
	CALL(ibv_alloc_dmah, (c, NULL));
	CALL(ibv_dealloc_dmah, (object));
	CALL(ibv_alloc_buf, (pd, 1, NULL));
	CALL(ibv_reg_buf_mr, (pd, object, memory, 1, 0));
	CALL(ibv_export_buf_dmabuf_fd, (object));
	CALL(ibv_free_buf, (object));
	CALL(_ibv_query_comp_cntr_caps, (c, NULL, 0));
	CALL(ibv_create_comp_cntr, (c, NULL));
	CALL(ibv_set_comp_cntr, (object, 1));
	CALL(ibv_set_err_comp_cntr, (object, 1));
	CALL(ibv_inc_comp_cntr, (object, 1));
	CALL(ibv_inc_err_comp_cntr, (object, 1));
	CALL(ibv_read_comp_cntr, (object, &value));
	CALL(ibv_read_err_comp_cntr, (object, &value));
	CALL(ibv_destroy_comp_cntr, (object));
}

static void call_all(void)
{
	struct ibv_context *c = open_fake();
	struct ibv_pd *pd;
	struct ibv_qp *qp;

	call_device(c);
	pd = call_memory(c);
	qp = ibv_create_qp(pd, NULL);
	check(qp != NULL);
	call_ah(pd);
	call_queues(c, pd);
	call_qp(pd, qp);
	call_events(c, pd, qp);
	call_newer(c, pd);
	CALL(ibv_close_device, (c));
}

TEST(real, every_call_goes_to_whose_object_it_is)
{
	in_process(library(0), call_all);
}

/* What verbs.h calls through the context never was with us. */
static void call_inline(void)
{
	struct ibv_context *c = open_fake();
	struct ibv_cq *cq = ibv_create_cq(c, 1, NULL, NULL, 0);
	struct ibv_qp *qp = ibv_create_qp(ibv_alloc_pd(c), NULL);
	struct ibv_cq_init_attr_ex ex = {.cqe = 1};
	struct ibv_send_wr wr = {0}, *bad;

	check(ibv_poll_cq(cq, 0, NULL) == 0 && calls("poll_cq") == 1);
	check(ibv_post_send(qp, &wr, &bad) == FAKE_INT && calls("post_send") == 1);
	check(ibv_create_cq_ex(c, &ex) != NULL && calls("create_cq_ex") == 1);
	check(errno == FAKE_ERRNO);
	errno = 0;
	check(!ibv_alloc_td(c, NULL) && errno == EOPNOTSUPP); /* it has none */
}

TEST(real, inline_calls_go_there_by_themselves)
{
	in_process(library(0), call_inline);
}

/* ---- ours ---- */

/* A WRITE over mrc0, and nothing of it is heard by the other library. */
static void write_over_mrc0(void)
{
	struct ibv_context *fake = open_fake();
	struct ibv_cq *theirs = ibv_create_cq(fake, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init;
	struct verbs_fixture fixture = {0};
	unsigned int before;
	struct ibv_wc wc;

	verbs_fixture_open(&fixture);
	init = verbs_fixture_init(&fixture, 0);
	before = calls(NULL);
	verbs_fixture_qps(&fixture);
	fixture.memory[0] = 42;
	verbs_fixture_write(&fixture, 0, 7, 1);
	wc = verbs_fixture_poll(fixture.cq[0]);
	check(wc.wr_id == 7 && wc.status == IBV_WC_SUCCESS);
	check(fixture.memory[VERBS_FIXTURE_BYTES] == 42);
	init.send_cq = theirs;
	check(!ibv_create_qp(fixture.pd, &init) && errno == EINVAL);
	check(!ibv_import_pd(fixture.ctx, 0) && errno == EOPNOTSUPP);
	verbs_fixture_close(&fixture);
	check(calls(NULL) == before);
}

TEST(real, mrc0_as_ever)
{
	in_process(library(0), write_over_mrc0);
}

static void only_mrc0(void)
{
	struct verbs_fixture fixture = {0};
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	check(list && n == 1 && strcmp(list[0]->name, "mrc0") == 0);
	check(strcmp(list[0]->dev_name, "uverbs0") == 0);
	ibv_free_device_list(list);
	verbs_fixture_open(&fixture);
	verbs_fixture_close(&fixture);
}

/* ---- what is wrong ---- */

static void assert_said(const char *setting, const char *why)
{
	in_process(setting, only_mrc0);
	if (!strstr(said, setting) || !strstr(said, why) ||
	    !strstr(said, "must be auto, off, or the path of the libibverbs.so.1 of rdma-core"))
		fail_msg("no \"%s\" or \"%s\" in: %s", setting, why, said);
}

TEST(mrc_real_ibverbs, off)
{
	in_process("off", only_mrc0);
	assert_string_equal(said, "");
}

TEST(mrc_real_ibverbs, says_what_is_wrong_and_mrc0_works)
{
	char driver[PATH_MAX], ours[PATH_MAX];
	Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)ibv_get_device_list, &info) != 0);
	assert_non_null(realpath(info.dli_fname, ours));
	snprintf(driver, sizeof(driver), "%s/libfake-rdmav34.so", test_arg(0));
	assert_said("/no/such/libibverbs.so.1", "No such file");
	assert_said("/etc/passwd", "invalid ELF header");
	assert_said(driver, "is not rdma-core's libibverbs");
	assert_said(ours, "is softmrc's own");
	assert_said(library(1), "lacks ibv_is_fork_initialized");
}

/* Of a kernel without RDMA nothing is said. */
TEST(ibv_get_device_list, real_devices_cannot_be_listed)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", EPERM);
	setenv("FAKE_FAILS", number, 1);
	in_process(library(0), only_mrc0);
	assert_non_null(strstr(said, "softmrc: real devices are not listed: Operation not"));
	snprintf(number, sizeof(number), "%d", ENOSYS);
	setenv("FAKE_FAILS", number, 1);
	in_process(library(0), only_mrc0);
	assert_string_equal(said, "");
	unsetenv("FAKE_FAILS");
}

static void no_list(void)
{
	check(!ibv_get_device_list(NULL) && errno == EINVAL);
}

TEST(mrc_real_ibverbs, a_name_is_no_path)
{
	in_process("libibverbs.so.1", no_list);
	assert_non_null(strstr(said, "MRC_REAL_IBVERBS=libibverbs.so.1: must be auto, off, or"));
}
