/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_query.c - what the device tells about itself: limits, the one port, the one GID. The NIC's
 * planes are inside: verbs sees a port that is up while any plane is.
 */
#include "libibverbs/real_library.h"

#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* libibverbs counts in int what the NIC counts in uint32_t. */
static int clamp_to_int(uint32_t n)
{
	return n > INT_MAX ? INT_MAX : (int)n;
}

/*
 * Programs take no vendor for a fault. This one is of the range that is not assigned: the bit that
 * says so, and "mr".
 */
#define VENDOR_ID 0x026d72u

#define CAP_FLAGS                                                                     \
	((unsigned int)(IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT | \
			IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE))
#define CAP_WINDOWS ((unsigned int)(IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B))

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr)
{
	struct mh_device_attr nic;

	MV_TO_REAL(mv_real_of_context(context), ibv_query_device, (context, device_attr));
	if (!context || !device_attr)
		return EINVAL;
	mh_device_query(mv_context(context)->nic, &nic);
	*device_attr = (struct ibv_device_attr){
		.node_guid = htobe64(nic.guid),
		.sys_image_guid = htobe64(nic.guid),
		.max_mr_size = nic.max_mr_bytes,
		.page_size_cap = ~((uint64_t)sysconf(_SC_PAGESIZE) - 1),
		.vendor_id = VENDOR_ID,
		.max_qp = clamp_to_int(nic.max_qp),
		.device_cap_flags = CAP_FLAGS | (nic.max_mw ? CAP_WINDOWS : 0),
		.max_qp_wr = clamp_to_int(nic.max_send_wr < nic.max_recv_wr ? nic.max_send_wr
									    : nic.max_recv_wr),
		.max_sge = clamp_to_int(nic.max_sge),
		.max_sge_rd = clamp_to_int(nic.max_sge),
		.max_cq = clamp_to_int(nic.max_cq),
		.max_cqe = clamp_to_int(nic.max_cqe),
		.max_mr = clamp_to_int(nic.max_mr),
		.max_mw = clamp_to_int(nic.max_mw),
		.max_pd = clamp_to_int(nic.max_pd),
		.max_ah = INT_MAX,
		/* Of each QP and of all of the process; the processor's own atomics see them as
		   such. */
		.atomic_cap = nic.max_rd_atomic ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
		.max_qp_rd_atom = nic.max_rd_atomic,
		.max_qp_init_rd_atom = nic.max_rd_atomic,
		.max_res_rd_atom = clamp_to_int(nic.max_qp * nic.max_rd_atomic),
		.max_srq = clamp_to_int(nic.max_qp),
		.max_srq_wr = clamp_to_int(nic.max_recv_wr),
		.max_srq_sge = clamp_to_int(nic.max_sge),
		.max_pkeys = 1,
		.phys_port_cnt = 1,
	};
	snprintf(device_attr->fw_ver, sizeof(device_attr->fw_ver), "softmrc");
	return 0;
}

/* The clock of completions counts ns. */
#define CLOCK_KHZ 1000000u
/* IBV_DEVICE_ATOMIC_WRITE of newer headers. */
#define CAP_ATOMIC_WRITE (UINT64_C(1) << 40)

/* attr_size is that of the program's header: older is shorter, newer has fields we leave zero. */
int mv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex full = {
		.phys_port_cnt_ex = 1,
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = CLOCK_KHZ,
	};
	int err;

	if (!context || !attr || attr_size < sizeof(full.orig_attr))
		return EINVAL;
	if (input && input->comp_mask)
		return EINVAL;
	err = ibv_query_device(context, &full.orig_attr);
	if (err)
		return err;
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags | CAP_ATOMIC_WRITE;
	memset(attr, 0, attr_size);
	memcpy(attr, &full, attr_size < sizeof(full) ? attr_size : sizeof(full));
	return 0;
}

int mv_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	if (!context || !values || values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
		return EINVAL;
	if (values->comp_mask)
		clock_gettime(CLOCK_MONOTONIC, &values->raw_clock);
	return 0;
}

/* Link speeds that verbs can name at width 1X, and the code of each. */
static const struct {
	uint64_t bps;
	uint8_t code;
} speeds[] = {
	{2500000000u, 1},   {5000000000u, 2},	{10000000000u, 4},
	{25000000000u, 32}, {50000000000u, 64}, {100000000000u, 128},
};

/* A NIC without a pace has no rate of its own; this is what it is taken for. */
#define UNPACED_BPS 10000000000u

uint64_t mv_port_bps(struct ibv_context *context)
{
	const struct mh_device *nic = mv_context(context)->nic;
	struct mh_plane_attr plane;
	uint64_t total = 0;

	for (uint32_t p = 0; mh_device_query_plane(nic, p, &plane) == 0; p++)
		total += plane.pace_bps;
	return total ? total : UNPACED_BPS;
}

/* The smallest nameable speed that is not below that of the port. */
static uint8_t active_speed(struct ibv_context *context)
{
	size_t last = sizeof(speeds) / sizeof(speeds[0]) - 1;
	uint64_t bps = mv_port_bps(context);
	size_t i = 0;

	while (i < last && speeds[i].bps < bps)
		i++;
	return speeds[i].code;
}

/*
 * Port 1 is the device, as verbs has it. The others are there for controllers: port n of mrc_ctl.h
 * is plane n - 1, and a program that looks at the number of ports never asks for them.
 */
static bool port_is_up(const struct mh_device *nic, uint8_t port_num, bool *up)
{
	struct mh_plane_attr plane;

	if (port_num == MV_PORT) {
		*up = mh_device_is_up(nic);
		return true;
	}
	if (port_num == 0 || mh_device_query_plane(nic, port_num - 1u, &plane))
		return false;
	*up = plane.up;
	return true;
}

static void port_fill(struct ibv_context *context, bool up, struct ibv_port_attr *port)
{
	const struct mh_device *nic = mv_context(context)->nic;
	struct mh_device_attr attr;

	mh_device_query(nic, &attr);
	*port = (struct ibv_port_attr){
		.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
		.max_mtu = iv_mtu_from_nic(attr.max_mtu),
		.active_mtu = iv_mtu_from_nic(attr.max_mtu),
		.gid_tbl_len = IV_GIDS,
		.max_msg_sz =
			attr.max_msg_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)attr.max_msg_bytes,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = 1,
		.active_speed = active_speed(context),
		.phys_state = up ? 5 : 3, /* LinkUp, Disabled */
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};
}

int mv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr,
		  size_t port_attr_len)
{
	struct ibv_port_attr full;
	bool up;

	if (!context || !port_attr || !port_is_up(mv_context(context)->nic, port_num, &up))
		return EINVAL;
	port_fill(context, up, &full);
	memset(port_attr, 0, port_attr_len);
	memcpy(port_attr, &full, port_attr_len < sizeof(full) ? port_attr_len : sizeof(full));
	return 0;
}

/* The exported function is for programs older than the inline one; their structure ends earlier. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *port_attr)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_query_port, (context, port_num, port_attr));
	return mv_query_port(context, port_num, (struct ibv_port_attr *)port_attr,
			     offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	struct mh_device_attr attr;

	MV_TO_REAL(mv_real_of_context(context), ibv_query_gid, (context, port_num, index, gid));
	if (!context || !gid || port_num != MV_PORT || index < 0 || index >= IV_GIDS)
		return iv_minus_one(EINVAL);
	mh_device_query(mv_context(context)->nic, &attr);
	memcpy(gid->raw, attr.gid.b, sizeof(gid->raw));
	return 0;
}

/* entry_size is that of the program's header, as above. */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry full = {
		.gid_index = gid_index,
		.port_num = port_num,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
	};
	struct mh_plane_attr plane;

	MV_TO_REAL(mv_real_of_context(context), _ibv_query_gid_ex,
		   (context, port_num, gid_index, entry, flags, entry_size));
	if (flags)
		return EOPNOTSUPP;
	if (!context || !entry || port_num != MV_PORT || gid_index >= IV_GIDS)
		return EINVAL;
	if (ibv_query_gid(context, MV_PORT, (int)gid_index, &full.gid))
		return errno;
	/* The GID is the address of the first port. */
	if (mh_device_query_plane(mv_context(context)->nic, 0, &plane) == 0)
		full.ndev_ifindex = plane.ifindex;
	memset(entry, 0, entry_size);
	memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size)
{
	char *entry = (char *)entries; /* of the size that the program's header has */
	int err = 0;

	MV_TO_REAL(mv_real_of_context(context), _ibv_query_gid_table,
		   (context, entries, max_entries, flags, entry_size));
	if (!entries || max_entries < IV_GIDS)
		return -EINVAL;
	for (uint32_t i = 0; i < IV_GIDS && !err; i++)
		err = _ibv_query_gid_ex(context, MV_PORT, i,
					(struct ibv_gid_entry *)(void *)(entry + i * entry_size),
					flags, entry_size);
	return err ? -err : IV_GIDS;
}

/* The device has one P_Key, as RoCE devices do. */
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_query_pkey, (context, port_num, index, pkey));
	if (!context || !pkey || port_num != MV_PORT || index != 0)
		return iv_minus_one(EINVAL);
	*pkey = htobe16(MV_P_KEY);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	MV_TO_REAL(mv_real_of_context(context), ibv_get_pkey_index, (context, port_num, pkey));
	return context && port_num == MV_PORT && pkey == htobe16(MV_P_KEY) ? 0
									   : iv_minus_one(EINVAL);
}

/* No kernel counts it. */
int ibv_get_device_index(struct ibv_device *device)
{
	MV_TO_REAL(mv_real_of_device(device), ibv_get_device_index, (device));
	return -1;
}

/* Nothing of the connection is to be agreed beyond what verbs has. */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	MV_TO_REAL(mv_real_of(qp), ibv_query_ece, (qp, ece));
	if (!qp || !ece)
		return EINVAL;
	*ece = (struct ibv_ece){0};
	return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	MV_TO_REAL(mv_real_of(qp), ibv_set_ece, (qp, ece));
	if (!qp || !ece)
		return EINVAL;
	if (ece->comp_mask)
		return EOPNOTSUPP;
	*ece = (struct ibv_ece){0};
	return 0;
}

/*
 * Of a message all but its end is placed as it comes, by whatever path. That the end comes last
 * (docs/protocol.md, Order) is less than what is asked here: bytes in the order of their addresses.
 */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	MV_TO_REAL(mv_real_of(qp), ibv_query_qp_data_in_order, (qp, op, flags));
	return 0;
}
