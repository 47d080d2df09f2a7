/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc ping - asks the endpoint of another machine, path by path. No QP is needed; whichever process
 * has an MRC device open there answers, `mrc ping --listen` if no other does.
 */
#include "cli/cli_verbs.h"
#include "cli/fabric_at_hand.h"
#include "cli/gid_text.h"
#include "cli/ping/ping.h"
#include "ui/terminal.h"
#include "ui/text.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define MS_NS UINT64_C(1000000)
#define ANY UINT32_MAX

struct ping {
	bool listen, all, json;
	const char *fabric_name;
	struct cli_fabric fabric;
	uint32_t plane, ev;
	uint64_t count, interval_ns, timeout_ns;
	const char *name[PING_HOSTS_MAX];
	size_t hosts;
	struct ping_host host[PING_HOSTS_MAX];
	struct ibv_context *verbs;
	struct mrc_context *context;
	struct ping_device device;
	struct ping_paths paths;
};

static int print_error(const char *what, int err)
{
	fprintf(stderr, "mrc ping: %s: %s\n", what, strerror(err));
	return -1;
}

static int open_device(struct ping *p)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int err;

	p->verbs = list && list[0] ? ibv_open_device(list[0]) : NULL;
	p->context = p->verbs ? mrc_create_context(p->verbs, NULL) : NULL;
	err = errno;
	if (list)
		ibv_free_device_list(list);
	return p->context ? 0
			  : print_error("the device cannot be opened (mrc doctor tells more)", err);
}

static void close_device(struct ping *p)
{
	if (p->context)
		mrc_destroy_context(p->context);
	if (p->verbs)
		ibv_close_device(p->verbs);
}

/* The device lets ids rest a second before it uses them again. */
#define REST_MS 1100
#define TRIES 3

static int send_wait(void *context, struct mrc_ctl_ep_req *req, int n, uint32_t timeout_ns,
		     struct mrc_ctl_ep_rsp *rsp, int *n_rsp)
{
	for (int i = 0; i < TRIES; i++) {
		if (mrc_ctl_ep_batch_send_wait(context, 0, MRC_CTL_EP_OP_EV_PROBE, req, n,
					       timeout_ns, rsp, n_rsp) == 0)
			return 0;
		if (errno != EAGAIN)
			return errno;
		poll(NULL, 0, REST_MS);
	}
	return EAGAIN;
}

/* The EVs of the device, all planes; how many, or -1. */
static int read_evs(struct ping *p, struct mrc_ctl_ev *evs)
{
	static struct mrc_ctl_ev_op_entry entry[PING_PATHS_MAX];
	struct mrc_ctl_ev_profile_attr attr = {.ev_op = {.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY,
							 .entries = entry,
							 .entry_count = PING_PATHS_MAX}};

	if (mrc_ctl_query_ev_profile(p->context, 0, &attr, MRC_CTL_EV_PROFILE_EV_OP))
		return print_error("paths of the device", errno);
	for (int i = 0; i < attr.ev_op.entry_count; i++)
		evs[i] = entry[i].ev;
	return attr.ev_op.entry_count;
}

static int name_paths(struct ping *p)
{
	union ibv_gid own;

	if (ibv_query_gid(p->verbs, 1, 0, &own))
		return print_error("GID of the device", errno);
	ping_paths_name(&p->paths, p->host, &p->fabric, own.raw);
	return 0;
}

static int make_paths(struct ping *p)
{
	static struct mrc_ctl_ev evs[PING_PATHS_MAX];
	int n = read_evs(p, evs);
	char text[UI_UNITS_MAX];
	uint32_t last;

	if (n <= 0)
		return -1;
	if (ping_paths_make(&p->paths, (uint32_t)p->hosts, evs, (size_t)n,
			    p->plane == ANY ? -1 : (int64_t)p->plane,
			    p->ev == ANY ? -1 : (int64_t)p->ev) == 0)
		return name_paths(p);
	if (!p->paths.path)
		return print_error("paths", ENOMEM);
	memcpy(&last, evs[n - 1].val, sizeof(last));
	fprintf(stderr, "mrc ping: no such path: this device has planes 0 to %u, EVs up to %s\n",
		evs[n - 1].port - 1u, ui_units_ev(text, last));
	return -1;
}

static int find_hosts(struct ping *p)
{
	union ibv_gid own;

	if (ibv_query_gid(p->verbs, 1, 0, &own))
		return print_error("GID of the device", errno);
	for (size_t i = 0; i < p->hosts; i++) {
		char error[100];

		p->host[i].name = p->name[i];
		if (cli_address_find(p->name[i], !cli_address_is_ipv4(own.raw), p->host[i].gid,
				     error, sizeof(error))) {
			fprintf(stderr, "mrc ping: %s: %s\n", p->name[i], error);
			return -1;
		}
		/* The loopback address means this host, whatever its device goes by. */
		if (cli_address_is_loopback(p->host[i].gid) && !cli_address_is_loopback(own.raw))
			memcpy(p->host[i].gid, own.raw, sizeof(own.raw));
		if (memcmp(p->host[i].gid, own.raw, sizeof(own.raw)) == 0)
			fprintf(stderr,
				"mrc ping: %s is this machine: the process that opened the "
				"device first answers, this one if there is no other\n",
				p->name[i]);
	}
	return 0;
}

/* True when the user wants to go. */
static bool wait_until(uint64_t until_ns)
{
	for (uint64_t now = ui_clock_ns(); now < until_ns && !ui_term_caught(); now = ui_clock_ns())
		poll(NULL, 0, (int)((until_ns - now + MS_NS - 1) / MS_NS));
	return ui_term_caught() != 0;
}

static int ping_loop(struct ping *p)
{
	uint64_t due = ui_clock_ns();

	for (uint64_t round = 0; !p->count || round < p->count; round++) {
		int err = ping_round(&p->device, p->host, &p->paths, round, !p->all,
				     (uint32_t)p->timeout_ns);
		struct ui_text text = {0};

		if (err)
			return print_error("probes", err);
		if (!p->json && !p->all) {
			ping_show_round(p->host, &p->paths, round, &text);
			fputs(text.data, stdout);
			fflush(stdout);
			ui_text_fini(&text);
		}
		due += p->interval_ns;
		if (round + 1 != p->count && wait_until(due))
			break;
	}
	return 0;
}

/* The figures, and a word about hosts from which nothing came. Exit status. */
static int print_results(const struct ping *p)
{
	struct ui_text text = {0};
	int status = EXIT_GOOD;

	if (p->json) {
		json_t *json = ping_json(p->host, (uint32_t)p->hosts, &p->paths);

		ui_json_print(json, JSON_INDENT(2));
	} else if (p->all) {
		ping_show_table(p->host, &p->paths, &text);
	}
	for (uint32_t i = 0; i < p->hosts; i++) {
		struct ping_figure f = ping_figure_host(&p->paths, i);

		if (!p->json)
			ping_show_host(&p->host[i], &f, &text);
		if (f.answered || !f.sent)
			continue;
		fprintf(stderr,
			"mrc ping: %s: no answer. Is a process there that has an MRC device "
			"open (mrc ping --listen)? Does its UDP port (4791, or MRC_UDP_PORT) get "
			"through? mrc doctor looks, on either side\n",
			p->host[i].name);
		status = EXIT_FAILED;
	}
	ui_text_print(&text, stdout);
	return status;
}

static int listen_only(struct ping *p)
{
	char address[CLI_ADDRESS_MAX];
	union ibv_gid own;

	if (ibv_query_gid(p->verbs, 1, 0, &own)) {
		print_error("GID of the device", errno);
		return EXIT_FAILED;
	}
	printf("answering at %s until interrupted\n", cli_address_write(address, own.raw));
	fflush(stdout);
	while (!wait_until(ui_clock_ns() + 1000 * MS_NS))
		;
	return EXIT_GOOD;
}

/* How packets carry the EVs that the device itself uses. */
static enum mrc_ctl_ev_fmt_mode own_format(const struct ping *p)
{
	struct mrc_ctl_device_attr attr = {0};

	if (mrc_ctl_query_device(p->verbs, &attr) == 0 &&
	    attr.ev.ev_fmt_mode_mask & MRC_CTL_EV_FMT_MODE_STEV)
		return MRC_CTL_EV_FMT_MODE_STEV;
	return MRC_CTL_EV_FMT_MODE_UDP;
}

static int run_rounds(struct ping *p)
{
	int status = EXIT_FAILED;

	if (open_device(p) == 0) {
		p->device = (struct ping_device){
			.context = p->context, .send_wait = send_wait, .format = own_format(p)};
		if (p->listen)
			status = listen_only(p);
		else if (find_hosts(p) == 0 && make_paths(p) == 0 && ping_loop(p) == 0)
			status = print_results(p);
	}
	ping_paths_fini(&p->paths);
	close_device(p);
	return status;
}

static const struct ui_flag flags[] = {
	UI_SWITCH("--listen", ping, listen, "only answer, until interrupted"),
	UI_SWITCH("--all", ping, all, "all paths in each round, and a table"),
	{"--plane", UI_FLAG_U32, "N", "this plane only, from 0", offsetof(struct ping, plane), 0,
	 31},
	{"--ev", UI_FLAG_U32, "N", "this EV only", offsetof(struct ping, ev), 0, ANY - 1},
	{"--count", UI_FLAG_U64, "N", "rounds (5); 0: until interrupted",
	 offsetof(struct ping, count), 0, UINT64_MAX},
	{"--interval", UI_FLAG_TIME, "TIME", "between rounds (500ms)",
	 offsetof(struct ping, interval_ns), MS_NS, UINT64_C(3600000) * MS_NS},
	{"--timeout", UI_FLAG_TIME, "TIME", "for an answer (500ms)",
	 offsetof(struct ping, timeout_ns), 1000, 4000 * MS_NS},
	CLI_FABRIC_FLAG(ping, fabric_name),
	UI_SWITCH("--json", ping, json, "the figures as JSON"),
};

static enum ui_flags_result parse_options(struct ping *p, int argc, char **argv)
{
	enum ui_flags_result rc =
		ui_verb_parse(&cli_ping_verb, p, argc, argv, p->name, PING_HOSTS_MAX, &p->hosts);

	if (rc == UI_FLAGS_OK && p->listen == (p->hosts > 0)) {
		fprintf(stderr, "mrc ping: want a HOST to ask, or --listen and none "
				"(mrc ping --help tells more)\n");
		return UI_FLAGS_ERROR;
	}
	return rc;
}

static int cli_ping_main(int argc, char **argv)
{
	static struct ping p;
	int status;

	p = (struct ping){.plane = ANY,
			  .ev = ANY,
			  .count = 5,
			  .interval_ns = 500 * MS_NS,
			  .timeout_ns = 500 * MS_NS};
	status = parse_options(&p, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	if (cli_fabric_find(&cli_ping_verb, p.fabric_name, &p.fabric))
		return EXIT_FAILED;
	ui_term_catch();
	return run_rounds(&p);
}

const struct ui_verb cli_ping_verb = {
	.name = "mrc ping",
	.summary = "ask another machine over one path or all of them",
	.usage = "HOST... [FLAG...]\n"
		 "--listen",
	.about =
		"Sends EV probes to the endpoint of other machines and measures each path there "
		"and back: one path of each plane a round, the next one in the next round, or all "
		"of them. Any process with an MRC device open answers; --listen does nothing else.",
	.exits = "0 every host answered, 1 one did not, 2 wrong usage",
	.operands = "HOST",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = cli_ping_main,
};
