/* SPDX-License-Identifier: BSD-2-Clause */
/* drain_run.c - a part drained, and given back, in all hosts of a lab: see drain.h. */
#include "cli/lab/drain.h"

#include "cli/lab/lab_verbs.h"
#include "ui/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * As long as nothing was given to the part's ports, what was on it has left: full queues of a lab
 * drain in some 60 ms, and a host on a busy machine may take 50 ms to send what it had begun.
 */
#define QUIET_NS UINT64_C(200000000)
#define LOOK_NS UINT64_C(50000000)

struct drain {
	struct ml_lab *lab;
	const struct mf_topology *t;
	struct drain_book book;
	const char *name;
	struct mf_target part;
	struct drain_set wanted; /* of the part alone */
	uint64_t *generation;	 /* of each host */
	struct drain_result *result;
};

static int find_part(struct drain *d, struct ml_error *e)
{
	struct mf_error why;

	return mf_target_find(d->t, d->name, &d->part, &why) ? 0 : ml_error_from(e, &why);
}

static struct drain_set new_set(const struct mf_topology *t)
{
	uint32_t evs = mf_ev_count(t);

	return (struct drain_set){t->n_hosts, evs, calloc((size_t)t->n_hosts * evs, 1)};
}

static void drain_end(struct drain *d)
{
	drain_book_close(&d->book);
	free(d->wanted.set);
	free(d->generation);
}

/* The book is open when this returned 0. */
static int drain_begin(struct drain *d, struct ml_lab *lab, const char *name,
		       struct drain_result *result, struct ml_error *e)
{
	*d = (struct drain){.lab = lab, .t = ml_lab_topology(lab), .name = name, .result = result};
	*result = (struct drain_result){0};
	d->book.lock = -1;
	if (name && find_part(d, e))
		return -1;
	d->wanted = new_set(d->t);
	d->generation = calloc(d->t->n_hosts, sizeof(*d->generation));
	if (!d->wanted.set || !d->generation)
		ml_error_set(e, "no memory");
	else if (drain_book_open(&d->book, lab, e) == 0)
		return 0;
	drain_end(d);
	return -1;
}

/* ---- who would be left without an EV ---- */

static bool is_broken(const struct ml_lab *lab, uint32_t link)
{
	const struct ml_port_state *port = ml_lab_port(lab, link);
	const struct mf_topology *t = ml_lab_topology(lab);
	uint32_t from = mf_link_from(t, link).node, to = mf_link_to(t, link).node;

	return port->down || port->faults.blackhole || port->faults.loss_ppm >= MF_SHARE_ONE_PPM ||
	       port->faults.corrupt_ppm >= MF_SHARE_ONE_PPM ||
	       port->peer != mf_link_reverse(link) ||
	       (from >= t->n_hosts && ml_lab_switch_is_off(lab, from)) ||
	       (to >= t->n_hosts && ml_lab_switch_is_off(lab, to));
}

static int refuse_end(const struct drain *d, uint32_t src, uint32_t dst, struct ml_error *e)
{
	char names[400];

	drain_book_names(&d->book, names, sizeof(names));
	return ml_error_set(e, "%s: host%u would have no EV to host%u left; drained already: %s%s",
			    d->name, src, dst, d->book.parts ? names : "nothing",
			    ", and what is denied or broken besides counts as well");
}

static int check_ends(struct drain *d, struct ml_error *e)
{
	struct drain_set now = new_set(d->t), next = new_set(d->t);
	bool *broken = calloc(d->t->n_links, sizeof(*broken));
	uint32_t src, dst;
	int failed = now.set && next.set && broken ? 0 : ml_error_set(e, "no memory");

	for (uint32_t host = 0; !failed && host < d->t->n_hosts; host++)
		failed = drain_host_read(&d->book, host, drain_set_of(&now, host), e);
	for (uint32_t link = 0; !failed && link < d->t->n_links; link++)
		broken[link] = is_broken(d->lab, link);
	for (size_t i = 0; !failed && i < (size_t)now.hosts * now.evs; i++)
		next.set[i] = now.set[i] | d->wanted.set[i];
	if (!failed && drain_set_ends(d->t, &now, &next, broken, &src, &dst))
		failed = refuse_end(d, src, dst, e);
	free(now.set);
	free(next.set);
	free(broken);
	return failed;
}

/* A drain that was ended in the middle is gone on with. */
static int check_part(struct drain *d, struct ml_error *e)
{
	size_t at = drain_book_find(&d->book, &d->part);

	if (at < d->book.parts && !d->book.unfinished[at])
		return ml_error_set(e,
				    "%s: is drained already; mrc lab undrain %s %s gives it back",
				    d->name, ml_lab_name(d->lab), d->name);
	if (at == DRAIN_PARTS_MAX)
		return ml_error_set(e, "%s: %u parts are drained, no more fit", d->name,
				    DRAIN_PARTS_MAX);
	drain_set_part(d->t, &d->part, &d->wanted);
	return check_ends(d, e);
}

int drain_check(struct ml_lab *lab, const char *name, struct ml_error *e)
{
	struct drain_result ignored;
	struct drain d;
	int failed;

	if (drain_begin(&d, lab, name, &ignored, e))
		return -1;
	failed = check_part(&d, e);
	drain_end(&d);
	return failed;
}

/* ---- denials ---- */

static uint32_t count_ours(const struct drain_book *b)
{
	size_t all = (size_t)b->t->n_hosts * MN_EV_PROFILES * b->evs;
	uint32_t n = 0;

	for (size_t i = 0; i < all; i++)
		n += b->ours[i];
	return n;
}

static size_t marks(const struct drain *d)
{
	return (size_t)d->t->n_hosts * MN_EV_PROFILES * d->book.evs;
}

/* Before a store is touched the book has what is going to be done. In memory it has what is. */
static int save_intent(struct drain *d, const uint8_t *before, bool is_new, struct ml_error *e)
{
	int failed = 0;

	if (is_new)
		drain_book_add(&d->book, d->name, &d->part);
	for (uint32_t host = 0; !failed && host < d->t->n_hosts; host++)
		failed = drain_host_intend(&d->book, host, drain_set_of(&d->wanted, host), e);
	failed = failed || drain_book_save(&d->book, e) ? -1 : 0;
	memcpy(d->book.ours, before, marks(d));
	if (failed && is_new)
		drain_book_forget(&d->book, d->book.parts - 1);
	return failed;
}

static int deny_each(struct drain *d, struct ml_error *e)
{
	char reason[MF_LINK_NAME_BYTES + 16];
	int failed = 0;

	snprintf(reason, sizeof(reason), "drain of %s", d->name);
	for (uint32_t host = 0; !failed && host < d->t->n_hosts; host++) {
		struct drain_change change = {.deny = drain_set_of(&d->wanted, host),
					      .reason = reason};

		failed = drain_host_apply(&d->book, host, &change, &d->generation[host], e);
	}
	if (failed)
		return failed;
	d->book.unfinished[drain_book_find(&d->book, &d->part)] = false;
	return drain_book_save(&d->book, e);
}

/* Takes back what was denied now: the marks that `before` has not. */
static int roll_back(struct drain *d, const uint8_t *before)
{
	size_t of_host = (size_t)MN_EV_PROFILES * d->book.evs;
	uint8_t *allow = malloc(of_host);
	struct ml_error ignored;
	uint64_t generation;
	int failed = allow ? 0 : -1;

	for (uint32_t host = 0; allow && host < d->t->n_hosts; host++) {
		struct drain_change change = {.allow = allow};
		const uint8_t *ours = drain_book_ours(&d->book, host, 0);

		for (size_t i = 0; i < of_host; i++)
			allow[i] = ours[i] && !before[host * of_host + i];
		if (memchr(allow, 1, of_host) &&
		    drain_host_apply(&d->book, host, &change, &generation, &ignored))
			failed = -1;
	}
	free(allow);
	return failed;
}

/* What cannot be taken back stays in the book, and the sentence of the failure says so. */
static void undo(struct drain *d, const uint8_t *before, bool is_new, struct ml_error *e)
{
	size_t at = drain_book_find(&d->book, &d->part), used = strlen(e->text);
	struct ml_error ignored;

	d->book.unfinished[at] = true;
	if (roll_back(d, before) == 0 && is_new)
		drain_book_forget(&d->book, at);
	else
		snprintf(e->text + used, sizeof(e->text) - used,
			 "; it is drained in part: mrc lab undrain %s %s gives it back",
			 ml_lab_name(d->lab), d->name);
	drain_book_save(&d->book, &ignored); /* else there is the intent, which has as much */
}

/* In every host's store, or in none. */
static int deny_all(struct drain *d, struct ml_error *e)
{
	bool is_new = drain_book_find(&d->book, &d->part) == d->book.parts;
	uint8_t *before = malloc(marks(d));
	uint32_t count = count_ours(&d->book);
	int failed;

	if (!before)
		return ml_error_set(e, "no memory");
	memcpy(before, d->book.ours, marks(d));
	failed = save_intent(d, before, is_new, e);
	if (!failed && deny_each(d, e)) {
		undo(d, before, is_new, e);
		failed = -1;
	}
	free(before);
	d->result->hosts = d->t->n_hosts;
	d->result->denials = count_ours(&d->book) - count;
	return failed;
}

/* ---- waiting ---- */

static int wait_until_safe(struct drain *d, struct drain_watch *w, const struct drain_wait *wait,
			   uint64_t begin_ns, struct ml_error *e)
{
	struct drain_result *r = d->result;
	int failed = 0;

	while (!failed && !r->safe) {
		uint64_t now = ui_clock_ns();

		failed = drain_watch_look(w, now, &r->seen, e);
		r->took_ns = now - begin_ns;
		r->safe = !failed && !r->seen.behind && r->seen.quiet_ns >= QUIET_NS;
		if (failed || r->safe || r->took_ns >= wait->timeout_ns ||
		    (wait->tell && wait->tell(wait->context, &r->seen)))
			break;
		lab_sleep(LOOK_NS);
	}
	return failed;
}

/* Who has given it back while this one waited sends over it again. Opens the book. */
static int check_kept(struct drain *d, struct ml_error *e)
{
	size_t at;

	if (drain_book_open(&d->book, d->lab, e))
		return -1;
	at = drain_book_find(&d->book, &d->part);
	if (at < d->book.parts && !d->book.unfinished[at])
		return 0;
	return ml_error_set(e, "%s: was given back meanwhile", d->name);
}

int drain_part(struct ml_lab *lab, const char *name, const struct drain_wait *wait,
	       struct drain_result *result, struct ml_error *e)
{
	uint64_t begin = ui_clock_ns();
	struct drain_watch *w;
	struct drain d;
	int failed;

	if (drain_begin(&d, lab, name, result, e))
		return -1;
	w = drain_watch_open(lab, &d.part, d.generation, e);
	failed = !w || check_part(&d, e) || deny_all(&d, e) ? -1 : 0;
	/* Others may drain and give back what they like while this one waits. */
	drain_book_close(&d.book);
	failed = failed || wait_until_safe(&d, w, wait, begin, e) || check_kept(&d, e) ? -1 : 0;
	drain_watch_close(w);
	drain_end(&d);
	return failed;
}

/* ---- back ---- */

/* The denials that no part needs which stays drained. */
static void free_of_others(const struct drain *d, uint32_t host, const struct drain_set *kept,
			   uint8_t *allow)
{
	for (uint32_t profile = 0; profile < MN_EV_PROFILES; profile++)
		for (uint32_t n = 0; n < d->book.evs; n++)
			allow[profile * d->book.evs + n] =
				drain_book_ours(&d->book, host, profile)[n] &&
				!drain_set_of(kept, host)[n];
}

/* Of the part at this place, or of all. */
#define ALL SIZE_MAX

static int allow_all(struct drain *d, size_t leaving, struct ml_error *e)
{
	uint8_t *allow = malloc((size_t)MN_EV_PROFILES * d->book.evs);
	struct drain_set kept = new_set(d->t);
	uint32_t count = count_ours(&d->book);
	int failed = allow && kept.set ? 0 : ml_error_set(e, "no memory");

	for (size_t i = 0; !failed && leaving != ALL && i < d->book.parts; i++)
		if (i != leaving)
			drain_set_part(d->t, &d->book.part[i], &kept);
	for (uint32_t host = 0; !failed && host < d->t->n_hosts; host++) {
		struct drain_change change = {.allow = allow};

		free_of_others(d, host, &kept, allow);
		failed = drain_host_apply(&d->book, host, &change, &d->generation[host], e);
	}
	d->result->hosts = d->t->n_hosts;
	d->result->denials = count - count_ours(&d->book);
	free(allow);
	free(kept.set);
	return failed;
}

/* Whose part is broken would send into it. */
static int check_whole(const struct drain *d, const struct mf_target *part, const char *name,
		       struct ml_error *e)
{
	for (uint32_t link = 0; link < d->t->n_links; link++)
		if (mf_part_has(d->t, part, link) && is_broken(d->lab, link)) {
			char ends[MF_CABLE_ENDS_BYTES];

			return ml_error_set(e,
					    "%s: %s carries nothing (mrc lab fault %s, mrc lab "
					    "status %s); --anyway gives it back all the same",
					    name, mf_link_ends(d->t, link, ends),
					    ml_lab_name(d->lab), ml_lab_name(d->lab));
		}
	return 0;
}

static int check_leaving(struct drain *d, size_t at, bool anyway, struct ml_error *e)
{
	char names[400];

	if (at == d->book.parts)
		return ml_error_set(e, "%s: is not drained; drained is %s", d->name,
				    at ? drain_book_names(&d->book, names, sizeof(names))
				       : "nothing");
	for (size_t i = 0; !anyway && i < d->book.parts; i++)
		if ((at == ALL || i == at) && check_whole(d, &d->book.part[i], d->book.name[i], e))
			return -1;
	return 0;
}

/* First the book says that it is not drained any more. After a failure the part stays unfinished,
 * and so do marks of what could not be allowed. */
static int give_back(struct drain *d, size_t at, struct ml_error *e)
{
	struct ml_error why;
	int failed;

	for (size_t i = 0; i < d->book.parts; i++)
		d->book.unfinished[i] |= at == ALL || i == at;
	if (drain_book_save(&d->book, e))
		return -1;
	failed = allow_all(d, at, e);
	if (!failed && at == ALL)
		d->book.parts = 0;
	else if (!failed)
		drain_book_forget(&d->book, at);
	return drain_book_save(&d->book, failed ? &why : e) || failed ? -1 : 0;
}

int undrain_part(struct ml_lab *lab, const char *name, bool anyway, struct drain_result *result,
		 struct ml_error *e)
{
	uint64_t begin = ui_clock_ns();
	struct drain d;
	size_t at;
	int failed;

	if (drain_begin(&d, lab, name, result, e))
		return -1;
	at = name ? drain_book_find(&d.book, &d.part) : ALL;
	failed = check_leaving(&d, at, anyway, e) || give_back(&d, at, e) ? -1 : 0;
	result->took_ns = ui_clock_ns() - begin;
	drain_end(&d);
	return failed;
}
