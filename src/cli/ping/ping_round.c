/* SPDX-License-Identifier: BSD-2-Clause */
/* One round: see ping.h. */
#include "cli/ping/ping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Half of what a device can have under way, so that it is never short of ids for long. */
#define BATCH_MAX 512u

/* How many paths share host and plane with this one, and how many of them come before it. */
static void place_of(const struct ping_paths *paths, size_t i, size_t *rank, size_t *all)
{
	*rank = *all = 0;
	for (size_t k = 0; k < paths->n; k++) {
		bool same_host = paths->path[k].host == paths->path[i].host &&
				 paths->path[k].ev.port == paths->path[i].ev.port;

		*all += same_host;
		*rank += same_host && k < i;
	}
}

static bool is_asked(const struct ping_paths *paths, size_t i, uint64_t round, bool one_a_plane)
{
	size_t rank, all;

	if (!one_a_plane)
		return true;
	place_of(paths, i, &rank, &all);
	return round % all == rank;
}

struct batch {
	struct mrc_ctl_ep_req *req;
	struct mrc_ctl_ep_rsp *rsp;
	size_t *path; /* of each request */
	size_t n;
};

static void batch_fini(struct batch *b)
{
	free(b->req);
	free(b->rsp);
	free(b->path);
}

static int batch_make(struct batch *b, size_t room)
{
	b->req = calloc(room, sizeof(*b->req));
	b->rsp = calloc(room, sizeof(*b->rsp));
	b->path = calloc(room, sizeof(*b->path));
	return b->req && b->rsp && b->path ? 0 : ENOMEM;
}

static void batch_add(struct batch *b, const struct ping_device *device,
		      const struct ping_host *hosts, struct ping_paths *paths, size_t i)
{
	struct ping_path *path = &paths->path[i];
	struct mrc_ctl_ep_req *req = &b->req[b->n];

	req->req_id = (uint16_t)b->n;
	req->ev_fmt_mode = device->format;
	req->req_ev = path->ev;
	memcpy(req->dgid.raw, hosts[path->host].gid, sizeof(req->dgid.raw));
	b->path[b->n++] = i;
	path->figure.sent++;
	path->asked = true;
}

static void batch_take(const struct batch *b, struct ping_paths *paths, int n_rsp)
{
	for (int i = 0; i < n_rsp; i++) {
		const struct mrc_ctl_ep_rsp *rsp = &b->rsp[i];
		struct ping_path *path;

		if (rsp->req_id >= b->n)
			continue;
		path = &paths->path[b->path[rsp->req_id]];
		path->last_ns = rsp->rtt;
		ping_figure_add(&path->figure, rsp->rtt);
	}
}

/* Asks what is in the batch and empties it. */
static int batch_send(struct batch *b, const struct ping_device *device, struct ping_paths *paths,
		      uint32_t timeout_ns)
{
	int n_rsp = 0, err;

	if (!b->n)
		return 0;
	err = device->send_wait(device->context, b->req, (int)b->n, timeout_ns, b->rsp, &n_rsp);
	if (err && err != ETIMEDOUT)
		return err;
	batch_take(b, paths, n_rsp);
	b->n = 0;
	return 0;
}

int ping_round(const struct ping_device *device, const struct ping_host *hosts,
	       struct ping_paths *paths, uint64_t round, bool one_a_plane, uint32_t timeout_ns)
{
	struct batch b = {0};
	int err = batch_make(&b, BATCH_MAX);

	for (size_t i = 0; i < paths->n && !err; i++) {
		paths->path[i].last_ns = 0;
		paths->path[i].asked = false;
		if (!is_asked(paths, i, round, one_a_plane))
			continue;
		batch_add(&b, device, hosts, paths, i);
		if (b.n == BATCH_MAX)
			err = batch_send(&b, device, paths, timeout_ns);
	}
	if (!err)
		err = batch_send(&b, device, paths, timeout_ns);
	batch_fini(&b);
	return err;
}

/* ---- paths and their figures ---- */

static uint32_t value_of(const struct mrc_ctl_ev *ev)
{
	uint32_t value;

	memcpy(&value, ev->val, sizeof(value));
	return value;
}

uint32_t ping_path_value(const struct ping_path *path)
{
	return value_of(&path->ev);
}

int ping_paths_make(struct ping_paths *p, uint32_t hosts, const struct mrc_ctl_ev *evs, size_t n,
		    int64_t plane, int64_t value)
{
	*p = (struct ping_paths){.path = calloc((size_t)hosts * n, sizeof(*p->path))};
	if (!p->path)
		return -1;
	for (uint32_t host = 0; host < hosts; host++)
		for (size_t i = 0; i < n; i++)
			if ((plane < 0 || evs[i].port == plane + 1) &&
			    (value < 0 || value_of(&evs[i]) == value))
				p->path[p->n++] = (struct ping_path){.host = host, .ev = evs[i]};
	return p->n ? 0 : -1;
}

void ping_paths_fini(struct ping_paths *p)
{
	free(p->path);
	*p = (struct ping_paths){0};
}

void ping_paths_name(struct ping_paths *p, const struct ping_host *hosts,
		     const struct cli_fabric *fabric, const uint8_t own[16])
{
	for (size_t i = 0; i < p->n; i++) {
		struct ping_path *path = &p->path[i];

		if (!cli_fabric_ev(fabric, own, hosts[path->host].gid, path->ev.port - 1u,
				   ping_path_value(path), path->cable))
			path->cable[0] = '\0';
	}
}

void ping_figure_add(struct ping_figure *f, uint64_t rtt_ns)
{
	if (!f->answered || rtt_ns < f->min_ns)
		f->min_ns = rtt_ns;
	if (rtt_ns > f->max_ns)
		f->max_ns = rtt_ns;
	f->sum_ns += rtt_ns;
	f->answered++;
}

void ping_figure_join(struct ping_figure *f, const struct ping_figure *other)
{
	if (other->answered && (!f->answered || other->min_ns < f->min_ns))
		f->min_ns = other->min_ns;
	if (other->max_ns > f->max_ns)
		f->max_ns = other->max_ns;
	f->sum_ns += other->sum_ns;
	f->sent += other->sent;
	f->answered += other->answered;
}

struct ping_figure ping_figure_host(const struct ping_paths *p, uint32_t host)
{
	struct ping_figure all = {0};

	for (size_t i = 0; i < p->n; i++)
		if (p->path[i].host == host)
			ping_figure_join(&all, &p->path[i].figure);
	return all;
}
