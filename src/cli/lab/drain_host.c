/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain_host.c - EVs denied and allowed in the store of one host of a lab: see drain.h.
 *
 * An EV is a path here; in a profile whose EVs the device chooses it is one entry, in one that
 * lists its EVs every place that takes this path.
 */
#include "cli/lab/drain.h"

#include "cli/ctl/ctl.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICE "mrc0"
#define BY "mrc lab drain"
/* EVs of one request to mrcd, whose line has 64 KiB. */
#define EVS_OF_REQUEST 512u

struct op {
	uint32_t profile, n;
	struct mn_ev ev;
	bool denied;
};

struct ops {
	struct op *op; /* owned */
	size_t n, room;
};

static void add_op(struct ops *ops, uint32_t profile, uint32_t n, const struct mn_ev *ev,
		   bool denied)
{
	if (ops->n == ops->room)
		return; /* room is for every EV of the state and of every profile's device */
	ops->op[ops->n++] = (struct op){profile, n, *ev, denied};
}

static struct mn_device device_of(const struct drain_book *b)
{
	uint32_t planes = b->t->cfg.planes, most = MN_EVS_PROFILE_MAX / planes;
	uint32_t of_plane = b->evs / planes;

	return (struct mn_device){.n_ports = planes,
				  .formats = MN_FORMAT_STEV,
				  .n_evs = planes * (of_plane < most ? of_plane : most),
				  .user = geteuid()};
}

static struct mn_ev listed(const struct drain_book *b, uint32_t n)
{
	uint32_t ev = mf_ev_nth(b->t, n), number = mf_ev_shown(ev);
	struct mn_ev out = {.port = (uint8_t)(mf_ev_plane(ev) + 1)};

	memcpy(out.val, &number, sizeof(number));
	return out;
}

static bool same_ev(const struct mn_ev *a, const struct mn_ev *b)
{
	return a->port == b->port && memcmp(a->val, b->val, sizeof(a->val)) == 0;
}

/* Whether an EV is in the list of an AUTO profile, which has the denied ones alone. */
static const struct mn_ev *find_listed(const struct mn_state *s, uint32_t profile,
				       const struct mn_ev *ev)
{
	const struct mn_ev_profile *p = &s->ev[profile];

	for (uint32_t i = 0; i < p->n_evs; i++)
		if (same_ev(&s->evs[p->first + i], ev))
			return &s->evs[p->first + i];
	return NULL;
}

/* Whether a drain may do this: what others have denied meanwhile is theirs. */
static bool is_ours_to_change(const struct mn_ev *ev, bool denied)
{
	return denied ? !ev || !ev->denied : ev && ev->denied && ev->denier == MN_DENIED_BY_DRAIN;
}

/* The paths of a profile that lists its EVs. */
static void add_places(const struct drain_book *b, const struct mn_state *s, uint32_t profile,
		       uint32_t n, bool denied, struct ops *ops)
{
	const struct mn_ev_profile *p = &s->ev[profile];

	for (uint32_t i = 0; i < p->n_evs; i++) {
		const struct mn_ev *ev = &s->evs[p->first + i];
		uint32_t path;

		if (ev->port && is_ours_to_change(ev, denied) &&
		    mf_ev_find(b->t, ev->port - 1u, mn_ev_number(s, p, ev), &path) &&
		    path == mf_ev_nth(b->t, n))
			add_op(ops, profile, n, ev, denied);
	}
}

static void add_ev(const struct drain_book *b, const struct mn_state *s, uint32_t profile,
		   uint32_t n, bool denied, struct ops *ops)
{
	struct mn_ev ev = listed(b, n);

	if (s->ev[profile].mode != MN_MODE_AUTO)
		add_places(b, s, profile, n, denied, ops);
	else if (is_ours_to_change(find_listed(s, profile, &ev), denied))
		add_op(ops, profile, n, &ev, denied);
}

/* What is to be done to a state, profile by profile. False: no memory. */
static bool make_ops(const struct drain_book *b, const struct mn_state *s,
		     const struct drain_change *c, struct ops *ops)
{
	ops->n = 0;
	ops->room = (size_t)MN_EV_PROFILES * b->evs + MN_EVS_MAX;
	ops->op = calloc(ops->room, sizeof(*ops->op));
	for (uint32_t profile = 0; ops->op && profile < MN_EV_PROFILES; profile++)
		for (uint32_t n = 0; s->ev[profile].state != MN_INIT && n < b->evs; n++) {
			if (c->allow && c->allow[profile * b->evs + n])
				add_ev(b, s, profile, n, false, ops);
			if (c->deny && c->deny[n])
				add_ev(b, s, profile, n, true, ops);
		}
	return ops->op;
}

/* What was done is noted: the first `tried`, which may be. If that is all and `whole`, nothing was
 * left to be allowed. */
static void note(struct drain_book *b, uint32_t host, const struct drain_change *c,
		 const struct ops *ops, size_t tried, bool whole)
{
	for (uint32_t i = 0; whole && c->allow && i < MN_EV_PROFILES * b->evs; i++)
		if (c->allow[i])
			drain_book_ours(b, host, 0)[i] = 0;
	for (size_t i = 0; i < tried; i++)
		if (ops->op[i].denied)
			drain_book_ours(b, host, ops->op[i].profile)[ops->op[i].n] = 1;
}

static int refuse_op(uint32_t host, const struct op *op, int err, struct ml_error *e)
{
	if (err == EBUSY)
		return ml_error_set(e,
				    "host%u: EV profile %u would have fewer EVs left than it needs",
				    host, op->profile);
	return ml_error_set(e, "host%u: EV profile %u: %s", host, op->profile, strerror(err));
}

/* ---- in the store itself ---- */

static int apply_to(const struct drain_book *b, uint32_t host, const struct ops *ops,
		    struct mn_state *s, struct ml_error *e)
{
	struct mn_device d = device_of(b);

	for (size_t i = 0; i < ops->n; i++) {
		const struct op *op = &ops->op[i];
		struct mn_ev_op change = {
			.ev = op->ev, .denied = op->denied, .denier = MN_DENIED_BY_DRAIN};
		int err = mn_ev_modify(s, &d, op->profile, &change);

		if (err)
			return refuse_op(host, op, err, e);
	}
	return 0;
}

static int write_store(struct drain_book *b, uint32_t host, const struct drain_change *c,
		       struct store_writer *w, struct mn_state *s, struct ml_error *e)
{
	struct store_error why;
	struct ops ops;
	int failed = 0;

	if (!make_ops(b, s, c, &ops))
		failed = ml_error_set(e, "no memory");
	else if (ops.n)
		failed = apply_to(b, host, &ops, s, e);
	if (!failed && ops.n && store_writer_commit(w, s, &why))
		failed = ml_error_set(e, "host%u: %s", host, why.text);
	if (!failed)
		note(b, host, c, &ops, ops.n, true);
	free(ops.op);
	return failed;
}

/* ---- through mrcd ---- */

/* As `mrc ctl` has it. */
static void ev_text(const struct mn_ev *ev, char *out, size_t size)
{
	size_t used = MW_EV_BYTES, len = (size_t)snprintf(out, size, "%u:", ev->port);
	uint32_t number;

	while (used > sizeof(number) && !ev->val[used - 1])
		used--;
	memcpy(&number, ev->val, sizeof(number));
	if (used <= sizeof(number)) {
		snprintf(out + len, size - len, "0x%08x", number);
		return;
	}
	len += (size_t)snprintf(out + len, size - len, "x");
	for (size_t i = 0; i < used && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%02x", ev->val[i]);
}

/* Those from `from` on that are alike, as one request; *to is where the next one begins. */
static json_t *request_of(const struct ops *ops, size_t from, const char *reason, size_t *to)
{
	const struct op *first = &ops->op[from];
	json_t *evs = json_array(), *request;

	for (*to = from;
	     *to < ops->n && *to - from < EVS_OF_REQUEST &&
	     ops->op[*to].profile == first->profile && ops->op[*to].denied == first->denied;
	     ++*to) {
		char text[MW_EV_BYTES * 2 + 16];

		ev_text(&ops->op[*to].ev, text, sizeof(text));
		json_array_append_new(evs, json_string(text));
	}
	request = json_pack("{s:s,s:i,s:s,s:o}", "do", first->denied ? "ev.deny" : "ev.undeny",
			    "profile", (int)first->profile, "by", "drain", "evs", evs);
	if (first->denied && reason)
		json_object_set_new(request, "reason", json_string(reason));
	return request;
}

static int by_kind(const void *a, const void *b)
{
	const struct op *x = a, *y = b;

	return x->profile != y->profile ? (x->profile > y->profile) - (x->profile < y->profile)
					: (x->denied > y->denied) - (x->denied < y->denied);
}

static int check_answer(const struct ctl_link *link, uint32_t host, const json_t *answer,
			struct ml_error *e)
{
	const char *error = json_string_value(json_object_get(answer, "error"));

	if (json_is_true(json_object_get(answer, "ok")))
		return 0;
	if (!error)
		error = link->wrong ? link->wrong : "no sensible answer";
	return ml_error_set(e, "host%u: mrcd: %s", host, error);
}

/* mrcd does each request whole or not at all, and one that it did not answer perhaps yet; *tried
 * says how far they came. */
static int send_ops(struct ctl_link *link, uint32_t host, struct ops *ops, const char *reason,
		    size_t *tried, uint64_t *generation, struct ml_error *e)
{
	int failed = 0;

	qsort(ops->op, ops->n, sizeof(ops->op[0]), by_kind);
	for (size_t to = 0; *tried < ops->n && !failed;) {
		json_t *answer = ctl_link_ask(link, request_of(ops, *tried, reason, &to));

		failed = check_answer(link, host, answer, e);
		if (!failed)
			*generation =
				(uint64_t)json_integer_value(json_object_get(answer, "generation"));
		if (!failed || !json_object_get(answer, "error"))
			*tried = to;
		json_decref(answer);
	}
	return failed;
}

/*
 * An mrcd that hung does, when it goes on, what it was asked for before it is asked again: once it
 * has answered a new connection, the store has all of that.
 */
static int catch_up(struct ctl_link *link, uint32_t host, struct ml_error *e)
{
	json_t *answer = ctl_link_ask(link, json_pack("{s:s}", "do", "status"));
	int failed = check_answer(link, host, answer, e);

	json_decref(answer);
	return failed;
}

static int ask_on(struct ctl_link *link, struct drain_book *b, uint32_t host,
		  const struct drain_change *c, const char *dir, struct mn_state *s,
		  uint64_t *generation, struct ml_error *e)
{
	struct store_info info;
	struct store_error why;
	struct ops ops;
	size_t tried = 0;
	int failed;

	if (catch_up(link, host, e))
		return -1;
	if (store_read(dir, DEVICE, s, &info, &why))
		return ml_error_set(e, "host%u: %s", host, why.text);
	*generation = info.generation;
	if (!make_ops(b, s, c, &ops))
		return ml_error_set(e, "no memory");
	failed = send_ops(link, host, &ops, c->reason, &tried, generation, e);
	note(b, host, c, &ops, tried, !failed);
	free(ops.op);
	return failed;
}

static int ask_mrcd(struct drain_book *b, uint32_t host, const struct drain_change *c,
		    const char *dir, struct mn_state *s, uint64_t *generation, struct ml_error *e)
{
	char path[ML_HOST_PATH_MAX + 16];
	struct ctl_link link;
	int failed;

	snprintf(path, sizeof(path), "%s/mrcd.sock", dir);
	if (ctl_link_open(&link, path))
		return ml_error_set(e, "host%u: another process writes %s, and no mrcd answers",
				    host, dir);
	failed = ask_on(&link, b, host, c, dir, s, generation, e);
	ctl_link_close(&link);
	return failed;
}

int drain_host_apply(struct drain_book *b, uint32_t host, const struct drain_change *c,
		     uint64_t *generation, struct ml_error *e)
{
	struct store_error lost = {0}, why = {0};
	char dir[ML_HOST_PATH_MAX];
	struct mn_state *s = malloc(sizeof(*s));
	struct store_writer w;
	int err, failed;

	if (!s)
		return ml_error_set(e, "no memory");
	ml_host_node_dir(b->lab, host, dir);
	err = store_writer_open(&w, dir, DEVICE, BY, s, &lost, &why);
	if (err == EBUSY) {
		failed = ask_mrcd(b, host, c, dir, s, generation, e);
	} else if (err) {
		failed = ml_error_set(e, "host%u: %s", host, why.text);
	} else {
		failed = write_store(b, host, c, &w, s, e);
		*generation = w.info.generation;
		store_writer_close(&w);
	}
	free(s);
	return failed;
}

/* ---- what is denied ---- */

/* The state of a host, owned by the caller; without a store nothing is decided. NULL: see *e. */
static struct mn_state *read_state(const struct drain_book *b, uint32_t host, struct ml_error *e)
{
	struct mn_state *s = malloc(sizeof(*s));
	char dir[ML_HOST_PATH_MAX];
	struct store_info info;
	struct store_error why;
	int err;

	if (!s) {
		ml_error_set(e, "no memory");
		return NULL;
	}
	err = store_read(ml_host_node_dir(b->lab, host, dir), DEVICE, s, &info, &why);
	if (!err)
		return s;
	mn_state_init(s);
	if (err == ENOENT)
		return s;
	ml_error_set(e, "host%u: %s", host, why.text);
	free(s);
	return NULL;
}

int drain_host_read(const struct drain_book *b, uint32_t host, uint8_t *denied, struct ml_error *e)
{
	struct mn_state *s = read_state(b, host, e);

	if (!s)
		return -1;
	for (uint32_t n = 0; n < b->evs; n++) {
		struct mn_ev ev = listed(b, n);

		denied[n] |= find_listed(s, MN_OWN_PROFILE, &ev) != NULL;
	}
	free(s);
	return 0;
}

int drain_host_intend(struct drain_book *b, uint32_t host, const uint8_t *deny, struct ml_error *e)
{
	const struct drain_change change = {.deny = deny};
	struct mn_state *s = read_state(b, host, e);
	struct ops ops;
	int failed;

	if (!s)
		return -1;
	failed = make_ops(b, s, &change, &ops) ? 0 : ml_error_set(e, "no memory");
	if (!failed)
		note(b, host, &change, &ops, ops.n, true);
	free(ops.op);
	free(s);
	return failed;
}
