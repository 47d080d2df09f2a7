/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_verbs_every.c - every function that libibverbs.so.1 exports, called for mrc0 with what it
 * cannot take: no object, no place for the answer, what the device has not. Each refuses in its own
 * way, with an errno value, and nothing else happens. Right calls are in the other live_verbs
 * tests.
 *
 * Argument: libibverbs.map; a function of it that is not here fails the last case.
 */
#include "libibverbs/libibverbs.h"
#include "live/verbs_fixture.h"
#include "support/test.h"

#include <ctype.h>
#include <infiniband/sa.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);

#define NAMES_MAX 128

static const char *called[NAMES_MAX];
static size_t n_called;

static bool was_called(const char *name)
{
	for (size_t i = 0; i < n_called; i++)
		if (strcmp(called[i], name) == 0)
			return true;
	return false;
}

static void note(const char *name)
{
	if (was_called(name))
		return;
	assert_true(n_called < NAMES_MAX);
	called[n_called++] = name;
}

/* The ways in which a function says what is wrong. */
#define RETURNS(want, name, args)                                                                 \
	do {                                                                                      \
		long got_ = (long)name args;                                                      \
		note(#name);                                                                      \
		if (got_ != (want))                                                               \
			fail_msg("%s%s returned %ld, not %ld", #name, #args, got_, (long)(want)); \
	} while (0)
#define MINUS(want, name, args)                                             \
	do {                                                                \
		errno = 0;                                                  \
		RETURNS(-1, name, args);                                    \
		if (errno != (want))                                        \
			fail_msg("%s%s set errno %d", #name, #args, errno); \
	} while (0)
#define NONE(want, name, args)                                              \
	do {                                                                \
		errno = 0;                                                  \
		note(#name);                                                \
		if (name args != NULL)                                      \
			fail_msg("%s%s made something", #name, #args);      \
		if (errno != (want))                                        \
			fail_msg("%s%s set errno %d", #name, #args, errno); \
	} while (0)
#define NOTHING(name, args)  \
	do {                 \
		note(#name); \
		name args;   \
	} while (0)

#define EVERY(name) TEST_WITH(verbs_fixture_setup_srq, verbs_fixture_teardown, every, name)

EVERY(device)
{
	struct verbs_fixture *r = *state;
	union ibv_gid gid;
	__be16 pkey;

	NOTHING(ibv_free_device_list, (NULL));
	note("ibv_get_device_list");
	NOTHING(ibv_free_device_list, (ibv_get_device_list(NULL))); /* nobody counts */
	RETURNS(0, ibv_get_device_name, (NULL));
	RETURNS(0, ibv_get_device_guid, (NULL));
	RETURNS(-1, ibv_get_device_index, (NULL));
	RETURNS(-1, ibv_get_device_index, (r->ctx->device));
	NONE(EINVAL, ibv_open_device, (NULL));
	NONE(EOPNOTSUPP, ibv_import_device, (r->ctx->cmd_fd));
	MINUS(EINVAL, ibv_close_device, (NULL));
	RETURNS(EINVAL, ibv_query_device, (NULL, NULL));
	RETURNS(EINVAL, ibv_query_device, (r->ctx, NULL));
	RETURNS(EINVAL, ibv_query_port, (NULL, 1, NULL));
	RETURNS(EINVAL, ibv_query_port, (r->ctx, 1, NULL));
	MINUS(EINVAL, ibv_query_gid, (NULL, 1, 0, &gid));
	MINUS(EINVAL, ibv_query_gid, (r->ctx, 1, 0, NULL));
	MINUS(EINVAL, ibv_query_gid, (r->ctx, 1, 4, &gid));
	MINUS(EINVAL, ibv_query_gid, (r->ctx, 2, 0, &gid));
	MINUS(EINVAL, ibv_query_pkey, (NULL, 1, 0, &pkey));
	MINUS(EINVAL, ibv_query_pkey, (r->ctx, 1, 1, &pkey));
	MINUS(EINVAL, ibv_get_pkey_index, (r->ctx, 1, 0));
	MINUS(EINVAL, ibv_get_pkey_index, (NULL, 1, 0xffff));
}

EVERY(gids)
{
	struct verbs_fixture *r = *state;
	struct ibv_gid_entry entry[4];

	RETURNS(EINVAL, _ibv_query_gid_ex, (NULL, 1, 0, entry, 0, sizeof(*entry)));
	RETURNS(EINVAL, _ibv_query_gid_ex, (r->ctx, 1, 0, NULL, 0, sizeof(*entry)));
	RETURNS(EINVAL, _ibv_query_gid_ex, (r->ctx, 1, 4, entry, 0, sizeof(*entry)));
	RETURNS(EOPNOTSUPP, _ibv_query_gid_ex, (r->ctx, 1, 0, entry, 1, sizeof(*entry)));
	RETURNS(-EINVAL, _ibv_query_gid_table, (NULL, entry, 4, 0, sizeof(*entry)));
	RETURNS(-EINVAL, _ibv_query_gid_table, (r->ctx, NULL, 4, 0, sizeof(*entry)));
	RETURNS(-EINVAL, _ibv_query_gid_table, (r->ctx, entry, 3, 0, sizeof(*entry)));
	RETURNS(-EOPNOTSUPP, _ibv_query_gid_table, (r->ctx, entry, 4, 1, sizeof(*entry)));
}

EVERY(events)
{
	struct verbs_fixture *r = *state;
	struct ibv_async_event port = {.event_type = IBV_EVENT_PORT_ERR};
	struct ibv_cq *cq;
	void *context;

	MINUS(EINVAL, ibv_get_async_event, (NULL, &port));
	MINUS(EINVAL, ibv_get_async_event, (r->ctx, NULL));
	NOTHING(ibv_ack_async_event, (NULL));
	NOTHING(ibv_ack_async_event, (&port));
	NONE(EINVAL, ibv_create_comp_channel, (NULL));
	RETURNS(EINVAL, ibv_destroy_comp_channel, (NULL));
	MINUS(EINVAL, ibv_get_cq_event, (NULL, &cq, &context));
	NOTHING(ibv_ack_cq_events, (NULL, 1));
	NOTHING(ibv_ack_cq_events, (r->cq[0], 1)); /* more than there were */
	RETURNS(0, ibv_fork_init, ());
	RETURNS(IBV_FORK_UNNEEDED, ibv_is_fork_initialized, ());
	RETURNS(0, ibv_dontfork_range, (r->memory, 1));
	RETURNS(0, ibv_dofork_range, (r->memory, 1));
}

EVERY(memory)
{
	struct verbs_fixture *r = *state;

	NONE(EINVAL, ibv_alloc_pd, (NULL));
	RETURNS(EINVAL, ibv_dealloc_pd, (NULL));
	RETURNS(EBUSY, ibv_dealloc_pd, (r->pd));
	NONE(EINVAL, ibv_reg_mr, (NULL, r->memory, 1, 0));
	NONE(EINVAL, ibv_reg_mr, (r->pd, r->memory, 1, IBV_ACCESS_REMOTE_WRITE));
	NONE(EINVAL, ibv_reg_mr_iova, (NULL, r->memory, 1, 0, 0));
	NONE(EINVAL, ibv_reg_mr_iova2, (NULL, r->memory, 1, 0, 0));
	NONE(EOPNOTSUPP, ibv_reg_dmabuf_mr, (r->pd, 0, 1, 0, -1, 0));
	NONE(EOPNOTSUPP, ibv_reg_dmabuf_mr, (NULL, 0, 1, 0, -1, 0));
	NONE(EOPNOTSUPP, ibv_reg_mr_ex, (r->pd, NULL));
	RETURNS(IBV_REREG_MR_ERR_INPUT, ibv_rereg_mr, (NULL, 1, r->pd, r->memory, 1, 0));
	RETURNS(IBV_REREG_MR_ERR_INPUT, ibv_rereg_mr, (r->mr, 0, r->pd, r->memory, 1, 0));
	RETURNS(EINVAL, ibv_dereg_mr, (NULL));
	NONE(EOPNOTSUPP, ibv_import_pd, (r->ctx, 0));
	NONE(EOPNOTSUPP, ibv_import_mr, (r->pd, 0));
	NONE(EOPNOTSUPP, ibv_import_dm, (r->ctx, 0));
	NOTHING(ibv_unimport_pd, (NULL));
	NOTHING(ibv_unimport_mr, (NULL));
	NOTHING(ibv_unimport_dm, (NULL));
}

EVERY(address_handles)
{
	struct verbs_fixture *r = *state;
	struct ibv_ah_attr attr = {.port_num = 1};
	struct ibv_wc wc = {0};
	struct ibv_grh grh = {0};
	uint8_t mac[6];
	uint16_t vid;

	NONE(EINVAL, ibv_create_ah, (NULL, &attr));
	NONE(EINVAL, ibv_create_ah, (r->pd, NULL));
	NONE(EINVAL, ibv_create_ah, (r->pd, &attr)); /* no GRH */
	MINUS(EINVAL, ibv_init_ah_from_wc, (NULL, 1, &wc, &grh, &attr));
	MINUS(EINVAL, ibv_init_ah_from_wc, (r->ctx, 1, &wc, &grh, &attr));
	NONE(EINVAL, ibv_create_ah_from_wc, (NULL, &wc, &grh, 1));
	NONE(EINVAL, ibv_create_ah_from_wc, (r->pd, &wc, &grh, 1));
	RETURNS(EINVAL, ibv_destroy_ah, (NULL));
	RETURNS(EOPNOTSUPP, ibv_resolve_eth_l2_from_gid, (r->ctx, &attr, mac, &vid));
}

EVERY(queues)
{
	struct verbs_fixture *r = *state;
	struct ibv_srq_attr attr = {0};

	NONE(EINVAL, ibv_create_cq, (NULL, 1, NULL, NULL, 0));
	NONE(EINVAL, ibv_create_cq, (r->ctx, 0, NULL, NULL, 0));
	NONE(EINVAL, ibv_create_cq, (r->ctx, 1, NULL, NULL, 1));
	RETURNS(EINVAL, ibv_resize_cq, (NULL, 1));
	RETURNS(EINVAL, ibv_resize_cq, (r->cq[0], 0));
	RETURNS(EINVAL, ibv_destroy_cq, (NULL));
	RETURNS(EBUSY, ibv_destroy_cq, (r->cq[0]));
	NONE(EINVAL, ibv_create_srq, (NULL, NULL));
	NONE(EINVAL, ibv_create_srq, (r->pd, NULL));
	RETURNS(EINVAL, ibv_modify_srq, (NULL, &attr, IBV_SRQ_LIMIT));
	RETURNS(EINVAL, ibv_modify_srq, (r->srq, NULL, IBV_SRQ_LIMIT));
	RETURNS(EINVAL, ibv_query_srq, (NULL, &attr));
	RETURNS(EINVAL, ibv_query_srq, (r->srq, NULL));
	RETURNS(EINVAL, ibv_destroy_srq, (NULL));
	RETURNS(EBUSY, ibv_destroy_srq, (r->srq));
}

EVERY(qps)
{
	struct verbs_fixture *r = *state;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {0};
	struct ibv_ece ece = {.comp_mask = 1};
	union ibv_gid gid = {0};

	NONE(EINVAL, ibv_create_qp, (NULL, NULL));
	NONE(EINVAL, ibv_create_qp, (r->pd, NULL));
	RETURNS(EINVAL, ibv_modify_qp, (NULL, &attr, 0));
	RETURNS(EINVAL, ibv_modify_qp, (r->qp[0], NULL, 0));
	RETURNS(EINVAL, ibv_query_qp, (NULL, &attr, 0, &init));
	RETURNS(EINVAL, ibv_query_qp, (r->qp[0], NULL, 0, &init));
	RETURNS(EINVAL, ibv_query_qp, (r->qp[0], &attr, 0, NULL));
	RETURNS(EINVAL, ibv_destroy_qp, (NULL));
	RETURNS(EINVAL, ibv_query_ece, (NULL, &ece));
	RETURNS(EINVAL, ibv_query_ece, (r->qp[0], NULL));
	RETURNS(EINVAL, ibv_set_ece, (NULL, &ece));
	RETURNS(EOPNOTSUPP, ibv_set_ece, (r->qp[0], &ece));
	RETURNS(0, ibv_qp_to_qp_ex, (NULL));
	RETURNS(0, ibv_qp_to_qp_ex, (r->qp[0])); /* made without */
	RETURNS(0, ibv_query_qp_data_in_order, (r->qp[0], IBV_WR_RDMA_WRITE, 0));
	RETURNS(EINVAL, ibv_attach_mcast, (NULL, &gid, 0));
	RETURNS(EINVAL, ibv_attach_mcast, (r->qp[0], &gid, 0));
	RETURNS(EINVAL, ibv_detach_mcast, (NULL, &gid, 0));
}

EVERY(newer)
{
	struct verbs_fixture *r = *state;
	uint64_t value;

	RETURNS(EINVAL, ibv_query_port_speed, (NULL, 1, &value));
	RETURNS(EINVAL, ibv_query_port_speed, (r->ctx, 2, &value));
	NONE(EOPNOTSUPP, ibv_alloc_dmah, (r->ctx, NULL));
	RETURNS(EOPNOTSUPP, ibv_dealloc_dmah, (NULL));
	MINUS(EOPNOTSUPP, ibv_dm_export_dmabuf_fd, (NULL));
	NONE(EOPNOTSUPP, ibv_alloc_buf, (r->pd, 1, NULL));
	NOTHING(ibv_free_buf, (NULL));
	NONE(EOPNOTSUPP, ibv_reg_buf_mr, (r->pd, NULL, NULL, 1, 0));
	MINUS(EOPNOTSUPP, ibv_export_buf_dmabuf_fd, (NULL));
	RETURNS(EOPNOTSUPP, _ibv_query_comp_cntr_caps, (r->ctx, NULL, 0));
	NONE(EOPNOTSUPP, ibv_create_comp_cntr, (r->ctx, NULL));
	RETURNS(EOPNOTSUPP, ibv_destroy_comp_cntr, (NULL));
	RETURNS(EOPNOTSUPP, ibv_set_comp_cntr, (NULL, 1));
	RETURNS(EOPNOTSUPP, ibv_set_err_comp_cntr, (NULL, 1));
	RETURNS(EOPNOTSUPP, ibv_inc_comp_cntr, (NULL, 1));
	RETURNS(EOPNOTSUPP, ibv_inc_err_comp_cntr, (NULL, 1));
	RETURNS(EOPNOTSUPP, ibv_read_comp_cntr, (NULL, &value));
	RETURNS(EOPNOTSUPP, ibv_read_err_comp_cntr, (NULL, &value));
	RETURNS(EOPNOTSUPP, ibv_qp_attach_comp_cntr, (r->qp[0], NULL, NULL));
}

/* What verbs.h calls through the context where there is something to call. */
EVERY(inline_calls)
{
	struct verbs_fixture *r = *state;
	struct ibv_flow_attr flow = {0};
	struct ibv_flow_action_esp_attr esp = {0};
	struct ibv_alloc_dm_attr dm = {.length = 1};
	struct ibv_xrcd_init_attr xrcd = {0};
	struct ibv_wq_init_attr wq = {0};
	struct ibv_rwq_ind_table_init_attr table = {0};
	struct ibv_counters_init_attr counters = {0};
	struct ibv_qp_open_attr open = {0};
	struct ibv_qp_rate_limit_attr rate = {0};
	struct ibv_ops_wr op = {0}, *bad;
	uint32_t number;

	NONE(EOPNOTSUPP, ibv_create_flow, (r->qp[0], &flow));
	NONE(EOPNOTSUPP, ibv_create_flow_action_esp, (r->ctx, &esp));
	NONE(EOPNOTSUPP, ibv_alloc_dm, (r->ctx, &dm));
	NONE(EOPNOTSUPP, ibv_open_xrcd, (r->ctx, &xrcd));
	NONE(EOPNOTSUPP, ibv_create_wq, (r->ctx, &wq));
	NONE(EOPNOTSUPP, ibv_create_rwq_ind_table, (r->ctx, &table));
	NONE(EOPNOTSUPP, ibv_create_counters, (r->ctx, &counters));
	NONE(EOPNOTSUPP, ibv_open_qp, (r->ctx, &open));
	RETURNS(EOPNOTSUPP, ibv_get_srq_num, (r->srq, &number));
	RETURNS(EOPNOTSUPP, ibv_modify_qp_rate_limit, (r->qp[0], &rate));
	RETURNS(EOPNOTSUPP, ibv_post_srq_ops, (r->srq, &op, &bad));
	RETURNS(EOPNOTSUPP, ibv_advise_mr, (r->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0));
}

static void named(const char *name, const char *got)
{
	note(name);
	assert_non_null(got);
}

EVERY(names_and_numbers)
{
	char text[16];

	named("ibv_get_sysfs_path", ibv_get_sysfs_path());
	named("ibv_wc_status_str", ibv_wc_status_str((enum ibv_wc_status)1000));
	named("ibv_event_type_str", ibv_event_type_str((enum ibv_event_type)1000));
	named("ibv_port_state_str", ibv_port_state_str((enum ibv_port_state)1000));
	named("ibv_node_type_str", ibv_node_type_str((enum ibv_node_type) - 2));
	RETURNS(-1, ibv_rate_to_mult, ((enum ibv_rate)1000));
	RETURNS(-1, ibv_rate_to_mbps, ((enum ibv_rate)1000));
	RETURNS(IBV_RATE_MAX, mult_to_ibv_rate, (-1));
	RETURNS(IBV_RATE_MAX, mbps_to_ibv_rate, (1));
	MINUS(ENOENT, ibv_read_sysfs_file, ("/no/such", "file", text, sizeof(text)));
	MINUS(EINVAL, ibv_read_sysfs_file, (NULL, "file", text, sizeof(text)));
}

/* For librdmacm: every field of what the kernel would say. */
EVERY(kernel_structures)
{
	struct ib_uverbs_qp_attr kern = {.qp_state = IBV_QPS_RTS, .ah_attr.port_num = 1};
	struct ib_user_path_rec user = {.mtu = IBV_MTU_4096};
	struct ibv_sa_path_rec path;
	struct ibv_qp_attr attr;
	struct ibv_ah_attr ah;

	NOTHING(ibv_copy_qp_attr_from_kern, (&attr, &kern));
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	NOTHING(ibv_copy_ah_attr_from_kern, (&ah, &kern.ah_attr));
	assert_int_equal(ah.port_num, 1);
	NOTHING(ibv_copy_path_rec_from_kern, (&path, &user));
	assert_int_equal(path.mtu, IBV_MTU_4096);
	user.mtu = 0;
	NOTHING(ibv_copy_path_rec_to_kern, (&user, &path));
	assert_int_equal(user.mtu, IBV_MTU_4096);
}

/* The public functions of the map are its lines that hold one name. */
TEST(every, function_of_the_map_was_called)
{
	FILE *f = fopen(test_arg(0), "r");
	char line[200], name[100];
	unsigned int n = 0;
	char end;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %99[a-z0-9_]%c", name, &end) != 2 || end != ';')
			continue;
		n++;
		if (!was_called(name))
			print_error("%s was not called\n", name);
		assert_true(was_called(name));
	}
	fclose(f);
	assert_true(n >= 90);
}
