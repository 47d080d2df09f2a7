/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_ud_health.c - what rounds of probes make of EVs: src/ud/ud_health.c. */
#include "support/test.h"

#include "ud/ud_private.h"

#define PATHS 8u
#define ALL ((1u << PATHS) - 1)
#define MS UINT64_C(1000000)

struct net {
	struct mu_health h;
	uint64_t mem[1024];
	uint64_t now_ns;
	uint32_t asked; /* in the last round, a mask */
	struct mu_counts counts;
};

static void net_init(struct net *n, uint16_t paths)
{
	static const struct mt_ev evs[PATHS]; /* all of port 0 */
	struct mu_cfg cfg = {.evs = evs, .n_evs = paths, .n_ports = 1};

	*n = (struct net){.now_ns = 5};
	assert_true(mu_health_size(paths, 1) <= sizeof(n->mem));
	mu_health_init(&n->h, n->mem, &cfg, &(struct rd_gid){{0}}, n->now_ns);
}

static uint32_t bad_paths(const struct net *n)
{
	uint32_t bad = 0;

	for (uint32_t i = 0; i < n->h.set->n_evs; i++)
		bad |= (uint32_t)(mt_ev_state_of(n->h.set, (uint16_t)i) == MT_EV_ASSUMED_BAD) << i;
	return bad;
}

/* One round, as soon as it is due, in which the paths of a mask are answered. */
static void play(struct net *n, uint32_t alive)
{
	uint16_t paths[MU_ROUND_PROBES];
	uint32_t k;

	if (n->now_ns < n->h.next_ns)
		n->now_ns = n->h.next_ns;
	assert_true(mu_health_is_due(&n->h, n->now_ns));
	k = mu_health_choose_evs(&n->h, n->now_ns, paths);
	n->asked = 0;
	for (uint32_t i = 0; i < k; i++) {
		mu_health_probe_sent(&n->h, paths[i]);
		assert_false(n->asked >> paths[i] & 1);
		n->asked |= 1u << paths[i];
	}
	assert_false(mu_health_is_due(&n->h, n->now_ns));
	n->now_ns += mu_health_probe_timeout(&n->h);
	for (uint32_t i = 0; i < k; i++) {
		bool answered = alive >> paths[i] & 1;

		mu_health_probe_ended(&n->h, paths[i], answered, answered ? MS : 0, n->now_ns,
				      &n->counts);
	}
}

/* REQ(ud.health.rounds) */
TEST(mu_health_choose_evs, asks_all_in_turn)
{
	struct net n;
	uint32_t asked = 0;

	net_init(&n, PATHS);
	assert_false(mu_health_is_due(&n.h, n.now_ns));
	for (uint32_t i = 0; i < PATHS; i++) {
		play(&n, ALL);
		asked |= n.asked;
	}
	assert_u_eq(asked, ALL);
	assert_u_eq(n.h.set->n_usable, PATHS);
}

/* REQ(ud.health.retire) */
TEST(mu_health_probe_ended, a_dead_path_is_left)
{
	struct net n;

	net_init(&n, PATHS);
	for (uint32_t i = 0; i < PATHS && n.counts.ud_evs_retired == 0; i++) {
		uint32_t tries = mt_ev_fault(n.h.set, 3)->backoff;

		play(&n, ALL & ~(1u << 3));
		/* A doubtful one is asked again and again. */
		assert_true(tries == 0 || n.asked >> 3 & 1);
	}
	assert_u_eq(n.counts.ud_evs_retired, 1);
	assert_u_eq(bad_paths(&n), 1u << 3);
	assert_u_eq(n.h.set->n_usable, PATHS - 1);
}

/* REQ(ud.health.retire) */
TEST(mu_health_probe_ended, retires_at_the_last_of_its_tries)
{
	struct net n;
	uint32_t failed = 0;

	net_init(&n, PATHS);
	while (n.counts.ud_evs_retired == 0 && failed < 2 * MU_TRIES) {
		play(&n, ALL & ~(1u << 3));
		failed += n.asked >> 3 & 1;
	}
	assert_u_eq(failed, MU_TRIES);
}

/* Now and then a probe is lost by a busy host. */
TEST(mu_health_probe_ended, failures_must_be_in_a_row)
{
	struct net n;

	net_init(&n, PATHS);
	for (uint32_t i = 0; i < 60; i++)
		play(&n, mt_ev_fault(n.h.set, 3)->backoff + 1u < MU_TRIES ? ALL & ~(1u << 3) : ALL);
	assert_u_eq(n.counts.ud_evs_retired, 0);
}

/* REQ(ud.health.witness) */
TEST(mu_health_probe_ended, silence_proves_nothing)
{
	struct net n;
	uint64_t before;

	net_init(&n, PATHS);
	for (uint32_t i = 0; i < 20; i++)
		play(&n, 0);
	assert_u_eq(bad_paths(&n), 0);
	/* Who never answers is asked ever more rarely. */
	before = n.now_ns;
	play(&n, 0);
	assert_true(n.now_ns - before >= MU_ROUND_NS << MU_ROUND_SHIFTS);
	assert_u_eq(n.h.next_ns - n.now_ns, MU_ROUND_NS << MU_ROUND_SHIFTS);
	/* And as often as others when he does. */
	play(&n, ALL);
	assert_u_eq(n.h.next_ns - n.now_ns, MU_ROUND_NS);
}

/* One round that asks the two EVs of a set, the second one first. */
static void ask_both(struct net *n, bool first_answers, bool second_answers)
{
	n->h.n_asked = 0;
	mu_health_probe_sent(&n->h, 1);
	mu_health_probe_sent(&n->h, 0);
	mu_health_probe_ended(&n->h, 0, first_answers, MS, n->now_ns, &n->counts);
	mu_health_probe_ended(&n->h, 1, second_answers, MS, n->now_ns, &n->counts);
}

/* Nor does another one that is bad take its place: that comes back by its own answers.
 * REQ(ud.health.last) */
TEST(mu_health_probe_ended, the_last_good_one_is_not_exchanged)
{
	struct net n;

	net_init(&n, 2);
	while (n.counts.ud_evs_retired == 0)
		ask_both(&n, false, true);
	assert_u_eq(bad_paths(&n), 1);
	for (uint32_t i = 0; i < MU_TRIES; i++) {
		assert_u_eq(bad_paths(&n), 1);
		ask_both(&n, true, false);
	}
	assert_u_eq(bad_paths(&n), 0);
	assert_u_eq(n.counts.ud_evs_retired, 1);
	assert_u_eq(n.counts.ud_evs_revived, 1);
}

/* REQ(ud.health.revive) */
TEST(mu_health_probe_ended, comes_back_after_answers_in_a_row)
{
	struct net n;
	uint32_t answers = 0;

	net_init(&n, PATHS);
	while (n.counts.ud_evs_retired == 0)
		play(&n, ALL & ~1u);
	for (uint32_t i = 0; i < 20; i++)
		play(&n, ALL & ~1u);
	while (n.counts.ud_evs_revived == 0 && answers <= MU_TRIES) {
		n.now_ns += MU_BAD_MAX_NS;
		play(&n, ALL);
		answers += n.asked & 1;
	}
	assert_u_eq(answers, MU_TRIES);
	assert_u_eq(bad_paths(&n), 0);
}

static void retire(struct net *n, uint16_t ev)
{
	struct mt_ev_change changes[2];

	assert_u_eq(mt_ev_retire(n->h.set, ev, n->now_ns, MT_EV_BY_LOSS, changes), 1);
}

/* Whether a round that began at this time would ask an EV. */
static bool would_ask(const struct net *n, uint16_t ev, uint64_t now_ns)
{
	struct mu_health h = n->h;
	uint16_t evs[MU_ROUND_PROBES];
	uint32_t k = mu_health_choose_evs(&h, now_ns, evs);

	for (uint32_t i = 0; i < k; i++)
		if (evs[i] == ev)
			return true;
	return false;
}

TEST(mu_health_choose_evs, a_bad_one_when_it_is_due)
{
	struct net n;
	uint64_t due_ns;

	net_init(&n, PATHS);
	retire(&n, 3);
	due_ns = mt_ev_fault(n.h.set, 3)->next_probe_ns;
	assert_true(due_ns > n.now_ns);
	assert_false(would_ask(&n, 3, due_ns - 1));
	assert_true(would_ask(&n, 3, due_ns));
}

/* Beside the one that was answered last two may be doubtful: others are to be asked, too. */
TEST(mu_health_choose_evs, some_doubtful_ones_at_a_time)
{
	struct net n;
	uint16_t evs[MU_ROUND_PROBES];
	uint32_t k, bad = 0;

	net_init(&n, PATHS);
	n.h.answered = 0;
	for (uint16_t ev = 1; ev < 5; ev++)
		retire(&n, ev);
	k = mu_health_choose_evs(&n.h, n.now_ns + MU_BAD_MAX_NS, evs);
	assert_u_eq(k, MU_ROUND_PROBES);
	for (uint32_t i = 0; i < k; i++)
		bad += !mt_ev_is_usable(n.h.set, evs[i]);
	assert_u_eq(bad, MU_ROUND_DOUBTFUL);
}

TEST(mu_health_choose_evs, bad_ones_are_asked_ever_more_rarely)
{
	struct net n;
	uint64_t last_ns = 0, gap_ns = 0;

	net_init(&n, 2);
	while (n.counts.ud_evs_retired == 0)
		play(&n, 2);
	for (uint32_t i = 0; i < 100; i++) {
		play(&n, 2);
		if (!(n.asked & 1))
			continue;
		assert_true(last_ns == 0 || n.now_ns - last_ns >= gap_ns);
		gap_ns = last_ns ? n.now_ns - last_ns : 0;
		last_ns = n.now_ns;
		/* Rounds are as long as an answer is waited for; so much more or less is no
		 * rule. */
		gap_ns -= gap_ns > 2 * MU_ROUND_NS ? 2 * MU_ROUND_NS : gap_ns;
	}
	assert_true(gap_ns >= MU_BAD_MAX_NS - 2 * MU_ROUND_NS);
}

/* REQ(ud.health.last) */
TEST(mu_health_probe_ended, the_last_good_one_stays)
{
	struct net n;

	net_init(&n, 3);
	/* Each is answered when it is bad, and not when it is good. */
	for (uint32_t i = 0; i < 300; i++) {
		play(&n, bad_paths(&n) ? bad_paths(&n) : 1);
		assert_true(n.h.set->n_usable > 0);
		assert_u_eq(n.h.set->n_usable, 3u - (uint32_t)__builtin_popcount(bad_paths(&n)));
	}
}

TEST(mu_health_probe_timeout, grows_with_the_rtt_and_with_silence)
{
	struct net n;

	net_init(&n, 2);
	assert_u_eq(mu_health_probe_timeout(&n.h), MU_ROUND_NS);
	play(&n, 0);
	play(&n, 0);
	assert_u_eq(mu_health_probe_timeout(&n.h), 4 * MU_ROUND_NS);
	play(&n, 3);
	assert_u_eq(n.h.set->probe_rtt_ns, MS); /* of the answers */
	n.h.set->probe_rtt_ns = 30 * MS;
	assert_u_eq(mu_health_probe_timeout(&n.h), 120 * MS);
}

/* Paths die and come back at random: in the end it is known which lead there. */
TEST(mu_health_probe_ended, random_lives)
{
	struct net n;

	net_init(&n, PATHS);
	for (uint32_t k = 0; k < test_rounds(200); k++) {
		uint32_t alive = (uint32_t)test_rand_below(ALL) + 1, rounds = 0;

		for (; rounds < 400 && bad_paths(&n) != (ALL & ~alive); rounds++)
			play(&n, test_rand_below(5) == 0 ? 0 : alive);
		assert_u_eq(bad_paths(&n), ALL & ~alive);
	}
}
