/* SPDX-License-Identifier: BSD-2-Clause */
/* Labs: built, opened, taken down: see lab.h. */
#include "lab/lab.h"
#include "lab/lab_state.h"
#include "lab/scenario.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- down ---- */

static void count_name(void *context, const char *name)
{
	(void)name;
	++*(size_t *)context;
}

/* Everything of a name; the lock is held. */
static int clear_leftovers(const char *name, struct ml_down *down, struct ml_error *e)
{
	char prefix[ML_PREFIX_MAX];

	snprintf(prefix, sizeof(prefix), "mrc-%.*s-", (int)ML_LAB_NAME_MAX, name);
	*down = (struct ml_down){0};
	ml_netns_list(prefix, count_name, &down->namespaces);
	if (ml_netns_clear(prefix, &down->processes, e))
		return -1;
	ml_state_remove(name);
	return 0;
}

int ml_lab_down(const char *name, struct ml_down *down, struct ml_error *e)
{
	int lock, failed;

	if (ml_state_name(name, e))
		return -1;
	lock = ml_state_lock(e);
	if (lock < 0)
		return -1;
	failed = clear_leftovers(name, down, e);
	close(lock);
	return failed;
}

int ml_down_if_same(const char *name, uint64_t id, struct ml_error *e)
{
	int lock = ml_state_lock(e), failed = 0;
	struct ml_lab *now;
	struct ml_down down;
	bool missing;

	if (lock < 0)
		return -1;
	/* Without a file there is no lab of this name, but for what is left of ours. */
	now = ml_state_read(name, &missing, e);
	if (missing || (now && now->id == id))
		failed = clear_leftovers(name, &down, e);
	ml_state_destroy(now);
	close(lock);
	return failed;
}

/* ---- up ---- */

/* What this kernel lacks that a lab can do without. */
static int record_features(struct ml_lab *lab, const struct ml_options *o, const struct ml_probe *p,
			   struct ml_error *e)
{
	snprintf(lab->sid_device, sizeof(lab->sid_device), "%s", p->sid_device);
	lab->pace_bps = o->pace_bps == ML_PACE_OF_TOPOLOGY ? lab->t.cfg.links[MF_HOST_T0].bit_s / 2
							   : o->pace_bps;
	if (lab->pace_bps && (lab->pace_bps < ML_PACE_MIN_BPS || lab->pace_bps > ML_PACE_MAX_BPS))
		return ml_error_set(e, "pace %llu bit/s: must be 0 or 100k to 100G",
				    (unsigned long long)lab->pace_bps);
	lab->owner = o->goes_with_process ? getpid() : 0;
	lab->owner_since = lab->owner ? ml_process_since(lab->owner) : 0;
	if (o->mtu && (o->mtu < MF_MTU_MIN || o->mtu > MF_MTU_MAX))
		return ml_error_set(e, "MTU %u: must be %u to %u bytes", o->mtu, MF_MTU_MIN,
				    MF_MTU_MAX);
	if (o->mtu)
		lab->t.cfg.mtu = o->mtu;
	if (lab->pace_bps && !p->ok[ML_FEATURE_HTB])
		return ml_error_set(e, "shaping: %.300s; a pace of 0 goes without it",
				    p->why[ML_FEATURE_HTB].text);
	if (o->no_programs)
		snprintf(lab->no_program, sizeof(lab->no_program), "as was asked");
	else if (!p->ok[ML_FEATURE_BPF])
		snprintf(lab->no_program, sizeof(lab->no_program), "%.200s",
			 p->why[ML_FEATURE_BPF].text);
	else
		ml_program_load(lab);
	return 0;
}

static int build_lab(struct ml_lab *lab, const struct ml_options *o, struct ml_error *e)
{
	struct ml_work todo;
	int failed;

	if (ml_work_init(&todo, lab, e))
		return -1;
	todo.progress = o->progress;
	todo.context = o->context;
	memset(todo.port, ML_DO_BUILD, lab->t.n_links);
	for (uint32_t node = 0; node < lab->t.n_nodes; node++)
		todo.node[node] = true;
	failed = ml_apply(lab, &todo, e);
	ml_work_fini(&todo);
	return failed;
}

/* Whether a lab of this name is up and its owner, if it has one, lives. */
static bool lab_exists(const char *name, struct ml_error *e)
{
	bool missing;
	struct ml_lab *lab = ml_state_read(name, &missing, e);
	/* Its builder would hold the lock. An owner that died may have taken its watchdog along. */
	bool orphan = lab && lab->owner && ml_process_since(lab->owner) != lab->owner_since;
	bool yes = lab && !lab->building && !orphan;

	ml_state_destroy(lab);
	if (yes)
		ml_error_set(e, "lab %s is up already; mrc lab down %s removes it", name, name);
	return yes;
}

/* Without randomness, early at boot, the clock tells labs of one name apart as well. */
static uint64_t draw_id(void)
{
	uint64_t id;

	return getrandom(&id, sizeof(id), GRND_NONBLOCK) == sizeof(id) ? id : ml_clock_ns();
}

static struct ml_lab *raise_lab(const char *name, const struct ml_options *o, struct ml_error *e)
{
	struct ml_lab *lab = NULL;
	struct ml_probe probe;
	struct ml_down down;
	struct ml_error ignored;
	int watchdog = -1;
	bool failed;

	if (lab_exists(name, e))
		return NULL;
	ml_probe_run(&probe);
	if (ml_probe_check(&probe, e) || clear_leftovers(name, &down, e))
		return NULL;
	lab = ml_state_create(name, o->topology ? o->topology : "lab", NULL, e);
	if (!lab)
		return NULL;
	lab->building = true;
	lab->id = draw_id();
	failed = record_features(lab, o, &probe, e) || ml_state_write(lab, e) ||
		 (watchdog = ml_watchdog_start(lab, e)) < 0 || build_lab(lab, o, e);
	lab->building = false;
	if (!failed && ml_state_write(lab, e) == 0) {
		lab->watchdog = watchdog;
		return lab;
	}
	clear_leftovers(name, &down, &ignored);
	ml_watchdog_stop(watchdog);
	ml_state_destroy(lab);
	return NULL;
}

struct ml_lab *ml_lab_up(const struct ml_options *options, struct ml_error *e)
{
	const char *name = options->name ? options->name : "lab";
	struct ml_lab *lab;
	int lock;

	if (ml_state_name(name, e))
		return NULL;
	lock = ml_state_lock(e);
	if (lock < 0)
		return NULL;
	lab = raise_lab(name, options, e);
	close(lock);
	if (lab && !lab->owner) {
		ml_watchdog_stop(lab->watchdog);
		lab->watchdog = -1;
	}
	return lab;
}

struct ml_lab *ml_lab_open(const char *name, struct ml_error *e)
{
	struct ml_lab *lab;
	bool missing;

	if (ml_state_name(name, e))
		return NULL;
	lab = ml_state_read(name, &missing, e);
	if (missing)
		ml_error_set(e, "lab %s is not up; mrc lab status lists those that are", name);
	if (lab && lab->building) {
		ml_error_set(e, "lab %s is only half built; mrc lab down %s removes it", name,
			     name);
		ml_state_destroy(lab);
		return NULL;
	}
	if (lab && ml_program_open(lab, e)) {
		ml_state_destroy(lab);
		return NULL;
	}
	return lab;
}

void ml_lab_close(struct ml_lab *lab)
{
	struct ml_error e;

	if (!lab)
		return;
	if (lab->watchdog >= 0 && lab->owner == getpid() &&
	    ml_down_if_same(lab->name, lab->id, &e) == 0)
		ml_watchdog_stop(lab->watchdog);
	else if (lab->watchdog >= 0)
		close(lab->watchdog); /* the watchdog tries again */
	ml_state_destroy(lab);
}

/* ---- what there is ---- */

struct listing {
	void (*fn)(void *context, const char *name);
	void *context;
};

/* What has a name that no lab can have is not ours. */
static void list_name(const struct listing *listing, const char *from, size_t len)
{
	char name[ML_LAB_NAME_MAX];
	struct ml_error e;

	if (len >= sizeof(name))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)len, from);
	if (ml_state_name(name, &e) == 0)
		listing->fn(listing->context, name);
}

static void list_namespace(void *context, const char *name)
{
	const char *from = name + strlen("mrc-");

	list_name(context, from, strcspn(from, "-"));
}

void ml_lab_list(void (*fn)(void *context, const char *name), void *context)
{
	struct listing listing = {fn, context};
	DIR *dir = opendir(ML_STATE_DIR);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t len = strcspn(entry->d_name, ".");

		if (strcmp(entry->d_name + len, ".json") == 0)
			list_name(&listing, entry->d_name, len);
	}
	if (dir)
		closedir(dir);
	ml_netns_list("mrc-", list_namespace, &listing);
}

const char *ml_lab_name(const struct ml_lab *lab)
{
	return lab->name;
}

const char *ml_lab_topology_name(const struct ml_lab *lab)
{
	return lab->topology_what;
}

const struct mf_topology *ml_lab_topology(const struct ml_lab *lab)
{
	return &lab->t;
}

uint64_t ml_lab_rate_scale(const struct ml_lab *lab)
{
	return lab->pace_bps;
}

uint64_t ml_lab_rate(const struct ml_lab *lab, uint32_t link)
{
	uint64_t slow = lab->port[link].faults.slow_bits, rate = ml_link_rate(lab, link);

	return slow ? slow : rate;
}

bool ml_lab_programs(const struct ml_lab *lab, const char **why)
{
	*why = lab->no_program;
	return lab->program != 0;
}

int ml_lab_netns(const struct ml_lab *lab, uint32_t node, struct ml_error *e)
{
	char name[ML_NETNS_MAX];

	return ml_netns_open(ml_lab_namespace(lab, node, name), e);
}

bool ml_lab_switch_is_off(const struct ml_lab *lab, uint32_t node)
{
	return lab->off[node];
}
