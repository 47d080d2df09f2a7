/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_format.h - formats of EVs that tests of the controller API make. */
#ifndef LIVE_CTL_FORMAT_H
#define LIVE_CTL_FORMAT_H

#include "live/live_fixture.h"

#include <mrc_ctl.h>

/* ctl_make_format makes an ONLINE format of n fields; -1 with errno as the calls say. */
static inline int ctl_make_format(const struct fixture *r, uint64_t id,
				  enum mrc_ctl_ev_fmt_mode mode,
				  struct mrc_ctl_ev_fmt_field *fields, int n)
{
	struct mrc_ctl_ev_fmt_profile_attr attr = {
		.profile_state = MRC_CTL_PROFILE_OFFLINE,
		.ev_fmt_mode = mode,
		.ev_fmt_op = {.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS,
			      .fmt_fields = fields,
			      .fmt_field_count = n}};
	const int made_with = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE |
			      MRC_CTL_EV_FMT_PROFILE_OP;

	if (mrc_ctl_modify_ev_fmt_profile(r->ctx, id, &attr, made_with))
		return -1;
	attr.profile_state = MRC_CTL_PROFILE_ONLINE;
	return mrc_ctl_modify_ev_fmt_profile(r->ctx, id, &attr, MRC_CTL_EV_FMT_PROFILE_STATE);
}

/* ctl_make_udp_format makes one of a single field: the source ports that sockets have. */
static inline void ctl_make_udp_format(const struct fixture *r, uint64_t id)
{
	struct mrc_ctl_ev_fmt_field field = {16};

	assert_int_equal(ctl_make_format(r, id, MRC_CTL_EV_FMT_MODE_UDP, &field, 1), 0);
}

#endif
