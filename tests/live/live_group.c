/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_group.c - collective calls and messages of bindings/group between processes, over two planes
 * on loopback: every result against one computed here from what each rank is known to have.
 */
#include "group/group_state.h"
#include "support/test.h"
#include "unit/loopback.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS_MAX 5u
#define CARD_MAX 256u
#define PATIENCE_NS UINT64_C(60000000000)
#define WORDS_MAX 300001u

#define check(cond) ((cond) ? (void)0 : fail_here(__LINE__, #cond))

_Noreturn static void fail_here(int line, const char *what)
{
	fprintf(stderr, "# %d: live_group.c:%d: %s\n", (int)getpid(), line, what);
	_exit(1);
}

/* ---- ranks: processes that meet in shared memory ---- */

struct meeting {
	pthread_barrier_t all;
	uint8_t cards[RANKS_MAX][CARD_MAX];
	_Atomic bool last_has_come; /* into a barrier that the others wait in */
};

struct rank {
	struct mg_group *g;
	uint32_t rank, ranks;
	uint64_t calls;
	struct meeting *meeting;
};

static void connect_all(struct rank *r)
{
	struct mg_cfg cfg = {.rank = r->rank, .ranks = r->ranks};
	char error[MG_TEXT_MAX];

	r->g = mg_open(&cfg, error);
	check(r->g && mg_card_bytes(r->g) <= CARD_MAX);
	mg_describe(r->g, r->meeting->cards[r->rank]);
	pthread_barrier_wait(&r->meeting->all);
	for (uint32_t p = 0; p < r->ranks; p++)
		if (p != r->rank)
			check(mg_connect(r->g, p, r->meeting->cards[p], mg_card_bytes(r->g),
					 error) == 0);
	pthread_barrier_wait(&r->meeting->all);
}

static void run_ranks(uint32_t ranks, void (*act)(struct rank *))
{
	struct meeting *m =
		mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t attr;
	pid_t pids[RANKS_MAX];
	int status;

	assert_true(m != MAP_FAILED && ranks <= RANKS_MAX);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&m->all, &attr, ranks);
	loopback_env(2);
	setenv("MRC_RTO_MIN_US", "1000", 1);
	for (uint32_t i = 0; i < ranks; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct rank r = {.rank = i, .ranks = ranks, .meeting = m};

			alarm(100);
			connect_all(&r);
			act(&r);
			mg_close(r.g);
			_exit(0);
		}
	}
	for (uint32_t i = 0; i < ranks; i++) {
		assert_true(waitpid(pids[i], &status, 0) == pids[i]);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			fail_msg("rank %u of %u: wait status %#x", i, ranks, (unsigned)status);
	}
	munmap(m, sizeof(*m));
}

static struct mg_call next_call(struct rank *r, enum mg_kind kind)
{
	return (struct mg_call){
		.kind = kind, .number = ++r->calls, .deadline_ns = mg_now_ns() + PATIENCE_NS};
}

/* ---- collective calls ---- */

/* What rank r has at place i. */
static uint64_t word(uint32_t r, size_t i)
{
	return (r + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (i * UINT64_C(0xbf58476d1ce4e5b9));
}

/* Neither commutes nor associates: a result tells the order. */
static uint64_t mix(uint64_t own, uint64_t came)
{
	return own * 3 + came * 5 + 1;
}

static void combine(void *arg, void *into, const void *from, size_t bytes)
{
	uint64_t *a = into;
	const uint64_t *b = from;

	(void)arg;
	for (size_t i = 0; i < bytes / sizeof(*a); i++)
		a[i] = mix(a[i], b[i]);
}

static const struct mg_combine mixing = {.combine = combine, .element = sizeof(uint64_t)};

/* Chunk c as group.h has it: begun by the rank before c, on down to c. */
static uint64_t combined(uint32_t ranks, uint32_t chunk, size_t i)
{
	uint64_t sum = word((chunk + ranks - 1) % ranks, i);

	for (uint32_t k = 2; k <= ranks; k++)
		sum = mix(word((chunk + ranks * 2 - k) % ranks, i), sum);
	return sum;
}

/* Words of a chunk of an all-reduce, from what Gloo's ring does: segments of 1 MiB at most, as many
 * for each rank, two at least. */
static size_t chunk_words(uint32_t ranks, size_t words)
{
	size_t segment = (words * 8 + ranks * 2 - 1) / (ranks * 2);
	size_t segments;

	if (segment > 1 << 20)
		segment = 1 << 20;
	segment = (segment + 7) / 8;
	segments = (words + segment - 1) / segment;
	if (segments < ranks * 2)
		segments = ranks * 2;
	return (segments + ranks - 1) / ranks * segment;
}

static void fill(uint32_t rank, uint64_t *v, size_t words)
{
	for (size_t i = 0; i < words; i++)
		v[i] = word(rank, i);
}

static void check_combined(const struct rank *r, const uint64_t *v, size_t words, size_t chunk)
{
	for (size_t i = 0; i < words; i++)
		check(v[i] == combined(r->ranks, (uint32_t)(i / chunk), i));
}

static void all_reduce_and_reduce(struct rank *r, uint64_t *v, size_t words)
{
	struct mg_call call = next_call(r, MG_ALL_REDUCE);
	size_t chunk = words ? chunk_words(r->ranks, words) : 1;

	fill(r->rank, v, words);
	check(mg_all_reduce(r->g, &call, v, words * 8, &mixing) == 0);
	check_combined(r, v, words, chunk);
	for (uint32_t root = 0; root < r->ranks; root += 2) {
		fill(r->rank, v, words);
		call = next_call(r, MG_REDUCE);
		call.root = root;
		check(mg_reduce(r->g, &call, v, words * 8, &mixing) == 0);
		if (r->rank == root)
			check_combined(r, v, words, chunk);
	}
}

static void scatter_and_gather(struct rank *r, uint64_t *v, size_t words)
{
	struct mg_call call = next_call(r, MG_REDUCE_SCATTER);
	uint64_t *own = v + r->rank * words;

	fill(r->rank, v, words * r->ranks);
	check(mg_reduce_scatter(r->g, &call, v, words * 8, &mixing) == 0);
	for (size_t i = 0; i < words; i++)
		check(own[i] == combined(r->ranks, r->rank, r->rank * words + i));
	fill(r->rank, own, words);
	call = next_call(r, MG_ALL_GATHER);
	check(mg_all_gather(r->g, &call, v, words * 8) == 0);
	for (size_t i = 0; i < words * r->ranks; i++)
		check(v[i] == word((uint32_t)(i / words), i % words));
}

static void broadcasts(struct rank *r, uint64_t *v, size_t words)
{
	for (uint32_t root = 0; root < r->ranks; root++) {
		struct mg_call call = next_call(r, MG_BROADCAST);

		call.root = root;
		fill(r->rank, v, words);
		check(mg_broadcast(r->g, &call, v, words * 8) == 0);
		for (size_t i = 0; i < words; i++)
			check(v[i] == word(root, i));
	}
}

/* Rank a sends rank b so many of `words`: none sometimes, and never as many as it receives. */
static size_t part_words(uint32_t a, uint32_t b, size_t words)
{
	return words * ((a * 3 + b) % 5) / 5;
}

static void all_to_all(struct rank *r, uint64_t *v, uint64_t *into, size_t words)
{
	struct mg_call call = next_call(r, MG_ALL_TO_ALL);
	const void *out[RANKS_MAX];
	void *in[RANKS_MAX];
	size_t out_bytes[RANKS_MAX], in_bytes[RANKS_MAX], o = 0, n = 0;

	fill(r->rank, v, words * r->ranks);
	for (uint32_t p = 0; p < r->ranks; p++) {
		out[p] = v + o;
		in[p] = into + n;
		out_bytes[p] = 8 * part_words(r->rank, p, words);
		in_bytes[p] = 8 * part_words(p, r->rank, words);
		o += out_bytes[p] / 8;
		n += in_bytes[p] / 8;
	}
	check(mg_all_to_all(r->g, &call, &(struct mg_parts){out, out_bytes, in, in_bytes}) == 0);
	for (uint32_t p = 0; p < r->ranks; p++) {
		o = 0;
		for (uint32_t q = 0; q < r->rank; q++)
			o += part_words(p, q, words);
		for (size_t i = 0; i < in_bytes[p] / 8; i++)
			check(((uint64_t *)in[p])[i] == word(p, o + i));
	}
}

static void every_call(struct rank *r)
{
	static const size_t sizes[] = {0, 1, 2, 3, 7, 1000, 8193, WORDS_MAX};
	uint64_t *v = malloc((size_t)WORDS_MAX * RANKS_MAX * 8);
	uint64_t *into = malloc((size_t)WORDS_MAX * RANKS_MAX * 8);

	check(v && into);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct mg_call call = next_call(r, MG_BARRIER);

		all_reduce_and_reduce(r, v, sizes[i]);
		scatter_and_gather(r, v, sizes[i]);
		broadcasts(r, v, sizes[i]);
		all_to_all(r, v, into, sizes[i]);
		call.number = ++r->calls;
		check(mg_barrier(r->g, &call) == 0);
	}
	free(v);
	free(into);
}

TEST(mg_all_reduce, and_every_other_call_of_one_rank)
{
	run_ranks(1, every_call);
}

TEST(mg_all_reduce, and_every_other_call_of_two_ranks)
{
	run_ranks(2, every_call);
}

TEST(mg_all_reduce, and_every_other_call_of_five_ranks)
{
	run_ranks(5, every_call);
}

/* ---- barrier: nobody leaves before the last has come ---- */

static void barrier_after_pause(struct rank *r)
{
	struct mg_call call = next_call(r, MG_BARRIER);

	if (r->rank == 1) {
		usleep(200000);
		atomic_store(&r->meeting->last_has_come, true);
	}
	check(mg_barrier(r->g, &call) == 0);
	check(atomic_load(&r->meeting->last_has_come));
}

TEST(mg_barrier, waits_for_the_last)
{
	run_ranks(5, barrier_after_pause);
}

/* ---- calls that fail ---- */

static void expect_broken(const struct rank *r, const char *word)
{
	const char *why = mg_broken(r->g);

	if (!why || !strstr(why, word)) {
		fprintf(stderr, "# rank %u: \"%s\" does not say \"%s\"\n", r->rank,
			why ? why : "nothing", word);
		_exit(1);
	}
}

static void unlike_calls(struct rank *r)
{
	uint64_t v[4] = {0};
	struct mg_call call = next_call(r, r->rank ? MG_ALL_REDUCE : MG_ALL_GATHER);
	int rc = r->rank ? mg_all_reduce(r->g, &call, v, sizeof(v), &mixing)
			 : mg_all_gather(r->g, &call, v, 8);

	/* Who finds it out tells the others; those may be through before. */
	call = next_call(r, MG_BARRIER);
	check(rc == -1 || mg_barrier(r->g, &call) == -1);
	expect_broken(r, "all_gather");
	expect_broken(r, "all_reduce");
	check(mg_barrier(r->g, &call) == -1);
}

TEST(mg_all_reduce, names_both_where_ranks_call_different_things)
{
	run_ranks(3, unlike_calls);
}

static void call_with_root(struct rank *r, uint32_t root, const char *word)
{
	uint64_t v[4] = {0};
	struct mg_call call = next_call(r, MG_BROADCAST);
	int rc;

	call.root = root;
	rc = mg_broadcast(r->g, &call, v, sizeof(v));
	call = next_call(r, MG_BARRIER);
	check(rc == -1 || mg_barrier(r->g, &call) == -1);
	expect_broken(r, word);
}

static void unlike_roots(struct rank *r)
{
	call_with_root(r, r->rank == 1 ? 2 : 0, "root 2");
}

/* Neither receives anything: it is the next call that finds what the first one left. */
static void two_roots(struct rank *r)
{
	call_with_root(r, r->rank, "broadcast");
}

TEST(mg_broadcast, names_both_roots_where_ranks_have_two)
{
	run_ranks(3, unlike_roots);
	run_ranks(2, two_roots);
}

static void broken_alone(struct rank *r)
{
	struct mg_call call = next_call(r, MG_BARRIER);
	uint64_t word_of_it = 0;
	const size_t bytes = sizeof(word_of_it);
	void *in = &word_of_it;
	const void *out = &word_of_it;

	check(mg_barrier(r->g, &call) == 0);
	mg_break(r->g, "enough");
	expect_broken(r, "enough");
	check(mg_barrier(r->g, &call) == -1);
	check(mg_broadcast(r->g, &call, in, bytes) == -1);
	check(mg_all_reduce(r->g, &call, in, bytes, &mixing) == -1);
	check(mg_reduce(r->g, &call, in, bytes, &mixing) == -1);
	check(mg_reduce_scatter(r->g, &call, in, bytes, &mixing) == -1);
	check(mg_all_gather(r->g, &call, in, bytes) == -1);
	check(mg_all_to_all(r->g, &call, &(struct mg_parts){&out, &bytes, &in, &bytes}) == -1);
}

TEST(mg_break, ends_every_later_call_of_a_group_of_one)
{
	run_ranks(1, broken_alone);
}

/* Rank 1 writes where at rank 0 the requests of rank 2 go, which makes none: it ends its own QP. */
static void stray_write(struct rank *r)
{
	struct mg_call call = next_call(r, MG_BARRIER);

	if (r->rank == 1)
		mg_link_of(r->g, 0, CHANNEL_CALLS)->remote +=
			(CHANNELS + 1) * sizeof(struct mg_inbox);
	while (mg_barrier(r->g, &call) == 0)
		call = next_call(r, MG_BARRIER);
	check(mg_broken(r->g));
	if (r->rank == 0)
		check(mg_link_of(r->g, 2, CHANNEL_REQUESTS)->inbox->slots[0].header.magic == 0);
}

TEST(mg_connect, lets_a_rank_write_into_its_own_slots_alone)
{
	run_ranks(3, stray_write);
}

static void late_call(struct rank *r)
{
	struct mg_call call = next_call(r, MG_BARRIER);

	/* The others' word comes while rank 2 is elsewhere. */
	if (r->rank == 2)
		pthread_barrier_wait(&r->meeting->all);
	else
		call.deadline_ns = mg_now_ns() + UINT64_C(200000000);
	check(mg_barrier(r->g, &call) == -1);
	if (r->rank != 2)
		pthread_barrier_wait(&r->meeting->all);
	expect_broken(r, "barrier, call 1: not done in time; rank ");
}

TEST(mg_barrier, ends_at_the_deadline_and_tells_the_others)
{
	run_ranks(3, late_call);
}

static void dying_rank(struct rank *r)
{
	struct mg_call call = next_call(r, MG_ALL_REDUCE);
	uint64_t v[1000] = {0};

	check(mg_all_reduce(r->g, &call, v, sizeof(v), &mixing) == 0);
	if (r->rank == 1)
		_exit(0);
	call = next_call(r, MG_ALL_REDUCE);
	check(mg_all_reduce(r->g, &call, v, sizeof(v), &mixing) == -1);
	expect_broken(r, "rank 1 is gone: ");
}

TEST(mg_all_reduce, fails_on_all_ranks_when_one_is_gone)
{
	run_ranks(4, dying_rank);
}

TEST(mg_open, names_a_rank_out_of_range)
{
	struct mg_cfg cfg = {.rank = 3, .ranks = 3};
	char error[MG_TEXT_MAX];

	assert_null(mg_open(&cfg, error));
	assert_string_equal(error, "rank 3 of 3: want 1 to 128 ranks");
}

static void foreign_card(struct rank *r)
{
	uint8_t card[CARD_MAX];
	char error[MG_TEXT_MAX];

	memcpy(card, r->meeting->cards[1 - r->rank], sizeof(card));
	check(mg_connect(r->g, 1 - r->rank, card, mg_card_bytes(r->g) - 1, error) == -1);
	check(strstr(error, "bytes, want"));
	card[0] ^= 1;
	check(mg_connect(r->g, 1 - r->rank, card, mg_card_bytes(r->g), error) == -1);
}

TEST(mg_connect, refuses_a_card_that_is_none)
{
	run_ranks(2, foreign_card);
}

/* ---- messages ---- */

struct message {
	struct mg_request request;
	int done; /* 1: well, 2: not */
	char error[MG_TEXT_MAX];
};

static void message_done(struct mg_request *request, const char *error)
{
	struct message *m = (struct message *)(void *)request;

	check(!m->done);
	m->done = error ? 2 : 1;
	snprintf(m->error, sizeof(m->error), "%s", error ? error : "");
}

static void start_for(struct rank *r, struct message *m, enum mg_request_kind kind, uint32_t peer,
		      uint32_t tag, void *data, size_t bytes, uint64_t patience_ns)
{
	*m = (struct message){.request = {.kind = kind,
					  .peer = peer,
					  .tag = tag,
					  .data = data,
					  .bytes = bytes,
					  .deadline_ns = mg_now_ns() + patience_ns,
					  .done = message_done}};
	mg_request_start(r->g, &m->request);
}

static void start(struct rank *r, struct message *m, enum mg_request_kind kind, uint32_t peer,
		  uint32_t tag, void *data, size_t bytes)
{
	start_for(r, m, kind, peer, tag, data, bytes, PATIENCE_NS);
}

static void finish(struct rank *r, struct message *m)
{
	while (!m->done)
		mg_serve(r->g, -1);
}

static void finish_all(struct rank *r)
{
	while (mg_requests_pending(r->g))
		mg_serve(r->g, -1);
}

#define BIG (3u << 20)

/* Everybody sends two big messages to everybody, and takes them by tag in the other order. */
static void crossing(struct rank *r)
{
	static uint8_t in[RANKS_MAX][2][BIG];
	static uint64_t out[BIG / 8], want[BIG / 8];
	static struct message sends[RANKS_MAX][2], receives[RANKS_MAX][2];

	fill(r->rank, out, BIG / 8);
	for (uint32_t p = 0; p < r->ranks; p++)
		for (uint32_t tag = 0; tag < 2 && p != r->rank; tag++)
			start(r, &sends[p][tag], MG_SEND, p, tag, out, BIG - tag);
	for (int tag = 1; tag >= 0; tag--) {
		for (uint32_t p = 0; p < r->ranks; p++)
			if (p != r->rank)
				start(r, &receives[p][tag], MG_RECEIVE, p, (uint32_t)tag,
				      in[p][tag], BIG - (uint32_t)tag);
		for (uint32_t p = 0; p < r->ranks; p++)
			if (p != r->rank)
				finish(r, &receives[p][tag]);
	}
	finish_all(r);
	for (uint32_t p = 0; p < r->ranks; p++) {
		fill(p, want, BIG / 8);
		for (uint32_t tag = 0; tag < 2 && p != r->rank; tag++) {
			check(sends[p][tag].done == 1 && receives[p][tag].done == 1);
			check(memcmp(in[p][tag], want, BIG - tag) == 0);
		}
	}
}

TEST(mg_request_start, sends_both_ways_and_takes_tags_in_any_order)
{
	run_ranks(3, crossing);
}

/* Rank 0 takes what comes from any rank, twice from each, one of no bytes. */
static void any_rank(struct rank *r)
{
	uint32_t value = r->rank, from[RANKS_MAX] = {0};
	struct message m, empty;

	if (r->rank) {
		start(r, &m, MG_SEND, 0, 9, &value, sizeof(value));
		start(r, &empty, MG_SEND, 0, 10, NULL, 0);
		finish(r, &empty);
		finish(r, &m);
		check(m.done == 1 && empty.done == 1);
		return;
	}
	for (uint32_t i = 0; i < 2 * (r->ranks - 1); i++) {
		uint32_t tag = 9 + i % 2;

		start(r, &m, MG_RECEIVE, MG_ANY, tag, &value, tag == 9 ? sizeof(value) : 0);
		finish(r, &m);
		check(m.done == 1 && (tag != 9 || value == m.request.peer));
		from[m.request.peer]++;
	}
	for (uint32_t p = 1; p < r->ranks; p++)
		check(from[p] == 2);
}

TEST(mg_request_start, receives_from_any_rank)
{
	run_ranks(4, any_rank);
}

/* What is wrong with one message is told at both ends, and the next goes well. */
static void wrong_ones(struct rank *r)
{
	uint32_t peer = 1 - r->rank;
	uint8_t data[300] = {0};
	struct message m;

	start(r, &m, r->rank ? MG_SEND : MG_RECEIVE, peer, 3, data, r->rank ? 200 : 100);
	finish(r, &m);
	check(m.done == 2 && strstr(m.error, "200") && strstr(m.error, "100"));
	start(r, &m, MG_SEND, r->rank, 3, data, 1);
	check(m.done == 2 && strstr(m.error, "itself"));
	start(r, &m, MG_RECEIVE, 2, 3, data, 1);
	check(m.done == 2 && strstr(m.error, "no such rank"));
	start(r, &m, r->rank ? MG_SEND : MG_RECEIVE, peer, 5, data, sizeof(data));
	finish(r, &m);
	check(m.done == 1);
}

TEST(mg_request_start, fails_alone_and_says_why)
{
	run_ranks(2, wrong_ones);
}

/* Rank 1 has given its only send up, and is about to wait in a call, when rank 0 receives. */
static void send_given_up(struct rank *r)
{
	struct mg_call call = next_call(r, MG_BARRIER);
	uint8_t data[8] = {0};
	struct message m;

	if (r->rank) {
		start_for(r, &m, MG_SEND, 0, 0, data, sizeof(data), UINT64_C(100000000));
		finish(r, &m);
		pthread_barrier_wait(&r->meeting->all);
	} else {
		pthread_barrier_wait(&r->meeting->all);
		usleep(100000);
		start(r, &m, MG_RECEIVE, 1, 0, data, sizeof(data));
		finish(r, &m);
	}
	check(m.done == 2);
	check(strstr(m.error, r->rank ? "tag 0: not done in time" : "gave its send up"));
	check(mg_barrier(r->g, &call) == 0);
}

TEST(mg_request_start, refuses_a_receive_whose_send_was_given_up)
{
	run_ranks(2, send_given_up);
}

/* A message goes on while this rank waits in a call that the other comes to only after it. */
static void message_beside_call(struct rank *r)
{
	struct mg_call call = next_call(r, MG_BARRIER);
	static uint8_t data[BIG];
	struct message m;

	start(r, &m, r->rank ? MG_RECEIVE : MG_SEND, 1 - r->rank, 0, data, BIG);
	if (r->rank)
		finish(r, &m);
	check(mg_barrier(r->g, &call) == 0);
	finish(r, &m);
	check(m.done == 1);
}

TEST(mg_request_start, goes_on_while_a_call_waits)
{
	run_ranks(2, message_beside_call);
}

static void dead_peer(struct rank *r)
{
	uint8_t data[8];
	struct message from, any;

	if (r->rank == 1)
		_exit(0);
	start(r, &from, MG_RECEIVE, 1, 0, data, sizeof(data));
	start(r, &any, MG_RECEIVE, MG_ANY, 0, data, sizeof(data));
	finish_all(r);
	check(from.done == 2 && strstr(from.error, "rank 1 is gone"));
	check(any.done == 2);
}

TEST(mg_request_start, fails_when_its_peer_is_gone)
{
	run_ranks(2, dead_peer);
}
