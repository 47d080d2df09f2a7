/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_serve.h - mrcd's two doors: the socket, on which clients ask and follow events, and the port
 * that Prometheus scrapes, which a thread of its own answers.
 */
#ifndef SOFTMRC_MRCD_MD_SERVE_H
#define SOFTMRC_MRCD_MD_SERVE_H

#include <poll.h>
#include <pthread.h>

#include "exporter/exporter.h"
#include "mrcd/md_hints.h"
#include "mrcd/md_map.h"
#include "mrcd/md_node.h"
#include "mrcd/md_subuid.h"

/* ---- the socket: md_socket.c, md_client.c ---- */

#define MD_CLIENTS 128u
#define MD_CLIENTS_OF_USER 32u /* with his subordinate numbers */
/* Those that only root and CAP_NET_ADMIN take, whoever may change anything. */
#define MD_CLIENTS_KEPT 32u
/* Answers and events that wait for a client; beyond, events are dropped and counted. */
#define MD_OUT_MAX (1u << 20)
#define MD_EVENTS_OUT_MAX (1u << 18)
/* Requests of a client: so many at once, and a second. */
#define MD_BURST 200u
#define MD_RATE 1000u

struct md_client {
	int fd; /* -1: free */
	struct md_peer peer;
	uint64_t account; /* that the connection counts for */
	char *in;	  /* MD_REQUEST_MAX bytes */
	size_t got;
	bool waits; /* a whole line is there, for its turn */
	struct ui_text out;
	size_t sent;
	double tokens;
	uint64_t token_ns, dropped;
	bool heard_all; /* it says nothing more */
	bool ends;	/* once its answers are sent */
};

struct md_door {
	struct md_node *node;
	int fd;
	uint64_t deaf_until_ns; /* no descriptor was left for a client */
	struct md_subuid subuid;
	struct md_client client[MD_CLIENTS];
	char path[MD_PATH_MAX + 16];
};

/*
 * md_door_open listens on DIR/mrcd.sock. What is there is replaced: the lock of the store says that
 * no other mrcd lives. 0, or an errno value and the error.
 */
int md_door_open(struct md_door *door, struct md_node *node, struct md_config_error *error);
void md_door_close(struct md_door *door);
#define MD_DOOR_POLLED (MD_CLIENTS + 1u)
/* md_door_poll fills in what to wait for, and returns for how many ms at most, -1 for ever. */
int md_door_poll(const struct md_door *door, struct pollfd fds[MD_DOOR_POLLED], uint64_t now_ns);
void md_door_serve(struct md_door *door, const struct pollfd fds[MD_DOOR_POLLED], uint64_t now_ns);
/* md_door_tell sends an event to those who follow; where `uid` is not MD_NOBODY, to that user and
 * those who may change alone. */
void md_door_tell(struct md_door *door, const json_t *event, int64_t uid);
bool md_door_is_followed(const struct md_door *door);

/* One client: md_client.c. */
int md_client_init(struct md_client *c, int fd, const struct md_peer *peer, uint64_t now_ns);
void md_client_fini(struct md_client *c);
/* md_client_may_ask says whether a line may be answered: not where too many requests came. */
bool md_client_may_ask(const struct md_client *c, uint64_t now_ns);
/* md_client_wants returns what to wait for. */
short md_client_wants(const struct md_client *c, uint64_t now_ns);
/* md_client_is_done says whether all is said, and it follows nothing. */
bool md_client_is_done(const struct md_client *c);
/* md_client_receive reads and answers; *said collects events. false: it is to be ended. */
bool md_client_receive(struct md_client *c, struct md_node *node, uint64_t now_ns, json_t *said);
bool md_client_send(struct md_client *c);
bool md_client_tell(struct md_client *c, const json_t *event);

/* ---- EV events of processes: md_events.c ---- */

struct md_events {
	struct stats_reader *stats;
	struct md_hints hints;
	uint64_t next_ns;
	bool were_followed;
};

/* md_events_open: the configuration must outlive it. 0, or ENOMEM. */
int md_events_open(struct md_events *events, const struct md_config *config);
void md_events_close(struct md_events *events);
/*
 * md_events_tell looks for new ones, ten times a second while somebody follows, else twice, and
 * saves the hints that they give.
 */
void md_events_tell(struct md_events *events, struct md_door *door, uint64_t now_ns);

/* ---- the port for Prometheus: md_http.c ---- */

struct md_http {
	pthread_t thread;
	bool runs;
	int fd, stop_fd;
	struct stats_reader *stats;
	uint32_t processes;
	struct md_map *map; /* or NULL */
	pthread_mutex_t lock;
	struct md_metrics metrics; /* under lock */
};

/*
 * md_http_open does nothing where config.listen is empty; `path` is the file's, for messages. What
 * `map` has is answered too; it may be NULL. 0, or an errno value and the error.
 */
int md_http_open(struct md_http *http, const struct md_config *c, const char *path,
		 struct md_map *map, struct md_config_error *error);
void md_http_update(struct md_http *http, const struct md_node *node);
void md_http_close(struct md_http *http);
/* md_metrics_put appends what mrcd itself has. */
void md_metrics_put(const struct md_metrics *m, enum stat_format format, struct ui_text *out);

/* ---- the whole: md_daemon.c ---- */

/* md_daemon_run runs until SIGTERM or SIGINT. The exit status. */
int md_daemon_run(const char *config_path, const struct md_config *config);
/* md_main is main(), but for a name. */
int md_main(int argc, char **argv);

#endif
