/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.c - the settings of a script, as one table: what a key sets, and what it takes.
 *
 * The defaults make a quiet engine: timers that no script waits for by chance are a second long, so
 * that a script which is about holes need not name the probes of silence.
 */
#include "config.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)

void config_default(struct config *c)
{
	memset(c, 0, sizeof(*c));
	mt_engine_cfg_default(&c->engine, 1);
	c->engine.timing.sack_bytes = 4096;
	c->engine.timing.sack_in_order_bytes = 0;
	c->engine.max_qps = 4;
	c->engine.max_mrs = 4;
	c->engine.seed = 1;
	c->engine.timing.reorder_min_ns = c->engine.timing.reorder_max_ns = 5000;
	c->engine.timing.tail_probe_min_ns = SECOND;
	c->ev_profile = (struct mt_ev_profile_cfg){
		.n_evs = 4,
		.min_active = 1,
		.revive_probes = 2,
		.probe_interval_ns = SECOND,
		.probe_interval_max_ns = SECOND,
	};
	c->cap = (struct mt_qp_cap){.sq_depth = 1024, .rq_depth = 1024, .max_sge = 1, .pd = 1};
	mt_qp_attr_default(&c->attr);
	c->attr.path_mtu = 1024;
	c->attr.timeout = 20; /* about a second */
	c->attr.sq_psn = c->attr.rq_psn = 100;
	c->rnr_retry = 7;
	c->rnr_timer = 1;
	c->mr_bytes = UINT64_C(1) << 40;
}

enum type { NUMBER, TIME, ON_OFF, CHOICE };

struct setting {
	const char *key;
	enum type type;
	uint64_t min, max; /* NUMBER */
	uint64_t unit;	   /* what is written counts for this many; 0 means 1 */
	size_t offset, size;
	const char *const *choices;
};

static const char *const ccs[] = {"none", "nscc", NULL};
static const char *const states[] = {"RTS", "RTR", NULL};
static const char *const memories[] = {"ample", "short", NULL};
static const char *const accesses[] = {"write", "read_only", NULL};

#define AT(member) offsetof(struct config, member), sizeof(((struct config *)0)->member)
#define PSN 0, 0xFFFFFF, 0
#define ANY_TIME 0, 0, 0

static const struct setting settings[] = {
	{"planes", NUMBER, 1, MT_PORTS_MAX, 0, AT(engine.n_ports), NULL},
	{"evs", NUMBER, 1, MT_EVS_MAX, 0, AT(ev_profile.n_evs), NULL},
	{"paths", NUMBER, 0, MT_EVS_MAX, 0, AT(paths), NULL},
	{"active", NUMBER, 1, MT_EVS_MAX, 0, AT(ev_profile.n_active), NULL},
	{"min_active", NUMBER, 1, MT_EVS_MAX, 0, AT(ev_profile.min_active), NULL},
	{"revive_probes", NUMBER, 1, 16, 0, AT(ev_profile.revive_probes), NULL},
	{"probe_interval", TIME, ANY_TIME, AT(ev_profile.probe_interval_ns), NULL},
	{"probe_interval_max", TIME, ANY_TIME, AT(ev_profile.probe_interval_max_ns), NULL},
	{"mtu", NUMBER, 256, 4096, 0, AT(attr.path_mtu), NULL},
	{"mpr", NUMBER, 1, 255, 0, AT(attr.mpr), NULL},
	{"mpr_dest", NUMBER, 1, 255, 0, AT(attr.mpr_dest), NULL},
	{"max_wimm", NUMBER, 1, 65535, 0, AT(attr.max_wimm), NULL},
	{"max_wimm_dest", NUMBER, 1, 1024, 0, AT(attr.max_wimm_dest), NULL},
	{"timeout", NUMBER, 0, 24, 0, AT(attr.timeout), NULL},
	{"linear", NUMBER, 0, 7, 0, AT(attr.retry_linear), NULL},
	{"exp", NUMBER, 0, 25, 0, AT(attr.retry_exp), NULL},
	{"psn", NUMBER, PSN, AT(attr.sq_psn), NULL},
	{"peer_psn", NUMBER, PSN, AT(attr.rq_psn), NULL},
	{"msn", NUMBER, PSN, AT(msn), NULL},
	{"rqmsn", NUMBER, PSN, AT(rqmsn), NULL},
	{"peer_msn", NUMBER, PSN, AT(peer_msn), NULL},
	{"peer_rqmsn", NUMBER, PSN, AT(peer_rqmsn), NULL},
	{"pkey", NUMBER, 0, 0xFFFF, 0, AT(attr.p_key), NULL},
	{"sq", NUMBER, 1, 32768, 0, AT(cap.sq_depth), NULL},
	{"rq", NUMBER, 0, 32768, 0, AT(cap.rq_depth), NULL},
	{"mr", NUMBER, 0, UINT64_C(1) << 40, 0, AT(mr_bytes), NULL},
	{"sack_bytes", NUMBER, 0, 1u << 30, 0, AT(engine.timing.sack_bytes), NULL},
	{"sack_in_order_bytes", NUMBER, 0, 1u << 30, 0, AT(engine.timing.sack_in_order_bytes),
	 NULL},
	{"reorder_min", TIME, ANY_TIME, AT(engine.timing.reorder_min_ns), NULL},
	{"reorder_max", TIME, ANY_TIME, AT(engine.timing.reorder_max_ns), NULL},
	{"port_hold", TIME, ANY_TIME, AT(engine.timing.port_hold_ns), NULL},
	{"tail_probe", TIME, ANY_TIME, AT(engine.timing.tail_probe_min_ns), NULL},
	{"rto_min", TIME, ANY_TIME, AT(engine.timing.rto_min_ns), NULL},
	{"pressure", TIME, ANY_TIME, AT(engine.timing.backpressure_ns), NULL},
	{"idle", TIME, ANY_TIME, AT(engine.timing.idle_ns), NULL},
	{"svc_time", ON_OFF, ANY_TIME, AT(engine.svc_time), NULL},
	{"ep_rest", TIME, ANY_TIME, AT(engine.timing.ep_quarantine_ns), NULL},
	{"control_ring", NUMBER, 8, 65536, 0, AT(engine.control_ring), NULL},
	{"seed", NUMBER, 0, UINT64_MAX, 0, AT(engine.seed), NULL},
	{"trim_nack_dest", ON_OFF, ANY_TIME, AT(attr.trim_nack_dest), NULL},
	{"dynamic_mpr", ON_OFF, ANY_TIME, AT(attr.dynamic_mpr), NULL},
	{"cc", CHOICE, ANY_TIME, AT(cc.kind), ccs},
	{"trimming", ON_OFF, ANY_TIME, AT(cc.trimming), NULL},
	{"link_gbps", NUMBER, 1, 8000, SECOND, AT(cc.link_bps), NULL},
	{"base_rtt", TIME, ANY_TIME, AT(cc.base_rtt_ns), NULL},
	{"max_cwnd", NUMBER, 0, UINT32_MAX, 0, AT(cc.max_cwnd_bytes), NULL},
	{"gap", TIME, ANY_TIME, AT(gap_ns), NULL},
	{"state", CHOICE, ANY_TIME, AT(rtr_only), states},
	{"memory", CHOICE, ANY_TIME, AT(memory_short), memories},
	{"extended", ON_OFF, ANY_TIME, AT(extended), NULL},
	{"rnr_retry", NUMBER, 0, 7, 0, AT(rnr_retry), NULL},
	{"rnr_timer", NUMBER, 0, 31, 0, AT(rnr_timer), NULL},
	{"access", CHOICE, ANY_TIME, AT(read_only), accesses},
};

#define SETTINGS (sizeof(settings) / sizeof(*settings))

static const struct setting *find(struct report *r, const char *key)
{
	const char *keys[SETTINGS + 1];
	char allowed[1024];

	for (size_t i = 0; i < SETTINGS; i++) {
		if (strcmp(settings[i].key, key) == 0)
			return &settings[i];
		keys[i] = settings[i].key;
	}
	keys[SETTINGS] = NULL;
	word_list(keys, allowed, sizeof(allowed));
	report_fail(r, "setting '%s' is unknown, allowed is %s", key, allowed);
}

static uint64_t value_of(struct words *w, const struct setting *s)
{
	static const char *const on_off[] = {"off", "on", NULL};
	uint64_t v;

	switch (s->type) {
	case TIME:
		return words_time(w, s->key);
	case ON_OFF:
		return words_choice(w, s->key, on_off);
	case CHOICE:
		return words_choice(w, s->key, s->choices);
	case NUMBER:
		break;
	}
	v = words_number(w, s->key, s->max);
	if (v < s->min)
		report_fail(w->report, "%s %llu is out of range, allowed is %llu to %llu", s->key,
			    (unsigned long long)v, (unsigned long long)s->min,
			    (unsigned long long)s->max);
	return s->unit ? v * s->unit : v;
}

static void store(struct config *c, const struct setting *s, uint64_t v)
{
	uint8_t *at = (uint8_t *)c + s->offset;
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	if (s->size == 1)
		memcpy(at, &v8, 1);
	else if (s->size == 2)
		memcpy(at, &v16, 2);
	else if (s->size == 4)
		memcpy(at, &v32, 4);
	else
		memcpy(at, &v, 8);
}

void config_parse(struct words *w, struct config *c)
{
	while (words_peek(w)) {
		const struct setting *s = find(w->report, words_next(w, "a setting"));

		store(c, s, value_of(w, s));
	}
}
