/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_node.h - what mrcd keeps: the device's state, why EVs are denied, and counts; and requests
 * about it. One thread.
 */
#ifndef SOFTMRC_MRCD_MD_NODE_H
#define SOFTMRC_MRCD_MD_NODE_H

#include "map/map_policy.h"
#include "mrcd/md_config.h"
#include "stats/stats_reader.h"
#include "store/store.h"

/* A request is one line of JSON, shorter than this. */
#define MD_REQUEST_MAX 65536u

/* Who asks. */
struct md_peer {
	uint32_t uid, pid;
	uint64_t started;   /* that process, in ticks: its number may come to be another one's */
	bool is_privileged; /* by itself: root or CAP_NET_ADMIN */
	bool follows;	    /* events, from now on */
	int passed_fd;	    /* that came with the request; -1: none did */
};

/*
 * md_peer_find asks the kernel who connected. Privileged is root, and who has CAP_NET_ADMIN in the
 * user namespace of this process, and not by his program's file. 0, or an errno value.
 */
int md_peer_find(int fd, struct md_peer *peer);
/* md_peer_caps_allow says whether the text of /proc/PID/status has CAP_NET_ADMIN effective, and is
 * of that user. */
bool md_peer_caps_allow(const char *status, uint32_t uid);
/*
 * md_peer_lives says whether the process that connected is still there: it may have left its
 * connection to a child, and its number to another process.
 */
bool md_peer_lives(const struct md_peer *peer);

struct md_counts {
	uint64_t requests, refused; /* lines of clients; those with an error for an answer */
	uint64_t changes;	    /* commits */
	uint64_t reloads, reloads_refused;
	uint64_t events, events_dropped; /* sent to those who follow; too many for them */
	uint32_t clients;
	/* Of map.policy: parts that it denied and gave back; parts by their state. */
	uint64_t map_denials, map_returns;
	uint32_t map_parts[MM_POLICY_STATES];
};

/*
 * Who may deny more in *next, and note it in next_notes, before that is stored, and is then told
 * whether it was; all NULL: nobody.
 */
struct md_amender {
	void (*amend)(void *ctx);
	void (*amended)(void *ctx, bool stored);
	void *ctx;
};

struct md_node {
	const char *config_path;
	struct md_config config;
	struct mn_state *now, *next; /* in force; being made */
	uint64_t generation;
	json_t *notes, *next_notes; /* of denied EVs, by md_note_key; in force; being made */
	struct md_counts counts;
	/*
	 * Stores *next and next_notes, both or neither: 0, or an errno value and the error. It
	 * counts the generation.
	 */
	int (*commit)(struct md_node *node, struct store_error *error);
	struct store_writer writer; /* what md_node_commit writes to */
	struct stats_reader *stats; /* of the processes of the host; NULL: none are known */
	struct md_amender amender;
};

/*
 * md_node_create takes over a configuration and gives the node a state in which nothing is decided.
 * 0, or ENOMEM, with nothing kept.
 */
int md_node_create(struct md_node *node, const char *config_path, const struct md_config *config);
void md_node_destroy(struct md_node *node);

/*
 * md_node_open becomes the writer of the store and takes up what it has, or, if there is none yet,
 * makes it what the configuration says. Errors of store_writer_open and md_config_apply, and the
 * error in words.
 */
int md_node_open(struct md_node *node, struct md_config_error *error);
/* md_node_reload reads the configuration anew; after an error all is as it was. */
int md_node_reload(struct md_node *node, struct md_config_error *error);
/*
 * md_node_put puts *next in force, with notes that it takes over. After an error, in words, nothing
 * has changed.
 */
int md_node_put(struct md_node *node, json_t *notes, struct store_error *error);
/* md_node_lets says whether somebody may change anything, by the file as it was read last. */
static inline bool md_node_lets(const struct md_node *node, const struct md_peer *peer)
{
	return peer->is_privileged || node->config.lab;
}

/*
 * md_request answers one line, which may be any bytes: a new object, with "ok" true, or false with
 * "errno" and "error". *said is a new object for those who follow events, or NULL.
 */
json_t *md_request(struct md_node *node, struct md_peer *peer, const char *line, size_t len,
		   json_t **said);
/*
 * md_offer takes a state that a process made from the one in force: the descriptor has it, and
 * args.generation says which one that was. *changed is a new object that names what is another in
 * it. EAGAIN: another state is in force by now; the process is to make its change of that.
 */
int md_offer(struct md_node *node, const struct md_peer *peer, const json_t *args,
	     const struct mn_device *d, json_t **changed, struct md_error *e);
/*
 * md_said returns a new event: `uid` has had `verb` done with these members, or none for NULL.
 */
json_t *md_said(const struct md_node *node, const char *verb, uint32_t uid, json_t *args);

/* ---- who uses a profile: md_users.c ---- */

struct md_user {
	enum md_row_kind kind; /* MD_ROW_EV or MD_ROW_CC */
	uint32_t profile;
	struct stats_owner who;
};

/*
 * md_users_check refuses *next where it takes a profile offline that QPs of a process use, as far
 * as its statistics can be read; `but` is a process that knows its own better, or NULL. 0, or
 * EBUSY, *user and the error in words.
 */
int md_users_check(struct md_node *node, const struct stats_owner *but, struct md_user *user,
		   struct md_error *e);

/* ---- notes: md_notes.c ---- */

/*
 * md_notes_load reads from DIR/DEVICE.notes those that belong to a generation of the store, or to
 * one before it, if others have written the store since; an empty object if there are none.
 */
json_t *md_notes_load(const char *dir, const char *device, uint64_t generation);
/*
 * md_notes_save replaces the file, whole or not at all, with the notes of a generation that is to
 * be stored and those of the one before, which count until it is. 0, or an errno value.
 */
int md_notes_save(const char *dir, const char *device, uint64_t generation, json_t *notes,
		  json_t *before);
/*
 * md_notes_update returns a new object: the notes of EVs that are denied in *s, and new ones of
 * those that `args`, a request of ev.deny unless it is NULL, has denied: its `reason` and `part`
 * (md_policy.h).
 */
json_t *md_notes_update(const json_t *notes, const struct mn_state *s, const json_t *args,
			int64_t now_s);

/* ---- for Prometheus: md_metrics.c ---- */

/* What another thread shows: copied under a lock. */
struct md_metrics {
	struct md_counts counts;
	uint64_t generation;
	uint32_t n_ports;
	uint8_t admin[MN_PORTS_MAX];
	uint32_t denied[MN_EV_PROFILES];
	uint8_t online[MN_EV_PROFILES];
};

void md_metrics_read(const struct md_node *node, struct md_metrics *m);

#endif
