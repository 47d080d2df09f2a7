/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env_srv6.c - reads the settings of EVs that are SRv6 paths: how many there are, and the rows that
 * say where a path leads.
 *
 * This happens in two steps, for the ports lie between them: the rows decide how ports are read (by
 * interface, with one address for all), and the number of ports decides how many EVs each of them
 * can have.
 */
#include "host/config/env.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/ev_fmt.h"

/* A row is longer than this only by mistake. */
#define SRV6_ROW_MAX 512u

/* srv6_read_uplinks reads how many uplinks a switch has, as many at most as an EV names. */
static int srv6_read_uplinks(const struct mh_settings *s, enum mh_setting id, uint32_t bits,
			     uint32_t *uplinks, struct mh_env_error *error)
{
	const struct mh_settings_range range = {1, 1u << bits, ""};
	uint64_t number = *uplinks;
	int err = mh_settings_number(s, id, &range, &number, error);

	*uplinks = (uint32_t)number;
	return err;
}

/*
 * There is no default: the host's addresses on its planes may differ, and peers must know it by one
 * that is the same on all. A multicast or link-local address cannot be routed to.
 */
static int srv6_read_gid(struct mh_env *env, const struct mh_settings *s,
			 struct mh_env_error *error)
{
	static const uint8_t none[16];
	const char *text = s->of[MH_SET_SRV6_GID].text;
	uint8_t *gid = env->srv6.gid;

	if (text && inet_pton(AF_INET6, text, gid) == 1 && memcmp(gid, none, 16) != 0 &&
	    gid[0] != 0xFF && !(gid[0] == 0xFE && (gid[1] & 0xC0) == 0x80))
		return 0;
	return mh_settings_error(s, MH_SET_SRV6_GID,
				 "must be the IPv6 address of this host, the same on all planes, "
				 "when there are rows (MRC_SRV6_ROWS, srv6.rows)",
				 error);
}

/* Two rows with one prefix: which of them a GID is in would depend on their order. */
static bool srv6_is_same_prefix(const struct mh_srv6_row *a, const struct mh_srv6_row *b)
{
	return a->prefix == b->prefix &&
	       ((a->subnet.first ^ b->subnet.first) & a->subnet.mask) == 0 &&
	       ((a->host.first ^ b->host.first) & a->host.mask) == 0;
}

/* srv6_row reads one row behind those that there are. */
static int srv6_read_row(struct mh_srv6 *srv6, const struct mh_settings *s, const char *text,
			 struct mh_env_error *error)
{
	char what[MH_SRV6_WHY_MAX], why[MH_SRV6_WHY_MAX + 20];
	struct mh_srv6_row *row = &srv6->row[srv6->n_rows];

	if (srv6->n_rows == MH_SRV6_ROWS_MAX)
		return mh_settings_error(s, MH_SET_SRV6_ROWS, "has more than 64 rows", error);
	snprintf(why, sizeof(why), "row %u has the prefix of another", srv6->n_rows + 1);
	if (!mh_srv6_parse_row(text, row, what)) {
		snprintf(why, sizeof(why), "row %u: %s", srv6->n_rows + 1, what);
		return mh_settings_error(s, MH_SET_SRV6_ROWS, why, error);
	}
	for (uint32_t i = 0; i < srv6->n_rows; i++)
		if (srv6_is_same_prefix(&srv6->row[i], row))
			return mh_settings_error(s, MH_SET_SRV6_ROWS, why, error);
	srv6->n_rows++;
	return 0;
}

/* Rows are separated by commas, in the environment and, by then, in the array of a file. */
static int srv6_read_rows(struct mh_srv6 *srv6, const struct mh_settings *s,
			  struct mh_env_error *error)
{
	const char *at = s->of[MH_SET_SRV6_ROWS].text;
	int err = 0;

	while (!err && at) {
		const char *comma = strchr(at, ',');
		size_t len = comma ? (size_t)(comma - at) : strlen(at);
		char text[SRV6_ROW_MAX];

		if (len >= sizeof(text))
			return mh_settings_error(s, MH_SET_SRV6_ROWS,
						 "has a row of more than 511 characters", error);
		memcpy(text, at, len);
		text[len] = '\0';
		err = srv6_read_row(srv6, s, text, error);
		at = comma ? comma + 1 : NULL;
	}
	return err;
}

/* srv6_check_without_rows: what only rows make sense of. */
static int srv6_check_without_rows(const struct mh_settings *s, struct mh_env_error *error)
{
	static const enum mh_setting ids[] = {MH_SET_SRV6_GID, MH_SET_SRV6_UPLINKS,
					      MH_SET_SRV6_T1_UPLINKS};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (s->of[ids[i]].text)
			return mh_settings_error(s, ids[i], "needs rows (MRC_SRV6_ROWS, srv6.rows)",
						 error);
	return 0;
}

/* srv6_check_other_settings: settings that mean something else, or nothing, when EVs are paths. */
static int srv6_check_other_settings(struct mh_env *env, const struct mh_settings *s,
				     struct mh_env_error *error)
{
	const char *format = s->of[MH_SET_EV_FORMAT].text;

	if (env->driver == MH_DRIVER_AF_PACKET)
		return mh_settings_error(s, MH_SET_DRIVER,
					 "cannot send to SRv6 paths (MRC_SRV6_ROWS, srv6.rows); "
					 "raw41 and udp can",
					 error);
	if (format && strcmp(format, "stev") != 0)
		return mh_settings_error(s, MH_SET_EV_FORMAT,
					 "must be stev with SRv6 paths (MRC_SRV6_ROWS, srv6.rows)",
					 error);
	if (s->of[MH_SET_PREFIX].text)
		return mh_settings_error(s, MH_SET_PREFIX,
					 "says nothing with SRv6 paths (MRC_SRV6_ROWS, "
					 "srv6.rows): a host has one address on all planes",
					 error);
	if (env->ev_base % MH_SRV6_PLANES_MAX != 0)
		return mh_settings_error(s, MH_SET_EV_BASE,
					 "must be a multiple of 16 with SRv6 paths "
					 "(MRC_SRV6_ROWS, srv6.rows): the plane is added to it",
					 error);
	env->srv6.free = env->ev_base / MH_SRV6_PLANES_MAX;
	return 0;
}

int mh_env_read_srv6(struct mh_env *env, const struct mh_settings *s, struct mh_env_error *error)
{
	struct mh_srv6 *srv6 = &env->srv6;
	int err;

	if (!s->of[MH_SET_SRV6_ROWS].text)
		return srv6_check_without_rows(s, error);
	srv6->t1_uplinks = 1;
	err = srv6_check_other_settings(env, s, error);
	if (!err)
		err = srv6_read_gid(env, s, error);
	if (!err)
		err = srv6_read_rows(srv6, s, error);
	if (!err && !s->of[MH_SET_SRV6_UPLINKS].text)
		err = mh_settings_error(s, MH_SET_SRV6_UPLINKS,
					"must say how many uplinks a T0 has, 1 to 256, when there "
					"are rows (MRC_SRV6_ROWS, srv6.rows)",
					error);
	if (!err)
		err = srv6_read_uplinks(s, MH_SET_SRV6_UPLINKS, MW_EV_UPLINK_BITS, &srv6->uplinks,
					error);
	if (!err)
		err = srv6_read_uplinks(s, MH_SET_SRV6_T1_UPLINKS, MW_EV_T1_UPLINK_BITS,
					&srv6->t1_uplinks, error);
	return err;
}

int mh_env_read_srv6_evs(struct mh_env *env, const struct mh_settings *s,
			 struct mh_env_error *error)
{
	struct mh_srv6 *srv6 = &env->srv6;
	uint32_t paths = srv6->uplinks * srv6->t1_uplinks;
	char why[100];

	if (srv6->n_rows == 0)
		return 0;
	if (s->of[MH_SET_EVS].text && env->evs > paths) {
		snprintf(why, sizeof(why), "must be at most %u: so many paths leave a T0", paths);
		return mh_settings_error(s, MH_SET_EVS, why, error);
	}
	if (!s->of[MH_SET_EVS].text)
		env->evs = paths < MT_EVS_MAX / env->n_ports ? paths : MT_EVS_MAX / env->n_ports;
	srv6->evs = env->evs;
	/*
	 * Hosts with fewer EVs than paths begin at different ones, or all would leave out the same
	 * paths.
	 */
	srv6->turn = (uint32_t)(mb_load_be64(srv6->gid) + mb_load_be64(srv6->gid + 8)) % paths;
	env->ev_format = MW_EV_STEV;
	return 0;
}
