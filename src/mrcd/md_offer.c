/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_offer.c - a whole state from a process that has made changes by mrc_ctl.h: see md_node.h.
 *
 * It was made of a state that was in force, by the checks that are made here too, and counts only
 * if that one still is: so two processes that change something at once lose nothing. Who may change
 * may decide anything; what the device cannot be, the state is refused for.
 */
#include "mrcd/md_node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mrcd/md_change.h"

static int take_generation(const struct md_node *node, const json_t *args, struct md_error *e)
{
	static const char *const known[] = {"generation", NULL};
	const json_t *generation = json_object_get(args, "generation");
	int err = md_args_only(args, known, e);

	if (!err)
		err = md_args_need(args, "generation", e);
	if (err)
		return err;
	if (!json_is_integer(generation))
		return md_refuse_value(e, args, "generation", "a whole number");
	if ((uint64_t)json_integer_value(generation) != node->generation)
		return md_refuse(e, EAGAIN, "generation", "another state is in force");
	return 0;
}

static bool was_there(const struct mn_state *now, uint32_t profile, const struct mn_ev *ev)
{
	const struct mn_ev_profile *p = &now->ev[profile];

	for (uint32_t i = 0; i < p->n_evs; i++)
		if (memcmp(&now->evs[p->first + i], ev, sizeof(*ev)) == 0)
			return true;
	return false;
}

/* Who is to be asked about a denial is not for its maker to say. */
static void sign(const struct mn_state *now, struct mn_state *next, uint32_t uid)
{
	for (uint32_t id = 0; id < MN_EV_PROFILES; id++)
		for (uint32_t i = 0; i < next->ev[id].n_evs; i++) {
			struct mn_ev *ev = &next->evs[next->ev[id].first + i];

			if (ev->denied && was_there(now, id, ev))
				continue;
			ev->denier = MN_DENIED_BY_USER;
			ev->denied_by = ev->denied ? uid : 0;
		}
}

static bool is_same_ev_profile(const struct mn_state *a, const struct mn_state *b, uint32_t id)
{
	struct mn_ev_profile p = a->ev[id], q = b->ev[id];

	if (p.n_evs != q.n_evs ||
	    memcmp(&a->evs[p.first], &b->evs[q.first], p.n_evs * sizeof(a->evs[0])) != 0)
		return false;
	p.first = q.first;
	return memcmp(&p, &q, sizeof(p)) == 0;
}

/* Numbers with a point as bytes, too: a state has none between its fields. */
static bool is_same(const void *a, const void *b, size_t bytes)
{
	return memcmp(a, b, bytes) == 0;
}

static json_t *name_changes(const struct mn_state *a, const struct mn_state *b)
{
	json_t *ports = json_array(), *formats = json_array(), *evs = json_array(),
	       *cc = json_array();

	for (uint32_t i = 0; i < MN_PORTS_MAX; i++)
		if (a->port_admin[i] != b->port_admin[i])
			json_array_append_new(ports, json_integer(i + 1));
	for (uint32_t i = 0; i < MN_FMT_PROFILES; i++)
		if (!is_same(&a->fmt[i], &b->fmt[i], sizeof(a->fmt[i])))
			json_array_append_new(formats, json_integer(i));
	for (uint32_t i = 0; i < MN_EV_PROFILES; i++)
		if (!is_same_ev_profile(a, b, i))
			json_array_append_new(evs, json_integer(i));
	for (uint32_t i = 0; i < MN_CC_PROFILES; i++)
		if (!is_same(&a->cc[i], &b->cc[i], sizeof(a->cc[i])))
			json_array_append_new(cc, json_integer(i));
	return json_pack("{s:o, s:o, s:o, s:o}", "ports", ports, "formats", formats, "evs", evs,
			 "cc", cc);
}

int md_offer(struct md_node *node, const struct md_peer *peer, const json_t *args,
	     const struct mn_device *d, json_t **changed, struct md_error *e)
{
	const struct stats_owner own = {peer->pid, peer->uid};
	struct store_error error = {0};
	struct store_info info = {0};
	struct md_user user;
	const char *why;
	int err = take_generation(node, args, e);

	if (err)
		return err;
	if (peer->passed_fd < 0)
		return md_refuse(e, EINVAL, "", "a state: must come as a descriptor");
	if (store_offer_read(peer->passed_fd, node->next, &info, &error))
		return md_refuse(e, EINVAL, "", "%s", error.text);
	if (info.generation != node->generation)
		return md_refuse(e, EAGAIN, "generation", "the state was made of another one");
	if (!mn_state_is_of(node->next, d, &why))
		return md_refuse(e, EINVAL, "", "the state: %s", why);
	/* It is itself still there? Else QPs of another one would count as its own. */
	err = md_users_check(node, md_peer_lives(peer) ? &own : NULL, &user, e);
	if (err)
		return err;
	sign(node->now, node->next, peer->uid);
	*changed = name_changes(node->now, node->next);
	err = md_node_put(node, md_notes_update(node->notes, node->next, NULL, time(NULL)), &error);
	if (!err)
		return 0;
	json_decref(*changed);
	return md_refuse(e, err, "", "%s", error.text);
}
