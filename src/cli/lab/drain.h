/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain.h - parts of a lab taken out of use under running jobs, and given back: which EVs have to
 * be denied, in which host's store, until nothing crosses the part, and whose denials these are.
 *
 * A denial is of a host and an EV, for all destinations. So an EV is denied by every host that may
 * send by it over the part: of a cable between a T0 and a T1 or of a T1 that is one EV in three
 * tiers of numbers, of a T0, a host or a plane all EVs of the plane.
 */
#ifndef SOFTMRC_CLI_LAB_DRAIN_H
#define SOFTMRC_CLI_LAB_DRAIN_H

#include "fabric/ev_links.h"
#include "lab/lab.h"
#include "node/node_state.h"
#include "stats/stats_reader.h"

#include <jansson.h>

/* Parts that are drained at the same time. */
#define DRAIN_PARTS_MAX 64u

/* ---- sets of EVs: drain_plan.c; pure ---- */

/* One byte for each host and EV: set[host * evs + n], n as in mf_ev_nth. */
struct drain_set {
	uint32_t hosts, evs;
	uint8_t *set; /* owned by the caller */
};

/* drain_set_of returns the EVs of a host. */
static inline uint8_t *drain_set_of(const struct drain_set *set, uint32_t host)
{
	return &set->set[(size_t)host * set->evs];
}

/* drain_set_part adds the EVs by which each host may send over a part. */
void drain_set_part(const struct mf_topology *t, const struct mf_target *part,
		    struct drain_set *set);

/* drain_same_part says whether two names mean the same part, a cable from either end. */
bool drain_same_part(const struct mf_topology *t, const struct mf_target *a,
		     const struct mf_target *b);

/*
 * drain_set_ends finds a source and a destination between which no EV is left when `after` is
 * denied, where one was left with `before`; broken[link] is true for cables that carry nothing now.
 * False: there is no such pair.
 */
bool drain_set_ends(const struct mf_topology *t, const struct drain_set *before,
		    const struct drain_set *after, const bool *broken, uint32_t *src,
		    uint32_t *dst);

/* ---- what is drained: drain_book.c ---- */

/*
 * The file LAB/drain.json, which goes with the lab: the parts, and which denials were made for
 * them, so that those of others stay. Whoever changes it holds its lock.
 *
 * It is written before the first store is, with the part as unfinished and all denials that are to
 * be made, and again when they are: whatever ends a drain in the middle, what it did is in the book
 * and can be taken back, or the drain gone on with. Likewise when a part is given back.
 */
struct drain_book {
	struct ml_lab *lab;
	const struct mf_topology *t;
	uint32_t evs;
	int lock;
	char name[DRAIN_PARTS_MAX][MF_LINK_NAME_BYTES];
	struct mf_target part[DRAIN_PARTS_MAX];
	bool unfinished[DRAIN_PARTS_MAX]; /* some hosts may deny its EVs, others not */
	size_t parts;
	uint8_t *ours; /* [(host * MN_EV_PROFILES + profile) * evs + n]; owned */
};

/* drain_book_open waits for the lock and reads what is drained. 0, or -1 with a sentence; then
 * there is nothing to close. */
int drain_book_open(struct drain_book *b, struct ml_lab *lab, struct ml_error *e);
/* drain_book_save replaces the file, whole or not at all. 0, or -1. */
int drain_book_save(const struct drain_book *b, struct ml_error *e);
void drain_book_close(struct drain_book *b);

/* drain_book_find returns the place of a part, or b->parts. */
size_t drain_book_find(const struct drain_book *b, const struct mf_target *part);
/* drain_book_add puts a part, for which there is room, behind the others, as unfinished. */
void drain_book_add(struct drain_book *b, const char *name, const struct mf_target *part);
/* drain_book_forget takes the part at a place out. */
void drain_book_forget(struct drain_book *b, size_t at);
/* drain_book_parts returns a new list of the names of parts that are unfinished, or are not. */
json_t *drain_book_parts(const struct drain_book *b, bool unfinished);
/* drain_book_names writes all names, with commas, into out[size]; returns out. */
char *drain_book_names(const struct drain_book *b, char *out, size_t size);

/* drain_book_ours returns the marks of a host and a profile: evs of them. */
uint8_t *drain_book_ours(const struct drain_book *b, uint32_t host, uint32_t profile);

/* ---- the stores of hosts: drain_host.c ---- */

/*
 * drain_host_read adds to denied[0 .. evs - 1] which EVs of a host's own profile are denied now, by
 * whomever. 0, or -1 with a sentence: the store cannot be read.
 */
int drain_host_read(const struct drain_book *b, uint32_t host, uint8_t *denied, struct ml_error *e);

/*
 * drain_host_intend marks in drain_book_ours what drain_host_apply with this `deny` would deny now.
 * 0, or -1 with a sentence: the store cannot be read.
 */
int drain_host_intend(struct drain_book *b, uint32_t host, const uint8_t *deny, struct ml_error *e);

/* What is to become of a host's store. */
struct drain_change {
	const uint8_t *deny; /* evs: in all profiles, where they are not denied yet; or NULL */
	/* As drain_book_ours, of this host, MN_EV_PROFILES of them: to be allowed; or NULL. */
	const uint8_t *allow;
	const char *reason; /* for mrcd's notes */
};

/*
 * drain_host_apply makes it so and keeps drain_book_ours up to date: through the mrcd of that host
 * if there is one, else in the store itself. *generation is that of the state that holds it. 0, or
 * -1 with a sentence: nothing is done, or through an mrcd, which is asked profile by profile, a
 * part, and drain_book_ours has its denials, which the caller takes back; those as well that an
 * mrcd may make yet which did not answer in time.
 */
int drain_host_apply(struct drain_book *b, uint32_t host, const struct drain_change *c,
		     uint64_t *generation, struct ml_error *e);

/* ---- until nothing is in flight: drain_watch.c ---- */

/* What still has to happen. */
struct drain_seen {
	uint32_t processes, behind; /* of the lab; that do not follow their host's store yet */
	uint32_t behind_pid, behind_host;
	char behind_command[32];
	uint64_t packets;  /* on the part since the last look */
	uint32_t busiest;  /* link with most of them */
	uint64_t quiet_ns; /* since when there were none */
};

struct drain_watch;

/*
 * drain_watch_open begins to look at a part; drain_watch_look goes by the generations that hosts'
 * stores have then (of 0: not looked at). NULL and a sentence: no memory, the lab is gone, or the
 * statistics of processes cannot be read.
 */
struct drain_watch *drain_watch_open(struct ml_lab *lab, const struct mf_target *part,
				     const uint64_t *generation, struct ml_error *e);
void drain_watch_close(struct drain_watch *w);
/* drain_watch_look says what is seen now. 0, or -1 with a sentence: the lab is gone. */
int drain_watch_look(struct drain_watch *w, uint64_t now_ns, struct drain_seen *seen,
		     struct ml_error *e);

/* ---- whole operations: drain_run.c ---- */

struct drain_result {
	uint32_t hosts, denials; /* that were made, or taken back; denials of all hosts together */
	bool safe;
	uint64_t took_ns;
	struct drain_seen seen; /* at the end */
};

/* Called at each look; not 0 ends the waiting. */
typedef int (*drain_tell_fn)(void *context, const struct drain_seen *seen);

struct drain_wait {
	uint64_t timeout_ns;
	drain_tell_fn tell; /* or NULL */
	void *context;
};

/*
 * drain_part drains a part, or goes on with a drain that was ended in the middle, and waits until
 * it is safe to take it away. 0: result says whether it is safe, or the time was over before, in
 * which case the part stays drained. -1 with a sentence, and nothing has changed: two hosts would
 * be left without an EV, the part is drained already, a store cannot be written, an mrcd does not
 * answer, statistics cannot be read; or meanwhile the lab went down, or somebody gave the part
 * back. If what was done cannot be taken back, the part is unfinished, and the sentence says so.
 */
int drain_part(struct ml_lab *lab, const char *name, const struct drain_wait *wait,
	       struct drain_result *result, struct ml_error *e);

/* drain_check says whether a part might be drained: 0, or -1 with the sentence of drain_part. */
int drain_check(struct ml_lab *lab, const char *name, struct ml_error *e);

/*
 * undrain_part allows again what was denied for a part and for no other one; NULL: for all parts.
 * -1 with a sentence: it is not drained; it is broken by a fault of the lab or off, and not
 * `anyway`; a store cannot be written, in which case the part is unfinished.
 */
int undrain_part(struct ml_lab *lab, const char *name, bool anyway, struct drain_result *result,
		 struct ml_error *e);

#endif
