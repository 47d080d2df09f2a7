/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_daemon.c - the loop of mrcd, and what it tells systemd. One thread does all but scrapes. What
 * was decided is in the store before it is answered, so that the daemon may die anywhere.
 */
#include "mrcd/md_serve.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "mrcd/md_log.h"
#include "mrcd/md_policy.h"
#include "mrcd/md_view.h"
#include "ui/terminal.h"

#define IDLE_MS 500
#define FOLLOWED_MS 50

struct daemon {
	struct md_node node;
	struct md_door door;
	struct md_events events;
	struct md_map *map;
	struct md_policy *policy;
	struct md_http http;
	int signals;
	uint64_t watchdog_us, alive_ns;
	bool ends;
};

static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void reload(struct daemon *d)
{
	struct md_config_error error;
	json_t *said;
	int err;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, ui_clock_ns() / 1000);
	err = md_node_reload(&d->node, &error);
	md_log(err ? MD_ERROR : MD_INFO, "reload", MD_NOBODY, "%s%s",
	       err ? error.text : "the configuration was read again",
	       err ? "; all stays as it was" : "");
	if (!err) {
		said = md_said(&d->node, "reload", geteuid(), NULL);
		md_door_tell(&d->door, said, MD_NOBODY);
		json_decref(said);
	}
	sd_notifyf(0, "READY=1\nSTATUS=%s", err ? error.text : "in force");
}

static void take_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload(d);
		else
			d->ends = true;
	}
}

/* Twice as often as systemd asks for. */
static void show_alive(struct daemon *d, uint64_t now_ns)
{
	if (!d->watchdog_us || now_ns < d->alive_ns + d->watchdog_us * 500)
		return;
	d->alive_ns = now_ns;
	sd_notify(0, "WATCHDOG=1");
}

static int wait_ms(const struct daemon *d, int door_ms)
{
	int most = md_door_is_followed(&d->door) ? FOLLOWED_MS : d->policy ? MD_POLICY_MS : IDLE_MS;

	return door_ms >= 0 && door_ms < most ? door_ms : most;
}

static void tell(void *ctx, json_t *event)
{
	md_door_tell(ctx, event, MD_NOBODY);
	json_decref(event);
}

static void decide(struct daemon *d, uint64_t now_ns)
{
	struct mm_sick sick[MD_VIEW_SICK];
	size_t n;
	bool cut;

	if (!md_policy_is_due(d->policy, now_ns))
		return;
	n = md_map_sick(d->map, sick, MD_VIEW_SICK, &cut);
	md_policy_step(d->policy, sick, n, cut, tell, &d->door, now_ns);
}

static int run(struct daemon *d)
{
	struct pollfd fds[MD_DOOR_POLLED + 1];

	while (!d->ends) {
		int wait = wait_ms(d, md_door_poll(&d->door, fds, ui_clock_ns()));
		int n;

		fds[MD_DOOR_POLLED] = (struct pollfd){.fd = d->signals, .events = POLLIN};
		n = poll(fds, MD_DOOR_POLLED + 1, wait);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n < 0)
			continue;
		if (fds[MD_DOOR_POLLED].revents)
			take_signals(d);
		md_door_serve(&d->door, fds, ui_clock_ns());
		md_events_tell(&d->events, &d->door, ui_clock_ns());
		decide(d, ui_clock_ns());
		md_http_update(&d->http, &d->node);
		show_alive(d, ui_clock_ns());
	}
	return 0;
}

static int open_all(struct daemon *d, struct md_config_error *error)
{
	int err = md_node_open(&d->node, error);

	if (err)
		return err;
	err = md_door_open(&d->door, &d->node, error);
	if (err)
		return err;
	err = md_events_open(&d->events, &d->node.config);
	d->node.stats = d->events.stats;
	if (!err)
		err = md_map_open(&d->map, &d->node.config, d->node.config_path, error);
	if (!err)
		err = md_policy_open(&d->policy, &d->node, md_map_topology(d->map), ui_clock_ns());
	if (!err)
		err = md_http_open(&d->http, &d->node.config, d->node.config_path, d->map, error);
	return err;
}

static void close_all(struct daemon *d)
{
	md_http_close(&d->http);
	md_policy_close(d->policy);
	md_map_close(d->map);
	if (d->events.stats)
		md_events_close(&d->events);
	if (d->door.node)
		md_door_close(&d->door);
	md_node_destroy(&d->node);
	if (d->signals >= 0)
		close(d->signals);
}

static int serve(struct daemon *d)
{
	int err;

	md_http_update(&d->http, &d->node);
	if (sd_watchdog_enabled(0, &d->watchdog_us) <= 0)
		d->watchdog_us = 0;
	md_log(MD_INFO, "start", MD_NOBODY,
	       "device %s, store and socket in %s, generation %" PRIu64, d->node.config.device,
	       d->node.config.dir, d->node.generation);
	sd_notify(0, "READY=1\nSTATUS=in force");
	err = run(d);
	sd_notify(0, "STOPPING=1");
	md_log(err ? MD_ERROR : MD_INFO, "stop", MD_NOBODY, "%s",
	       err ? strerror(err) : "ends; what was decided stays in force");
	return err;
}

int md_daemon_run(const char *config_path, const struct md_config *config)
{
	struct daemon *d = calloc(1, sizeof(*d));
	struct md_config_error error = {"no memory"};
	int err = d ? md_node_create(&d->node, config_path, config) : ENOMEM;

	if (err) {
		free(d);
		md_log(MD_ERROR, "start", MD_NOBODY, "%s", error.text);
		return EXIT_FAILURE;
	}
	d->http.stop_fd = -1;
	pthread_mutex_init(&d->http.lock, NULL);
	d->signals = catch_signals();
	err = open_all(d, &error);
	if (err)
		md_log(MD_ERROR, "start", MD_NOBODY, "%s", error.text);
	else
		err = serve(d);
	close_all(d);
	free(d);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
