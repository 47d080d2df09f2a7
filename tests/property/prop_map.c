/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random fabrics, random faults: the map names the part, what is wrong with it and the direction;
 * without faults it names nothing, and a few hosts that lie change nothing.
 */
#include "map_world.h"
#include "random_fabric.h"

#include <stdio.h>

/* Fabrics in which every part can be told from every other: no count is one. */
static void random_world(struct map_world *w, uint32_t watchers)
{
	struct mf_topology t;
	struct mf_topology_cfg cfg;
	struct mf_error e;

	random_topology(&t);
	cfg = t.cfg;
	cfg.planes = pick(2, 4);
	cfg.tiers = 2;
	cfg.pods = 1;
	cfg.t1_uplinks = 0;
	cfg.hosts_per_t0 = pick(3, 6);
	cfg.t0s = pick(2, 4);
	cfg.t1s = pick(2, 4);
	memset(cfg.radix, 0, sizeof(cfg.radix));
	assert_true(mf_topology_init(&t, &cfg, &e));
	world_init(w, &t, watchers);
}

enum { CABLE_OF_HOST, CABLE_OF_T0, T0, T1, HOST, TARGETS };

static void random_target(const struct map_world *w, uint32_t kind, char out[MM_PART_NAME_BYTES])
{
	const struct mf_topology_cfg *c = &w->t.cfg;
	uint32_t plane = pick(0, c->planes - 1), t0 = pick(0, c->t0s - 1);
	uint32_t t1 = pick(0, c->t1s - 1), host = pick(0, w->t.n_hosts - 1), link;
	uint32_t node = 0;

	switch (kind) {
	case CABLE_OF_HOST:
		mf_cable_name(&w->t, mf_link_host_t0(&w->t, plane, host, false), out);
		return;
	case CABLE_OF_T0:
		link = mf_link_t0_t1(&w->t, plane, t0, t1, false);
		mf_cable_name(&w->t, link, out);
		return;
	case T0:
		node = mf_node_switch(&w->t, MF_T0, plane, t0);
		break;
	case T1:
		node = mf_node_switch(&w->t, MF_T1, plane, t1);
		break;
	case HOST:
		node = host;
		break;
	default:
		break;
	}
	mf_node_name(&w->t, node, out);
}

static const char *const kinds[] = {"host cable", "T0-T1 cable", "T0", "T1", "host"};

/* Nothing but this part may be called sick. */
static void check_alone(const struct map_world *w, const char *name, const char *what)
{
	if (w->n_sick != 1 || !world_find(w, name))
		world_fail(w, what);
}

/* Of a few hosts the plan has ask no neighbour: whether what they send arrives nobody knows. */
static bool asks_nobody(const struct map_world *w, const struct mm_part *host)
{
	for (size_t i = 0; i < w->routes; i++)
		if (w->route[i].witness == host->id && w->route[i].peer != MM_NO_HOST)
			return false;
	return true;
}

static bool is_direction(const struct map_world *w, const struct mm_sick *s,
			 enum mf_direction direction)
{
	bool known = s->part.kind != MM_HOST || s->kind != MM_DEAD ||
		     direction == MF_DIRECTION_OUT || !asks_nobody(w, &s->part);

	return s->direction_known == known &&
	       (!known || s->part.kind == MM_SWITCH || s->part.direction == direction);
}

static bool is_right(const struct map_world *w, const char *name, enum mf_direction direction)
{
	const struct mm_sick *s = world_find(w, name);

	return w->n_sick == 1 && s && is_direction(w, s, direction);
}

/* Steps in which a name that was wrong by chance is mended by what comes. */
#define MENDED_STEPS 100u

/* True: it was named rightly when a name had settled; else it was soon. */
static bool check_fault(uint32_t target, enum mm_symptom symptom, enum mm_kind kind, uint32_t ppm,
			enum mf_direction direction, uint32_t steps)
{
	char name[MM_PART_NAME_BYTES], what[256];
	struct map_world w;
	bool at_once;

	random_world(&w, 3);
	w.background_ppm = 20;
	random_target(&w, target, name);
	for (uint32_t i = 0; i < 10; i++)
		world_step(&w, 2);
	world_fault(&w, name, symptom, direction, ppm);
	snprintf(what, sizeof(what), "%s %s: %s %u ppm, direction %d, %u planes, %u/%u/%u",
		 kinds[target], name, mm_kind_name(kind), ppm, (int)direction, w.t.cfg.planes,
		 w.t.cfg.hosts_per_t0, w.t.cfg.t0s, w.t.cfg.t1s);
	if (!world_until(&w, name, kind, steps, 2))
		world_fail(&w, what);
	for (uint32_t i = 0; i < 10; i++)
		world_step(&w, 2);
	at_once = is_right(&w, name, direction);
	for (uint32_t i = 0; i < MENDED_STEPS && !is_right(&w, name, direction); i++)
		world_step(&w, 2);
	if (!is_right(&w, name, direction) || (kind == MM_DEAD && !at_once))
		world_fail(&w, what);
	world_fini(&w);
	return at_once;
}

/* A name is 2^10 times as likely as the next: one in a thousand is wrong until more is known. */
static void check_wrong_names(uint32_t wrong, uint32_t checks)
{
	if (wrong > 1 + checks / 50)
		fail_msg("%u of %u names were wrong at first", wrong, checks);
}

TEST(mm_map_judge, names_what_is_dead)
{
	for (uint32_t i = 0; i < test_long_rounds(10); i++)
		check_fault(i % TARGETS, MM_LOST, MM_DEAD, 1000000, MF_DIRECTION_BOTH, 8);
}

TEST(mm_map_judge, names_the_direction_that_is_dead)
{
	for (uint32_t i = 0; i < test_long_rounds(7); i++)
		check_fault(i % 2 ? CABLE_OF_HOST : CABLE_OF_T0, MM_LOST, MM_DEAD, 1000000,
			    i % 4 < 2 ? MF_DIRECTION_OUT : MF_DIRECTION_IN, 8);
}

TEST(mm_map_judge, names_what_loses_some)
{
	uint32_t checks = (uint32_t)test_long_rounds(7), wrong = 0;

	for (uint32_t i = 0; i < checks; i++)
		wrong += !check_fault(i % TARGETS, MM_LOST, MM_LOSSY, pick(20000, 200000),
				      MF_DIRECTION_BOTH, 100);
	check_wrong_names(wrong, checks);
}

TEST(mm_map_judge, names_the_direction_that_loses_some)
{
	uint32_t checks = (uint32_t)test_long_rounds(5), wrong = 0;

	for (uint32_t i = 0; i < checks; i++)
		wrong += !check_fault(i % 2 ? CABLE_OF_HOST : CABLE_OF_T0, MM_LOST, MM_LOSSY,
				      pick(20000, 200000),
				      i % 4 < 2 ? MF_DIRECTION_OUT : MF_DIRECTION_IN, 100);
	check_wrong_names(wrong, checks);
}

TEST(mm_map_judge, names_other_symptoms)
{
	static const struct {
		enum mm_symptom symptom;
		enum mm_kind kind;
		uint32_t ppm;
	} rows[] = {{MM_CORRUPTED, MM_CORRUPTING, 20000},
		    {MM_DUPLICATED, MM_DUPLICATING, 20000},
		    {MM_REORDERED, MM_REORDERING, 50000},
		    {MM_SLOWED, MM_SLOW, 1000000}};

	uint32_t checks = (uint32_t)test_long_rounds(8), wrong = 0;

	for (uint32_t i = 0; i < checks; i++)
		wrong += !check_fault(i / 4 % 2 ? CABLE_OF_HOST : CABLE_OF_T0, rows[i % 4].symptom,
				      rows[i % 4].kind, rows[i % 4].ppm, (enum mf_direction)(i % 3),
				      300);
	check_wrong_names(wrong, checks);
}

/* What a host sends comes back to it: neighbours' questions tell which of the two is dead. */
TEST(mm_map_asked, names_the_direction_of_a_dead_host)
{
	for (uint32_t i = 0; i < test_long_rounds(4); i++)
		check_fault(HOST, MM_LOST, MM_DEAD, 1000000,
			    i % 2 ? MF_DIRECTION_OUT : MF_DIRECTION_IN, 8);
}

TEST(mm_map_asked, takes_hosts_of_the_fabric_only)
{
	struct map_world w;

	random_world(&w, 3);
	assert_false(mm_map_asked(w.map, w.t.n_hosts, 0, w.now_ns));
	assert_false(mm_map_asked(w.map, 0, w.t.n_hosts, w.now_ns));
	assert_false(mm_map_asked(w.map, 1, 1, w.now_ns));
	world_fini(&w);
}

static void stays_well(struct map_world *w, uint32_t steps, uint32_t probes, const char *what)
{
	for (uint32_t step = 0; step < steps; step++) {
		world_step(w, probes);
		if (w->n_sick)
			world_fail(w, what);
	}
}

TEST(mm_map_judge, accuses_nobody_where_losses_are_usual)
{
	for (uint32_t i = 0; i < test_long_rounds(2); i++) {
		struct map_world w;

		random_world(&w, 3);
		w.background_ppm = 100;
		stays_well(&w, 500, 2, "nothing was wrong");
		world_fini(&w);
	}
}

/* Six hosts on each T0, five watchers for each link, and two that lie on the first T0. */
static void world_of_liars(struct map_world *w, enum world_host how)
{
	struct mf_topology t;
	struct mf_topology_cfg cfg;
	struct mf_error e;

	random_topology(&t);
	cfg = t.cfg;
	cfg.planes = pick(2, 4);
	cfg.tiers = 2;
	cfg.pods = 1;
	cfg.t1_uplinks = 0;
	cfg.hosts_per_t0 = 6;
	cfg.t0s = pick(2, 3);
	cfg.t1s = pick(2, 4);
	memset(cfg.radix, 0, sizeof(cfg.radix));
	assert_true(mf_topology_init(&t, &cfg, &e));
	world_init(w, &t, 5);
	w->host[pick(0, 2)] = how;
	w->host[pick(3, 5)] = how;
}

/* A liar can harm itself: its own cable, where a dead part leaves nobody else to watch that. */
static bool is_own(const struct map_world *w, const struct mm_part *part)
{
	if (part->kind == MM_HOST)
		return w->host[part->id] != WORLD_HONEST;
	return part->kind == MM_CABLE && mf_link_kind(&w->t, part->id << 1) == MF_HOST_T0 &&
	       w->host[mf_link_at(&w->t, part->id << 1).lower] != WORLD_HONEST;
}

/* It says of trains that came to it that they were slow, so that those who sent them say so. */
static bool is_said_by_liar(const struct map_world *w, const struct mm_sick *s)
{
	return s->part.kind == MM_CABLE && is_own(w, &s->part) && s->direction_known &&
	       s->part.direction == MF_DIRECTION_IN &&
	       (s->kind == MM_SLOW || s->kind == MM_FLAPPING);
}

TEST(mm_map_judge, believes_no_minority_that_cries)
{
	for (uint32_t i = 0; i < test_long_rounds(2); i++) {
		struct map_world w;

		world_of_liars(&w, WORLD_CRIES);
		for (uint32_t step = 0; step < 100; step++) {
			world_step(&w, 2);
			for (size_t k = 0; k < w.n_sick; k++)
				if (!is_said_by_liar(&w, &w.sick[k]))
					world_fail(&w, "nothing was wrong but two liars");
		}
		world_fini(&w);
	}
}

static bool is_dead(const struct map_world *w, const char *name)
{
	const struct mm_sick *s = world_find(w, name);

	return s && s->kind == MM_DEAD;
}

/* Of a T0 that is dead who hides can have one of its transceivers named. */
static bool is_named_among_liars(const struct map_world *w, const char *name, uint32_t target)
{
	char module[MM_PART_NAME_BYTES + 16];
	bool named = is_dead(w, name);

	for (uint32_t i = 0; target == T0 && i < 4 && !named; i++) {
		snprintf(module, sizeof(module), "%s.transceiver%u", name, i);
		named = is_dead(w, module);
	}
	return named;
}

static bool is_of(const struct map_world *w, const struct mm_part *part, const char *name)
{
	char is[MM_PART_NAME_BYTES];

	mm_part_name(&w->t, part, is);
	return strcmp(is, name) == 0 ||
	       (part->kind == MM_TRANSCEIVER && strncmp(is, name, strlen(name)) == 0);
}

static void check_among_liars(uint32_t target, enum world_host how)
{
	char name[MM_PART_NAME_BYTES];
	struct map_world w;

	world_of_liars(&w, how);
	random_target(&w, target, name);
	/* Its own faults a liar can hide. */
	for (uint32_t h = 0; h < w.t.n_hosts; h++) {
		char host[MF_NODE_NAME_BYTES];
		size_t n;

		mf_node_name(&w.t, h, host);
		n = strlen(host);
		if (strncmp(name, host, n) == 0 && (name[n] == '.' || !name[n]))
			w.host[h] = WORLD_HONEST;
	}
	for (uint32_t i = 0; i < 10; i++)
		world_step(&w, 2);
	world_fault(&w, name, MM_LOST, MF_DIRECTION_BOTH, 1000000);
	for (uint32_t i = 0; i < 20 && !is_named_among_liars(&w, name, target); i++)
		world_step(&w, 2);
	for (uint32_t i = 0; i < 10; i++)
		world_step(&w, 2);
	for (size_t i = 0; i < w.n_sick; i++)
		if (!is_of(&w, &w.sick[i].part, name) && !is_own(&w, &w.sick[i].part))
			world_fail(&w, name);
	if (!is_named_among_liars(&w, name, target))
		world_fail(&w, name);
	world_fini(&w);
}

TEST(mm_map_judge, names_what_is_dead_among_liars)
{
	for (uint32_t i = 0; i < test_long_rounds(5); i++)
		check_among_liars(i % TARGETS, i % 2 ? WORLD_CRIES : WORLD_HIDES);
}

/* Who has a port in it and says that it works is one of four, whoever else says so. */
TEST(mm_map_judge, names_a_transceiver_that_one_of_its_hosts_hides)
{
	for (uint32_t i = 0; i < test_long_rounds(3); i++) {
		const char *name = "plane0.t0-0.transceiver0";
		struct map_world w;

		world_of_liars(&w, WORLD_HIDES);
		w.host[3] = WORLD_HONEST; /* whose port is the last of these */
		world_fault(&w, name, MM_LOST, MF_DIRECTION_BOTH, 1000000);
		if (!world_until(&w, name, MM_DEAD, 20, 2))
			world_fail(&w, name);
		world_fini(&w);
	}
}

/* Half of the hosts say nothing and answer nothing; what the others watch is named as ever. */
TEST(mm_map_judge, needs_half_of_the_hosts)
{
	for (uint32_t i = 0; i < test_long_rounds(2); i++) {
		char name[MM_PART_NAME_BYTES];
		struct map_world w;

		world_of_liars(&w, WORLD_HONEST);
		for (uint32_t h = 0; h < w.t.n_hosts; h++)
			w.host[h] = h % 2 ? WORLD_SILENT : WORLD_HONEST;
		random_target(&w, T1, name);
		stays_well(&w, 100, 2, "nobody who is silent is sick");
		assert_u_eq(mm_map_silent(w.map, w.now_ns), w.t.n_hosts / 2);
		world_fault(&w, name, MM_LOST, MF_DIRECTION_BOTH, 1000000);
		if (!world_until(&w, name, MM_DEAD, 20, 2))
			world_fail(&w, name);
		world_fini(&w);
	}
}

/* A busy machine spreads the trains of all routes; no link is slow for that. */
TEST(mm_map_judge, calls_nobody_slow_where_many_trains_are)
{
	struct map_world w;

	random_world(&w, 3);
	for (uint32_t link = 0; link < w.t.n_links; link++)
		w.ppm[MM_SLOWED][link] = 100000; /* a third to a half of the trains of a route */
	stays_well(&w, 200, 1, "nothing was wrong but timers");
	world_fini(&w);
}

/*
 * Hosts' clocks differ and their reports come late, each by a time of its own that others do not
 * know: what is wrong is named so much later, and nobody in its place.
 */
TEST(mm_map_judge, bears_clocks_that_differ)
{
	for (uint32_t i = 0; i < test_long_rounds(5); i++) {
		char name[MM_PART_NAME_BYTES];
		struct map_world w;

		random_world(&w, 3);
		random_target(&w, i % TARGETS, name);
		for (uint32_t h = 0; h < w.t.n_hosts; h++)
			w.late[h] = pick(0, WORLD_LATE - 1);
		stays_well(&w, 50, 2, "nothing was wrong but clocks");
		world_fault(&w, name, MM_LOST, MF_DIRECTION_BOTH, 1000000);
		if (!world_until(&w, name, MM_DEAD, 8 + 2 * WORLD_LATE, 2))
			world_fail(&w, name);
		for (uint32_t step = 0; step < 20; step++)
			world_step(&w, 2);
		check_alone(&w, name, name);
		world_fini(&w);
	}
}

TEST(mm_map_judge, names_two_at_once)
{
	for (uint32_t i = 0; i < test_long_rounds(2); i++) {
		char one[MM_PART_NAME_BYTES], two[MM_PART_NAME_BYTES];
		struct map_world w;

		random_world(&w, 3);
		/* On planes of their own: what is behind a dead T0 is nobody's to see. */
		mf_cable_name(&w.t, mf_link_host_t0(&w.t, 0, pick(0, w.t.n_hosts - 1), false), one);
		mf_node_name(&w.t, mf_node_switch(&w.t, MF_T1, 1, pick(0, w.t.n_t1s - 1)), two);
		world_fault(&w, one, MM_LOST, MF_DIRECTION_BOTH, 1000000);
		world_fault(&w, two, MM_LOST, MF_DIRECTION_BOTH, pick(50000, 200000));
		for (uint32_t step = 0; step < 100; step++)
			world_step(&w, 2);
		if (w.n_sick != 2 || !world_find(&w, one) || !world_find(&w, two))
			world_fail(&w, "two things were wrong");
		world_fini(&w);
	}
}

/* Both are named in the end, and at no time anything else, nor as anything but dead. */
static void check_two_dead(struct map_world *w, const char *one, const char *two, uint32_t apart,
			   const char *both)
{
	for (uint32_t step = 0; step < 10; step++)
		world_step(w, 2);
	world_fault(w, one, MM_LOST, MF_DIRECTION_BOTH, 1000000);
	for (uint32_t step = 0; step < 12; step++) {
		if (step == apart)
			world_fault(w, two, MM_LOST, MF_DIRECTION_BOTH, 1000000);
		world_step(w, 2);
		for (size_t i = 0; i < w->n_sick; i++) {
			const struct mm_sick *s = &w->sick[i];

			if (s->kind != MM_DEAD ||
			    (s != world_find(w, one) && s != world_find(w, two) &&
			     s != world_find(w, both)))
				world_fail(w, both);
		}
	}
}

/* Both die at once, or a step apart; who has two planes is dead then, and named so. */
TEST(mm_map_judge, names_two_cables_of_a_host)
{
	for (uint32_t i = 0; i < test_long_rounds(6); i++) {
		char one[MM_PART_NAME_BYTES], two[MM_PART_NAME_BYTES], host[MF_NODE_NAME_BYTES];
		struct map_world w;
		uint32_t of;

		random_world(&w, 3);
		of = pick(0, w.t.n_hosts - 1);
		mf_node_name(&w.t, of, host);
		mf_cable_name(&w.t, mf_link_host_t0(&w.t, 0, of, false), one);
		mf_cable_name(&w.t, mf_link_host_t0(&w.t, 1, of, false), two);
		check_two_dead(&w, one, two, i % 2, w.t.cfg.planes == 2 ? host : one);
		if (w.t.cfg.planes == 2)
			check_alone(&w, host, host);
		else if (w.n_sick != 2 || !world_find(&w, one) || !world_find(&w, two))
			world_fail(&w, one);
		world_fini(&w);
	}
}

/* Two cables of a T1 or of a T0, both behind it, and what has no others. */
static void two_cables_of(const struct map_world *w, bool t1, char one[MM_PART_NAME_BYTES],
			  char two[MM_PART_NAME_BYTES], char both[MF_NODE_NAME_BYTES])
{
	const struct mf_topology *t = &w->t;
	uint32_t plane = pick(0, t->cfg.planes - 1), n = t1 ? t->cfg.t0s : t->cfg.hosts_per_t0;
	uint32_t t0 = pick(0, t->cfg.t0s - 1), up = pick(0, t->cfg.t1s - 1);
	uint32_t at = pick(0, n - 1), apart = pick(1, n - 1), first = t0 * n;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t which = (at + i * apart) % n;

		mf_cable_name(t,
			      t1 ? mf_link_t0_t1(t, plane, which, up, false)
				 : mf_link_host_t0(t, plane, first + which, false),
			      i ? two : one);
	}
	mf_node_name(t,
		     t1 ? mf_node_switch(t, MF_T1, plane, up) : mf_node_switch(t, MF_T0, plane, t0),
		     both);
}

/* They are named as long as they are dead, and not the switch, whose others work. */
TEST(mm_map_judge, names_two_cables_of_a_switch)
{
	for (uint32_t i = 0; i < test_long_rounds(8); i++) {
		char one[MM_PART_NAME_BYTES], two[MM_PART_NAME_BYTES], both[MF_NODE_NAME_BYTES];
		struct map_world w;
		bool t1 = i % 4 < 2, alone;

		random_world(&w, 3);
		two_cables_of(&w, t1, one, two, both);
		alone = t1 && w.t.cfg.t0s == 2;
		check_two_dead(&w, one, two, i % 2, alone ? both : one);
		for (uint32_t step = 0; step < 60; step++) {
			if (alone)
				check_alone(&w, both, both);
			else if (w.n_sick != 2 || !world_find(&w, one) || !world_find(&w, two))
				world_fail(&w, one);
			world_step(&w, 2);
		}
		world_fini(&w);
	}
}

TEST(mm_map_judge, sees_what_is_well_again_and_what_flaps)
{
	for (uint32_t i = 0; i < test_long_rounds(2); i++) {
		char name[MM_PART_NAME_BYTES];
		struct map_world w;

		random_world(&w, 3);
		random_target(&w, i % 2 ? CABLE_OF_T0 : CABLE_OF_HOST, name);
		for (uint32_t times = 0; times < 3; times++) {
			world_fault(&w, name, MM_LOST, MF_DIRECTION_BOTH, 1000000);
			if (!world_until(&w, name, times < 2 ? MM_DEAD : MM_FLAPPING, 10, 2))
				world_fail(&w, name);
			world_fault(&w, name, MM_LOST, MF_DIRECTION_BOTH, 0);
			for (uint32_t step = 0; step < 15; step++)
				world_step(&w, 2);
			if (times < 2 && w.n_sick)
				world_fail(&w, "it was well again");
		}
		if (!world_find(&w, name))
			world_fail(&w, "a flap is not over when it is up");
		for (uint32_t step = 0; step < 1100; step++)
			world_step(&w, 1);
		if (w.n_sick)
			world_fail(&w, "it has been up for long");
		world_fini(&w);
	}
}

TEST(mm_map_judge, names_planes_and_transceivers)
{
	for (uint32_t i = 0; i < test_long_rounds(3); i++) {
		static const char *const names[] = {"plane1", "plane0.t0-1.transceiver0",
						    "plane0.t0-0.transceiver1"};
		struct mf_topology t;
		struct mf_topology_cfg cfg;
		struct mf_error e;
		struct map_world w;

		random_topology(&t);
		cfg = t.cfg;
		cfg.planes = pick(2, 3);
		cfg.tiers = 2;
		cfg.pods = 1;
		cfg.t1_uplinks = 0;
		cfg.hosts_per_t0 = 8;
		cfg.t0s = pick(2, 3);
		cfg.t1s = pick(3, 4);
		memset(cfg.radix, 0, sizeof(cfg.radix));
		assert_true(mf_topology_init(&t, &cfg, &e));
		world_init(&w, &t, 3);
		for (uint32_t step = 0; step < 10; step++)
			world_step(&w, 2);
		world_fault(&w, names[i % 3], MM_LOST, MF_DIRECTION_BOTH, 1000000);
		if (!world_until(&w, names[i % 3], MM_DEAD, 8, 2))
			world_fail(&w, names[i % 3]);
		world_step(&w, 2);
		check_alone(&w, names[i % 3], names[i % 3]);
		world_fini(&w);
	}
}
