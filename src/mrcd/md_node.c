/* SPDX-License-Identifier: BSD-2-Clause */
/* md_node.c - the state that mrcd answers for, from its store and its file: see md_node.h. */
#include "mrcd/md_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mrcd/md_log.h"

#define BY "mrcd " SOFTMRC_VERSION
/* A second in all: whoever holds the store for longer is another mrcd. */
#define WRITER_TRIES 100
#define WRITER_AGAIN_NS 10000000L

int md_node_create(struct md_node *node, const char *config_path, const struct md_config *config)
{
	*node = (struct md_node){.config_path = config_path, .writer = {.dir = -1, .lock = -1}};
	node->now = malloc(sizeof(*node->now));
	node->next = malloc(sizeof(*node->next));
	node->notes = json_object();
	node->next_notes = json_object();
	if (!node->now || !node->next || !node->notes || !node->next_notes) {
		md_node_destroy(node);
		return ENOMEM;
	}
	node->config = *config;
	mn_state_init(node->now);
	mn_state_init(node->next);
	return 0;
}

void md_node_destroy(struct md_node *node)
{
	if (node->writer.lock >= 0)
		store_writer_close(&node->writer);
	free(node->now);
	free(node->next);
	json_decref(node->notes);
	json_decref(node->next_notes);
	md_config_free(&node->config);
	node->now = node->next = NULL;
	node->notes = node->next_notes = NULL;
}

/* The store's rename decides for both: notes say to which generation they belong. */
static int commit(struct md_node *node, struct store_error *error)
{
	const struct md_config *c = &node->config;
	int err = md_notes_save(c->dir, c->device, node->generation + 1, node->next_notes,
				node->notes);

	if (err) {
		snprintf(error->text, sizeof(error->text), "%.200s/%s.notes: %s", c->dir, c->device,
			 strerror(err));
		return err;
	}
	err = store_writer_commit(&node->writer, node->next, error);
	node->generation = node->writer.info.generation;
	return err;
}

int md_node_put(struct md_node *node, json_t *notes, struct store_error *error)
{
	int err;

	json_decref(node->next_notes);
	node->next_notes = notes;
	if (node->amender.amend)
		node->amender.amend(node->amender.ctx);
	err = node->commit(node, error);
	if (node->amender.amended)
		node->amender.amended(node->amender.ctx, !err);
	if (err)
		return err;
	mn_state_copy(node->now, node->next);
	json_decref(node->notes);
	node->notes = json_incref(node->next_notes);
	return 0;
}

static int put_in_force(struct md_node *node, struct md_config_error *error)
{
	struct store_error failed = {0};
	int err;

	/* A state that is what it was is not written again, unless there is none yet. */
	if (node->generation && mn_state_bytes(node->now) == mn_state_bytes(node->next) &&
	    memcmp(node->now, node->next, mn_state_bytes(node->now)) == 0)
		return 0;
	err = md_node_put(node, md_notes_update(node->notes, node->next, NULL, 0), &failed);
	if (err)
		snprintf(error->text, sizeof(error->text), "%s", failed.text);
	return err;
}

static int apply_file(struct md_node *node, const struct md_config *c,
		      struct md_config_error *error)
{
	struct mn_device d;
	struct md_error e = {0};
	struct md_user user;
	int err;

	md_config_device(c, geteuid(), &d);
	mn_state_copy(node->next, node->now);
	err = md_config_apply(c, node->config_path, &d, node->next, error);
	if (err)
		return err;
	if (md_users_check(node, NULL, &user, &e))
		return md_config_row_wrong(c, node->config_path, user.kind, user.profile, &e,
					   error);
	return put_in_force(node, error);
}

/* Without mrcd a process writes the store itself, which it does for a moment. */
static int become_writer(struct md_node *node, struct store_error *lost, struct store_error *failed)
{
	const struct md_config *c = &node->config;
	const struct timespec again = {0, WRITER_AGAIN_NS};
	int err = EBUSY;

	for (int i = 0; i < WRITER_TRIES && err == EBUSY; i++) {
		if (i > 0)
			nanosleep(&again, NULL);
		err = store_writer_open(&node->writer, c->dir, c->device, BY, node->now, lost,
					failed);
	}
	return err;
}

int md_node_open(struct md_node *node, struct md_config_error *error)
{
	struct store_error lost = {0}, failed = {0};
	const struct md_config *c = &node->config;
	int err = become_writer(node, &lost, &failed);
	json_t *notes;

	if (err) {
		node->writer.lock = -1;
		return md_config_wrong(c, node->config_path, "node.dir", err, error, "%s",
				       failed.text);
	}
	if (lost.text[0])
		md_log(MD_ERROR, "store-lost", MD_NOBODY, "%s; what was decided is lost",
		       lost.text);
	node->commit = commit;
	node->generation = node->writer.info.generation;
	json_decref(node->notes);
	notes = md_notes_load(c->dir, c->device, node->generation);
	node->notes = md_notes_update(notes, node->now, NULL, 0);
	json_decref(notes);
	/* What clients decided counts until the file is to be read again. */
	return node->generation ? 0 : apply_file(node, &node->config, error);
}

static bool is_same_map(const struct md_config_map *a, const struct md_config_map *b)
{
	if (strcmp(a->fabric, b->fabric) != 0 || a->host != b->host || a->share != b->share ||
	    a->port != b->port || a->rate_bit_s != b->rate_bit_s ||
	    a->interfaces != b->interfaces || a->policy != b->policy ||
	    a->deny_after_ns != b->deny_after_ns || a->return_after_ns != b->return_after_ns ||
	    a->deny_share != b->deny_share)
		return false;
	for (uint32_t i = 0; i < a->interfaces; i++)
		if (strcmp(a->interface[i], b->interface[i]) != 0)
			return false;
	return true;
}

/* What a running daemon does not change. */
static int check_fixed(const struct md_node *node, const struct md_config *c,
		       struct md_config_error *error)
{
	const struct md_config *was = &node->config;
	const char *key = NULL;

	if (strcmp(was->dir, c->dir) != 0)
		key = "node.dir";
	else if (strcmp(was->device, c->device) != 0)
		key = "node.device";
	else if (was->ports != c->ports)
		key = "device.ports";
	else if (was->formats != c->formats)
		key = "device.ev_format";
	else if (was->evs != c->evs)
		key = "device.evs";
	else if (strcmp(was->listen, c->listen) != 0 || was->processes != c->processes)
		key = "metrics.listen or metrics.processes";
	else if (strcmp(was->group, c->group) != 0)
		key = "access.group";
	else if (!is_same_map(&was->map, &c->map))
		key = "map";
	if (!key)
		return 0;
	snprintf(error->text, sizeof(error->text),
		 "%.199s: %s is another one; that takes a restart of mrcd, which stops no traffic",
		 node->config_path, key);
	return EBUSY;
}

int md_node_reload(struct md_node *node, struct md_config_error *error)
{
	struct md_config c;
	int err = md_config_load(&c, node->config_path, error);

	node->counts.reloads++;
	if (!err) {
		err = check_fixed(node, &c, error);
		if (!err)
			err = apply_file(node, &c, error);
		if (err) {
			md_config_free(&c);
		} else {
			md_config_free(&node->config);
			node->config = c;
			md_log_open((enum md_level)c.level);
		}
	}
	node->counts.reloads_refused += err != 0;
	return err;
}
