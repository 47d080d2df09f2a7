/* SPDX-License-Identifier: BSD-2-Clause */
/* md_config_map.c - the [map] of the configuration file: see md_map.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "map/map_policy.h"
#include "mrcd/md_map.h"
#include "prober/probe_host.h"

/* No port that anybody has registered; the probes of all hosts go there. */
#define PORT_USUAL 9793u
#define MS_NS UINT64_C(1000000)
#define S_NS (1000 * MS_NS)

static int take_interfaces(struct md_config_map *m, const json_t *o, struct md_error *e)
{
	static const char key[] = "map.interfaces";
	static const char allowed[] = "a list of interfaces, one for each plane, at most 16";
	const json_t *list = json_object_get(o, key);
	int err = md_args_need(o, key, e);

	if (err)
		return err;
	if (!json_is_array(list) || json_array_size(list) > MF_PLANES_MAX)
		return md_refuse_value(e, o, key, allowed);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		if (!name || !name[0] || strlen(name) >= sizeof(m->interface[i]))
			return md_refuse_value(e, o, key, allowed);
		snprintf(m->interface[i], sizeof(m->interface[i]), "%s", name);
		m->interfaces++;
	}
	return 0;
}

static int take_rate(struct md_config_map *m, const json_t *o, struct md_error *e)
{
	const char *text = NULL;
	int err = md_args_text(o, "map.rate", 32, &text, e);

	if (!err && text &&
	    !mb_quantity_read_rate(text, PROBE_RATE_MIN, PROBE_RATE_MAX, &m->rate_bit_s))
		err = md_refuse_value(e, o, "map.rate", "bits a second, \"100k\" to \"1G\"");
	return err;
}

static int take_time(const json_t *o, const char *key, uint64_t min, uint64_t max, uint64_t *ns,
		     const char *allowed, struct md_error *e)
{
	const char *text = NULL;
	int err = md_args_text(o, key, 32, &text, e);

	if (!err && text && !mb_quantity_read_time(text, min, max, ns))
		err = md_refuse_value(e, o, key, allowed);
	return err;
}

static int take_policy(struct md_config_map *m, const json_t *o, struct md_error *e)
{
	static const char *const words[] = {"off", "advise", "act", NULL};
	int err = md_args_word(o, "map.policy", words, &m->policy, e);

	if (!err)
		err = take_time(o, "map.deny_after", 100 * MS_NS, 3600 * S_NS, &m->deny_after_ns,
				"a time, \"100ms\" to \"1h\"", e);
	if (!err)
		err = take_time(o, "map.return_after", S_NS, 86400 * S_NS, &m->return_after_ns,
				"a time, \"1s\" to \"1d\"", e);
	if (!err)
		err = md_args_u32(o, "map.deny_share", 1, MM_POLICY_SHARE_MAX, &m->deny_share, e);
	return err;
}

static bool any(const json_t *o)
{
	static const char *const keys[] = {
		"map.fabric", "map.host",   "map.interfaces", "map.share",	"map.rate",
		"map.port",   "map.policy", "map.deny_after", "map.deny_share", "map.return_after"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (md_args_has(o, keys[i]))
			return true;
	return false;
}

int md_config_take_map(struct md_config_map *m, const json_t *o, struct md_error *e)
{
	const char *fabric = NULL;
	int err = md_args_text(o, "map.fabric", sizeof(m->fabric) - 1, &fabric, e);

	*m = (struct md_config_map){
		.share = PROBE_SHARE_USUAL,
		.rate_bit_s = PROBE_RATE_USUAL,
		.port = PORT_USUAL,
		.policy = MD_MAP_ADVISE,
		.deny_after_ns = MM_POLICY_DENY_AFTER_USUAL_NS,
		.return_after_ns = MM_POLICY_RETURN_AFTER_USUAL_NS,
		.deny_share = MM_POLICY_SHARE_USUAL,
	};
	if (err || !any(o))
		return err;
	err = md_args_need(o, "map.fabric", e);
	if (!err)
		err = md_args_need(o, "map.host", e);
	if (err)
		return err;
	snprintf(m->fabric, sizeof(m->fabric), "%s", fabric);
	err = md_args_u32(o, "map.host", 0, UINT32_MAX, &m->host, e);
	if (!err)
		err = md_args_u32(o, "map.share", 1, PROBE_SHARE_MAX, &m->share, e);
	if (!err)
		err = md_args_u32(o, "map.port", 1, 65535, &m->port, e);
	if (!err)
		err = take_rate(m, o, e);
	if (!err)
		err = take_policy(m, o, e);
	if (!err)
		err = take_interfaces(m, o, e);
	return err;
}
