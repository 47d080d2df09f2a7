/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_query.c - what the drop-in answers when it is asked rightly, in structures of headers
 * older and newer than its own; files below /sys; and what drivers of other devices find in it.
 */
#include "libibverbs/libibverbs.h"
#include "live/verbs_fixture.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define QUERY_TEST(function, name) \
	TEST_WITH(verbs_fixture_setup_qps, verbs_fixture_teardown, function, name)

/* ---- structures of other sizes ---- */

QUERY_TEST(ibv_query_device_ex, for_older_and_newer_headers)
{
	struct verbs_fixture *r = *state;
	__typeof__(mv_query_device_ex) *query = verbs_get_ctx(r->ctx)->query_device_ex;
	struct ibv_query_device_ex_input input = {0};
	union {
		struct ibv_device_attr_ex attr;
		uint8_t bytes[sizeof(struct ibv_device_attr_ex) + 16];
	} full, part;

	memset(&full, 0xff, sizeof(full));
	assert_int_equal(query(r->ctx, &input, &full.attr, sizeof(full)), 0);
	assert_u_eq(full.attr.phys_port_cnt_ex, 1);
	assert_u_eq(full.attr.hca_core_clock, 1000000);
	for (size_t i = sizeof(full.attr); i < sizeof(full); i++)
		assert_u_eq(full.bytes[i], 0); /* what we do not know yet */
	memset(&part, 0xff, sizeof(part));
	assert_int_equal(query(r->ctx, NULL, &part.attr, sizeof(full.attr.orig_attr)), 0);
	assert_bytes_eq(part.bytes, full.bytes, sizeof(full.attr.orig_attr));
	assert_u_eq(part.bytes[sizeof(full.attr.orig_attr)], 0xff);
	assert_int_equal(query(r->ctx, NULL, &part.attr, sizeof(full.attr.orig_attr) - 1), EINVAL);
	assert_int_equal(query(NULL, NULL, &part.attr, sizeof(part)), EINVAL);
	input.comp_mask = 1;
	assert_int_equal(query(r->ctx, &input, &part.attr, sizeof(part)), EINVAL);
}

QUERY_TEST(ibv_query_rt_values_ex, the_clock_of_completions)
{
	struct verbs_fixture *r = *state;
	struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK}, later = values;

	assert_int_equal(ibv_query_rt_values_ex(r->ctx, &values), 0);
	assert_int_equal(ibv_query_rt_values_ex(r->ctx, &later), 0);
	assert_true(later.raw_clock.tv_sec > values.raw_clock.tv_sec ||
		    later.raw_clock.tv_nsec >= values.raw_clock.tv_nsec);
	values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK << 1;
	assert_int_equal(ibv_query_rt_values_ex(r->ctx, &values), EINVAL);
}

/* One GID, at each index that programs written for other devices insist on. */
#define GIDS 4

QUERY_TEST(ibv_query_gid_ex, is_the_gid_of_the_table)
{
	struct verbs_fixture *r = *state;
	struct ibv_gid_entry one, table[GIDS + 1];
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(r->ctx, 1, 0, &gid), 0);
	assert_int_equal(ibv_query_gid_ex(r->ctx, 1, 0, &one, 0), 0);
	assert_bytes_eq(&one.gid, &gid, sizeof(gid));
	assert_u_eq(one.port_num, 1);
	assert_u_eq(one.gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(ibv_query_gid_table(r->ctx, table, GIDS - 1, 0), -EINVAL);
	assert_int_equal(ibv_query_gid_table(r->ctx, table, GIDS + 1, 0), GIDS);
	for (uint32_t i = 0; i < GIDS; i++) {
		one.gid_index = i;
		assert_bytes_eq(&table[i], &one, sizeof(one));
	}
}

QUERY_TEST(ibv_query_gid_ex, for_older_and_newer_headers)
{
	struct verbs_fixture *r = *state;
	union {
		struct ibv_gid_entry entry;
		uint8_t bytes[sizeof(struct ibv_gid_entry) + 16];
	} full, part;

	memset(&full, 0xff, sizeof(full));
	assert_int_equal(_ibv_query_gid_ex(r->ctx, 1, 0, &full.entry, 0, sizeof(full)), 0);
	for (size_t i = sizeof(full.entry); i < sizeof(full); i++)
		assert_u_eq(full.bytes[i], 0); /* what we do not know yet */
	memset(&part, 0xff, sizeof(part));
	assert_int_equal(_ibv_query_gid_ex(r->ctx, 1, 0, &part.entry, 0, sizeof(union ibv_gid)), 0);
	assert_bytes_eq(part.bytes, full.bytes, sizeof(union ibv_gid));
	assert_u_eq(part.bytes[sizeof(union ibv_gid)], 0xff);
}

/* One P_Key, and nothing beyond verbs to agree on. */
QUERY_TEST(ibv_query_pkey, and_ece)
{
	struct verbs_fixture *r = *state;
	struct ibv_ece ece = {.vendor_id = 5, .options = 6};
	__be16 pkey = 0;

	assert_int_equal(ibv_query_pkey(r->ctx, 1, 0, &pkey), 0);
	assert_u_eq(be16toh(pkey), 0xffff);
	assert_int_equal(ibv_get_pkey_index(r->ctx, 1, pkey), 0);
	assert_int_equal(ibv_set_ece(r->qp[0], &ece), 0);
	assert_u_eq(ece.vendor_id + ece.options, 0);
	ece.vendor_id = 7;
	assert_int_equal(ibv_query_ece(r->qp[0], &ece), 0);
	assert_u_eq(ece.vendor_id, 0);
}

/* ---- files ---- */

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

TEST(ibv_read_sysfs_file, is_its_text_without_the_last_newline)
{
	char dir[] = "/tmp/live_verbs_query.XXXXXX", path[64], longest[600], text[8];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	write_file(path, "mlx5\n");
	memset(text, 'x', sizeof(text));
	assert_int_equal(ibv_read_sysfs_file(dir, "file", text, sizeof(text)), 4);
	assert_string_equal(text, "mlx5");
	write_file(path, "no end");
	assert_int_equal(ibv_read_sysfs_file(dir, "file", text, sizeof(text)), 6);
	assert_string_equal(text, "no end");
	/* A text as long as its place has no end, as libibverbs has it. */
	memset(text, 'x', sizeof(text));
	assert_int_equal(ibv_read_sysfs_file(dir, "file", text, 6), 6);
	assert_memory_equal(text, "no endxx", 8);
	write_file(path, "");
	assert_int_equal(ibv_read_sysfs_file(dir, "file", text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ibv_read_sysfs_file(dir, ".", text, sizeof(text)), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(rmdir(dir), 0);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(ibv_read_sysfs_file(longest, "file", text, sizeof(text)), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

/* ---- what rdma-core's own parts share, where there is no library of the system ---- */

static void *private_symbol(const char *name, int node)
{
	char version[32];
	void *address;

	snprintf(version, sizeof(version), "IBVERBS_PRIVATE_%d", node);
	address = dlvsym(RTLD_DEFAULT, name, version);
	assert_non_null(address);
	return address;
}

/* By what such a function returns. */
#define CALL_PRIVATE(type, name)      \
	((union {                     \
		 void *address;       \
		 type (*call)(void);  \
	 }){private_symbol(name, 34)} \
		 .call())

TEST(private_symbols, say_that_there_is_nothing)
{
	assert_int_equal(CALL_PRIVATE(int, "ibv_cmd_alloc_pd"), EOPNOTSUPP);
	assert_int_equal(CALL_PRIVATE(int, "execute_ioctl"), EOPNOTSUPP);
	assert_null(CALL_PRIVATE(void *, "verbs_open_device"));
	assert_null(CALL_PRIVATE(void *, "_verbs_init_and_alloc_context"));
	assert_string_equal(CALL_PRIVATE(const char *, "ibv_wr_opcode_str"), "unknown");
	CALL_PRIVATE(void, "verbs_set_ops");
	errno = 0;
	assert_int_equal(CALL_PRIVATE(int, "ibv_read_ibdev_sysfs_file"), -1);
	assert_int_equal(errno, ENOENT);
}

QUERY_TEST(private_symbols, know_the_type_of_our_gid)
{
	struct verbs_fixture *r = *state;
	int (*query)(struct ibv_context *, uint8_t, unsigned int, int *);
	int type = 0;

	for (int node = 30; node <= 79; node++) {
		void *address = private_symbol("ibv_query_gid_type", node);

		memcpy(&query, &address, sizeof(query));
		assert_int_equal(query(r->ctx, 1, 0, &type), 0);
		assert_int_equal(type, 1); /* RoCE v2 */
	}
	assert_int_equal(query(r->ctx, 1, GIDS - 1, &type), 0);
	assert_int_equal(query(r->ctx, 1, GIDS, &type), -1);
	assert_int_equal(query(r->ctx, 2, 0, &type), -1);
	assert_int_equal(query(NULL, 1, 0, &type), -1);
	errno = 0;
	assert_int_equal(query(r->ctx, 1, 0, NULL), -1);
	assert_int_equal(errno, EINVAL);
}
