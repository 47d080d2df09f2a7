/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_paths.c - every pair of hosts on every path of `lab8`, by real packets: each arrives where it
 * should, by the plane that its EV names, over as many switches as its path has, and every link
 * carried what the model says that it carries.
 */
#include "fabric/fabric_path.h"
#include "lab/lab_fixture.h"

struct tally {
	uint32_t sent, got;
	uint64_t *link; /* packets that the model sends over each */
};

static void expect(const struct fixture *r, const struct mf_pair *pair, uint32_t ev,
		   struct tally *t)
{
	uint32_t links[MF_PATH_LINKS_MAX];
	uint32_t n = mf_path_links(r->t, pair, ev, links);

	for (uint32_t i = 0; i < n; i++)
		t->link[links[i]]++;
	t->sent++;
}

static void collect(const struct fixture *r, struct tally *t, bool all)
{
	struct fixture_arrival a;

	while ((all || t->sent - t->got > 200) && fixture_receive(r, &a)) {
		struct mf_pair pair = mf_pair_of(r->t, a.packet.src, a.packet.dst);

		assert_true(a.whole);
		assert_u_eq(a.host, a.packet.dst);
		assert_u_eq(a.plane, mf_ev_plane(a.packet.ev));
		assert_i_eq(a.hop_limit, 64 - (int)(mf_pair_links(&pair) - 1));
		t->got++;
	}
}

/* Beside ours there are a few packets of the hosts' kernels. */
static void check_links(struct fixture *r, const struct tally *t)
{
	struct ml_counters *c = calloc(r->t->n_links, sizeof(*c));
	struct ml_error e;

	assert_non_null(c);
	if (ml_lab_counters(r->lab, c, &e))
		fail_msg("%s", e.text);
	for (uint32_t link = 0; link < r->t->n_links; link++)
		assert_u_between(c[link].packets, t->link[link], t->link[link] + 20);
	free(c);
}

TEST(lab_paths, every_pair_every_path_of_lab8)
{
	struct tally t = {0};
	struct fixture r;

	fixture_able();
	fixture_open(&r, "lab8", 0, true);
	t.link = calloc(r.t->n_links, sizeof(*t.link));
	assert_non_null(t.link);
	for (uint32_t src = 0; src < r.t->n_hosts; src++)
		for (uint32_t dst = 0; dst < r.t->n_hosts; dst++) {
			struct mf_pair pair = mf_pair_of(r.t, src, dst);
			uint32_t paths = src == dst ? 0 : mf_path_count(r.t, &pair);

			for (uint32_t i = 0; i < paths; i++) {
				fixture_send(&r, src, dst, mf_ev_nth(r.t, i), 1);
				expect(&r, &pair, mf_ev_nth(r.t, i), &t);
			}
			collect(&r, &t, false);
		}
	collect(&r, &t, true);
	assert_u_eq(t.sent, 32 * (7 * 8 + 24 * 32));
	assert_u_eq(t.got, t.sent);
	check_links(&r, &t);
	free(t.link);
	fixture_close(&r);
}
