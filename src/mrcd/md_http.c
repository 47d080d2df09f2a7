/* SPDX-License-Identifier: BSD-2-Clause */
/* md_http.c - the thread that answers scrapes: see md_serve.h. */
#include "mrcd/md_serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "mrcd/md_log.h"

static void more(void *ctx, enum stat_format format, struct ui_text *out)
{
	struct md_http *http = ctx;
	struct md_metrics m;

	pthread_mutex_lock(&http->lock);
	m = http->metrics;
	pthread_mutex_unlock(&http->lock);
	md_metrics_put(&m, format, out);
	md_map_put(http->map, format, out);
}

static void *serve(void *ctx)
{
	struct md_http *http = ctx;
	const struct stat_server server = {.processes = http->processes,
					   .stats = http->stats,
					   .stop_fd = http->stop_fd,
					   .more = more,
					   .ctx = http};
	int err = stat_server_run(&server, http->fd);

	if (err)
		md_log(MD_ERROR, "metrics", MD_NOBODY, "no more scrapes are answered: %s",
		       strerror(err));
	return NULL;
}

/* Signals are the main thread's. */
static int start(struct md_http *http)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&http->thread, NULL, serve, http);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int md_http_open(struct md_http *http, const struct md_config *c, const char *path,
		 struct md_map *map, struct md_config_error *error)
{
	char why[160];
	int err;

	*http = (struct md_http){.fd = -1, .stop_fd = -1, .processes = c->processes, .map = map};
	pthread_mutex_init(&http->lock, NULL);
	if (!c->listen[0])
		return 0;
	http->fd = stat_server_open(c->listen, why, sizeof(why));
	if (http->fd < 0)
		return md_config_wrong(c, path, "metrics.listen", EINVAL, error,
				       "metrics.listen = %s: %s", c->listen, why);
	http->stop_fd = eventfd(0, EFD_CLOEXEC);
	http->stats = calloc(1, sizeof(*http->stats));
	err = http->stats && http->stop_fd >= 0 ? 0 : ENOMEM;
	if (!err) {
		stats_reader_open(http->stats, NULL, 0);
		err = start(http);
	}
	http->runs = !err;
	return err ? md_config_wrong(c, path, "metrics.listen", err, error,
				     "metrics.listen = %s: %s", c->listen, strerror(err))
		   : 0;
}

void md_http_update(struct md_http *http, const struct md_node *node)
{
	struct md_metrics m;

	if (!http->runs)
		return;
	md_metrics_read(node, &m);
	pthread_mutex_lock(&http->lock);
	http->metrics = m;
	pthread_mutex_unlock(&http->lock);
}

void md_http_close(struct md_http *http)
{
	const uint64_t one = 1;

	if (http->runs && write(http->stop_fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
		pthread_join(http->thread, NULL);
	if (http->stats)
		stats_reader_close(http->stats);
	free(http->stats);
	if (http->stop_fd >= 0)
		close(http->stop_fd);
	pthread_mutex_destroy(&http->lock);
}
