/* SPDX-License-Identifier: BSD-2-Clause */
/* md_request.c - what clients ask, and the answers: see md_node.h. */
#include "mrcd/md_node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/printable.h"
#include "mrcd/md_change.h"
#include "mrcd/md_log.h"

struct asked {
	struct md_node *node;
	struct md_peer *peer;
	json_t *args; /* of the request: the object without "do" and "id" */
	json_t *answer;
	struct mn_device d;
	struct md_error e;
};

static json_t *all_profiles(uint32_t n, json_t *(*show)(const struct mn_state *s, uint32_t id),
			    const struct mn_state *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, show(s, i));
	return list;
}

/* ---- questions ---- */

static int ask_status(struct asked *a)
{
	const struct md_node *n = a->node;
	const struct md_counts *c = &n->counts;

	json_object_set_new(
		a->answer, "status",
		json_pack("{s:s, s:s, s:s, s:I, s:I, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:i}",
			  "version", SOFTMRC_VERSION, "device", n->config.device, "dir",
			  n->config.dir, "generation", (json_int_t)n->generation, "uid",
			  (json_int_t)a->peer->uid, "may_change", md_node_lets(n, a->peer), "lab",
			  n->config.lab, "requests", (json_int_t)c->requests, "refused",
			  (json_int_t)c->refused, "changes", (json_int_t)c->changes, "reloads",
			  (json_int_t)c->reloads, "reloads_refused", (json_int_t)c->reloads_refused,
			  "clients", (int)c->clients));
	return 0;
}

static int ask_port(struct asked *a)
{
	json_object_set_new(a->answer, "ports", md_show_ports(a->node->now, &a->d));
	return 0;
}

static int ask_format(struct asked *a)
{
	json_object_set_new(a->answer, "formats",
			    all_profiles(MN_FMT_PROFILES, md_show_format, a->node->now));
	return 0;
}

static int ask_cc(struct asked *a)
{
	json_object_set_new(a->answer, "cc",
			    all_profiles(MN_CC_PROFILES, md_show_cc, a->node->now));
	return 0;
}

static int ask_ev(struct asked *a)
{
	static const char *const known[] = {"profile", NULL};
	uint32_t id = MN_EV_PROFILES;
	json_t *list;
	int err = md_args_only(a->args, known, &a->e);

	if (!err)
		err = md_args_u32(a->args, "profile", 0, MN_EV_PROFILES - 1, &id, &a->e);
	if (err)
		return err;
	list = json_array();
	for (uint32_t i = 0; i < MN_EV_PROFILES; i++)
		if (id == MN_EV_PROFILES || i == id)
			json_array_append_new(list,
					      md_show_ev_profile(a->node->now, i, a->node->notes));
	json_object_set_new(a->answer, "evs", list);
	return 0;
}

static int ask_events(struct asked *a)
{
	a->peer->follows = true;
	return 0;
}

static int ask_reload(struct asked *a)
{
	struct md_config_error error = {0};
	int err = md_node_reload(a->node, &error);

	md_log(err ? MD_ERROR : MD_INFO, "reload", a->peer->uid, "%s",
	       err ? error.text : "the configuration was read again");
	return err ? md_refuse(&a->e, err, "", "%s", error.text) : 0;
}

/* What has changed is told in the place of what was asked. */
static int ask_put(struct asked *a)
{
	json_t *changed;
	int err = md_offer(a->node, a->peer, a->args, &a->d, &changed, &a->e);

	if (err)
		return err;
	a->node->counts.changes++;
	json_object_clear(a->args);
	json_object_update(a->args, changed);
	json_decref(changed);
	json_object_set_new(a->answer, "generation", json_integer((json_int_t)a->node->generation));
	return 0;
}

/* ---- what there is ---- */

static const struct verb {
	const char *name;
	int (*ask)(struct asked *a);
	md_change_fn *change;
	bool takes_nothing, needs_rights;
} verbs[] = {
	{"status", ask_status, NULL, true, false},
	{"events", ask_events, NULL, true, false},
	{"reload", ask_reload, NULL, true, true},
	{"port.show", ask_port, NULL, true, false},
	{"format.show", ask_format, NULL, true, false},
	{"ev.show", ask_ev, NULL, false, false},
	{"cc.show", ask_cc, NULL, true, false},
	{"port.set", NULL, md_change_port, false, true},
	{"format.set", NULL, md_change_format, false, true},
	{"ev.set", NULL, md_change_ev_profile, false, true},
	{"cc.set", NULL, md_change_cc, false, true},
	{"ev.deny", NULL, md_change_deny, false, true},
	{"ev.undeny", NULL, md_change_undeny, false, true},
	{"ev.replace", NULL, md_change_replace, false, true},
	{"state.put", ask_put, NULL, false, true},
};

static const struct verb *find_verb(const json_t *request, struct md_error *e)
{
	const char *words[sizeof(verbs) / sizeof(verbs[0]) + 1] = {NULL};
	uint32_t i = 0;

	for (size_t k = 0; k < sizeof(verbs) / sizeof(verbs[0]); k++)
		words[k] = verbs[k].name;
	if (md_args_need(request, "do", e) || md_args_word(request, "do", words, &i, e))
		return NULL;
	return &verbs[i];
}

/* The next state and the notes that belong to it are put in force together, or neither is. */
static int change(struct asked *a, const struct verb *v)
{
	struct md_node *n = a->node;
	const json_t *reasons = v->change == md_change_deny ? a->args : NULL;
	struct store_error error = {0};
	struct md_user user;
	int err;

	mn_state_copy(n->next, n->now);
	err = v->change(n->next, &a->d, a->args, &a->e);
	if (!err)
		err = md_users_check(n, NULL, &user, &a->e);
	if (err)
		return err;
	err = md_node_put(n, md_notes_update(n->notes, n->next, reasons, time(NULL)), &error);
	if (err)
		return md_refuse(&a->e, err, "", "%s", error.text);
	n->counts.changes++;
	json_object_set_new(a->answer, "generation", json_integer((json_int_t)n->generation));
	return 0;
}

json_t *md_said(const struct md_node *node, const char *verb, uint32_t uid, json_t *args)
{
	json_t *said = json_pack("{s:s, s:s, s:I, s:I}", "event", "change", "do", verb, "uid",
				 (json_int_t)uid, "generation", (json_int_t)node->generation);

	json_object_set_new(said, "args", args ? json_incref(args) : json_object());
	return said;
}

/* Who did what: for the log, and for those who follow. */
static json_t *tell(const struct asked *a, const struct verb *v)
{
	char *text = json_dumps(a->args, JSON_COMPACT);

	md_log(MD_INFO, v->name, a->peer->uid, "%.800s", text ? text : "");
	free(text);
	return md_said(a->node, v->name, a->peer->uid, a->args);
}

static int obey(struct asked *a, const struct verb *v, json_t **said)
{
	static const char *const nothing[] = {NULL};
	int err = v->takes_nothing ? md_args_only(a->args, nothing, &a->e) : 0;

	if (err)
		return err;
	/* REQ(ctl.privilege) */
	if (v->needs_rights && !md_node_lets(a->node, a->peer)) {
		md_log(MD_WARNING, "denied", a->peer->uid, "%s: no right to change anything",
		       v->name);
		return md_refuse(&a->e, EPERM, "do",
				 "do = %s: takes root or CAP_NET_ADMIN, or access.lab in %s",
				 v->name, a->node->config_path);
	}
	err = v->ask ? v->ask(a) : change(a, v);
	if (!err && v->needs_rights)
		*said = tell(a, v);
	return err;
}

static const char *errno_name(int err)
{
#ifdef __GLIBC__
	const char *name = strerrorname_np(err);
#else
	const char *name = NULL;
#endif

	return name ? name : "EIO";
}

static json_t *refuse(struct asked *a, json_t *id)
{
	a->node->counts.refused++;
	json_decref(a->answer);
	/* A value that was cut within a character is no text for JSON. */
	mb_printable(a->e.text, sizeof(a->e.text));
	return json_pack("{s:O*, s:b, s:s, s:s, s:s}", "id", id, "ok", 0, "errno",
			 errno_name(a->e.code), "key", a->e.key, "error", a->e.text);
}

json_t *md_request(struct md_node *node, struct md_peer *peer, const char *line, size_t len,
		   json_t **said)
{
	struct asked a = {.node = node, .peer = peer, .answer = json_object()};
	json_error_t where;
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &where), *id = NULL;
	const struct verb *v = NULL;

	*said = NULL;
	node->counts.requests++;
	md_config_device(&node->config, peer->uid, &a.d);
	if (!request || !json_is_object(request)) {
		md_refuse(&a.e, EINVAL, "", "a request is one line with one JSON object: %s",
			  request ? "this is another value" : where.text);
	} else {
		id = json_incref(json_object_get(request, "id"));
		v = find_verb(request, &a.e);
	}
	if (v) {
		json_object_del(request, "do");
		json_object_del(request, "id");
		a.args = request;
	}
	if (!v || obey(&a, v, said)) {
		a.answer = refuse(&a, id);
	} else {
		json_object_set_new(a.answer, "ok", json_true());
		if (id)
			json_object_set(a.answer, "id", id);
	}
	json_decref(id);
	json_decref(request);
	return a.answer;
}
