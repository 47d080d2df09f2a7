/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels of routes: every route of a plan has labels of its own, and what they say. */
#include <stdio.h>

#include "fabric_fixture.h"

#include "map/probe_plan.h"
#include "map/route_text.h"

#define ROUTES 512u

static struct mm_route_of of[ROUTES];

static size_t plan(const struct mf_topology *t, uint32_t host)
{
	const struct mm_plan_cfg cfg = {.watchers = 16};
	bool *live = malloc(t->n_hosts * sizeof(*live));
	size_t n;

	memset(live, 1, t->n_hosts * sizeof(*live));
	n = mm_plan_routes(t, &cfg, host, live, of, ROUTES);
	free(live);
	assert_true(n > 0 && n <= ROUTES);
	return n;
}

TEST(mm_route_labels_of, tells_all_routes_of_a_plan_apart)
{
	struct mf_topology t = fabric("lab");
	size_t n = plan(&t, 5);
	struct mm_route_labels l[ROUTES];
	bool seen[4] = {false};

	for (size_t i = 0; i < n; i++) {
		static const char *const kinds[] = {"t0", "t1", "turn", "peer"};

		mm_route_labels_of(&t, &of[i], &l[i]);
		assert_u_eq(l[i].host, 5);
		assert_u_eq(l[i].t0, mf_host_t0(&t, 5));
		for (size_t k = 0; k < 4; k++)
			seen[k] |= strcmp(l[i].kind, kinds[k]) == 0;
		for (size_t k = 0; k < i; k++)
			assert_false(l[k].plane == l[i].plane &&
				     strcmp(l[k].kind, l[i].kind) == 0 &&
				     strcmp(l[k].via, l[i].via) == 0);
	}
	assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
}

TEST(mm_route_labels_of, names_the_way)
{
	struct mf_topology t = fabric("tiny");
	struct mm_route_labels l;
	size_t n = plan(&t, 0);
	const char *const wanted[] = {"t0 ", "t1 t1-0", "turn t1-0,t0-1,t1-1", "peer host1"};
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		char text[80];

		mm_route_labels_of(&t, &of[i], &l);
		snprintf(text, sizeof(text), "%s %s", l.kind, l.via);
		for (size_t k = 0; k < 4; k++)
			found += l.plane == 1 && strcmp(text, wanted[k]) == 0;
	}
	assert_u_eq(found, 4);
}

static void read_back(const char *name, uint32_t host)
{
	struct mf_topology t = fabric(name);
	size_t n = plan(&t, host);

	for (size_t i = 0; i < n; i++) {
		struct mm_route_labels l;
		struct mm_route_of back;

		mm_route_labels_of(&t, &of[i], &l);
		if (!mm_route_read(&t, &l, &back) || back.witness != host ||
		    back.peer != of[i].peer || back.links != of[i].links ||
		    memcmp(back.link, of[i].link, back.links * sizeof(back.link[0])) != 0)
			fail_msg("%s: %s %s", name, l.kind, l.via);
	}
}

TEST(mm_route_read, reads_what_was_written)
{
	read_back("tiny", 3);
	read_back("lab", 5);
	read_back("small3", 29);
}

/* Labels are what anybody served who is scraped. */
TEST(mm_route_read, refuses_what_is_no_route)
{
	static const struct mm_route_labels rows[] = {
		{8, 0, 4, "t0", ""},
		{0, 4, 0, "t0", ""},
		{0, 0, 1, "t0", ""},
		{0, 0, 0, "t9", ""},
		{0, 0, 0, "t0", "t1-0"},
		{0, 0, 0, "t1", ""},
		{0, 0, 0, "t1", "t1-9"},
		{0, 0, 0, "t1", "t1-99999999999"},
		{0, 0, 0, "t1", "t1-0,t1-1"},
		{0, 0, 0, "t1", "t1--1"},
		{0, 0, 0, "t2", "t1-0,t2-0"},
		{0, 0, 0, "turn", "t1-0,t0-0,t1-1"},
		{0, 0, 0, "peer", "host0"},
		{0, 0, 0, "turn", "t1-0,t0-1,t1-0"},
		{0, 0, 0, "peer", "host99"},
		{0, 0, 0, "peer", ""},
		{0, 0, 0, "turn", "t1-0,t0-1"},
		{0, 0, 0, "turn", "t1-0t0-1t1-1"},
		{0, 0, 0, "t1", "t1-0,"},
	};
	struct mf_topology t = fabric("lab");
	struct mm_route_of back;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (mm_route_read(&t, &rows[i], &back))
			fail_msg("row %zu: %s %s", i, rows[i].kind, rows[i].via);
}

TEST(mm_symptom_name, names_all)
{
	assert_string_equal(mm_symptom_name(MM_LOST), "lost");
	assert_string_equal(mm_symptom_name(MM_CORRUPTED), "corrupted");
	assert_string_equal(mm_symptom_name(MM_DUPLICATED), "duplicated");
	assert_string_equal(mm_symptom_name(MM_REORDERED), "reordered");
}
