/* SPDX-License-Identifier: BSD-2-Clause */
/* ctl_main.c - `mrc ctl`: the controller API from a shell. What may be said is mrcd's to judge. */
#include "cli/cli_verbs.h"
#include "cli/ctl/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64u

struct options {
	const char *socket, *reason, *fabric_name;
	struct cli_fabric fabric;
	uint32_t profile;
	bool json, all;
};

#define COMMON                                                                           \
	UI_TEXT("--socket", options, socket, "PATH",                                     \
		"mrcd's socket ($MRC_NODE_DIR/mrcd.sock, /run/softmrc/node/mrcd.sock)"), \
		UI_SWITCH("--json", options, json, "the answer as JSON")
#define PROFILE                                                      \
	{                                                            \
		"--profile", UI_FLAG_U32, "N", "the EV profile (0)", \
			offsetof(struct options, profile), 0, 15     \
	}

static const struct ui_flag plain_flags[] = {COMMON};
static const struct ui_flag named_flags[] = {COMMON, CLI_FABRIC_FLAG(options, fabric_name)};
static const struct ui_flag deny_flags[] = {
	COMMON, PROFILE,
	UI_TEXT("--reason", options, reason, "TEXT",
		"why, for those who ask later; at most 120 characters")};
static const struct ui_flag undeny_flags[] = {COMMON, PROFILE};
static const struct ui_flag replace_flags[] = {
	COMMON, PROFILE,
	UI_SWITCH("--all", options, all, "every place that holds it, not the first alone")};

static int show(const json_t *answer, bool json)
{
	struct ui_text text = {0};

	if (json) {
		ui_json_print(json_incref((json_t *)answer), JSON_INDENT(2));
		return 0;
	}
	ctl_show_answer(answer, &text);
	ui_text_print(&text, stdout);
	return 0;
}

/* A wrong value is wrong usage, whoever finds it. */
static int judge(const json_t *answer, const struct ui_verb *verb)
{
	const char *error = json_string_value(json_object_get(answer, "error"));
	const char *code = json_string_value(json_object_get(answer, "errno"));
	struct ui_text text = {0};

	if (json_is_true(json_object_get(answer, "ok")))
		return 0;
	ui_text_add(&text, "%s: ", verb->name);
	ctl_show_text(error ? error : "mrcd answers nothing sensible", &text);
	ui_text_add(&text, "\n");
	ui_text_print(&text, stderr);
	return code && strcmp(code, "EINVAL") == 0 ? 2 : 1;
}

/* A description that is wrong keeps nobody from deciding about a port. */
static int find_fabric(const struct ui_verb *verb, struct options *o)
{
	return verb->flags == named_flags ? cli_fabric_find(verb, o->fabric_name, &o->fabric) : 0;
}

/* Sends the request, which it drops, and prints the answer. */
static int ask(const struct ui_verb *verb, struct options *o, json_t *request)
{
	struct ctl_link link;
	json_t *answer;
	int status;

	if (find_fabric(verb, o) || ctl_link_open(&link, o->socket)) {
		json_decref(request);
		return 1;
	}
	answer = ctl_link_ask(&link, request);
	ctl_link_close(&link);
	if (!answer)
		return 1;
	status = judge(answer, verb);
	ctl_name_evs(answer, &o->fabric);
	if (o->json || !status)
		status = show(answer, o->json) ? 1 : status;
	json_decref(answer);
	return status;
}

static int usage(const struct ui_verb *verb, const char *word, const char *allowed)
{
	fprintf(stderr, "%s: %s: %s\n", verb->name, word, allowed);
	return 2;
}

static bool read_number(const char *text, json_int_t *out)
{
	char *end;
	long n = strtol(text, &end, 10);

	*out = n;
	return *text && !*end;
}

/* ---- verbs without operands ---- */

static int ask_plain(const struct ui_verb *verb, const char *what, int argc, char **argv)
{
	struct options o = {0};
	int status = ui_verb_parse(verb, &o, argc, argv, NULL, 0, NULL);

	return status != UI_FLAGS_OK ? status : ask(verb, &o, json_pack("{s:s}", "do", what));
}

static int status_main(int argc, char **argv);
static int reload_main(int argc, char **argv);
static int events_main(int argc, char **argv);
static int port_main(int argc, char **argv);
static int format_main(int argc, char **argv);
static int ev_main(int argc, char **argv);
static int cc_main(int argc, char **argv);
static int deny_main(int argc, char **argv);
static int undeny_main(int argc, char **argv);
static int replace_main(int argc, char **argv);

#define EXITS "0 good, 1 refused, or no mrcd, 2 wrong usage or a value that is not allowed"

#define VERB(word, table)                                                                       \
	.name = "mrc ctl " #word, .exits = EXITS, .flags = (table), .n_flags = UI_COUNT(table), \
	.run = word##_main

static const struct ui_verb status_verb = {
	VERB(status, plain_flags),
	.summary = "who answers, and how much it has done",
	.usage = "[FLAG...]",
	.about = "Prints mrcd's version, device, folder, the generation of the state and counts of "
		 "requests.",
};
static const struct ui_verb reload_verb = {
	VERB(reload, plain_flags),
	.summary = "mrcd reads its configuration again",
	.usage = "[FLAG...]",
	.about = "Makes what the configuration file says the state; a file that is wrong changes "
		 "nothing, and "
		 "the message names file, line and key.",
};
static const struct ui_verb events_verb = {
	VERB(events, named_flags),
	.summary = "what processes meet and controllers change, as it happens",
	.usage = "[FLAG...]",
	.about = "Prints a line for each EV that a process retires or takes up again, each port "
		 "that comes or "
		 "goes, and each change that a controller makes, until mrcd or a signal ends it. "
		 "Who may not "
		 "change anything hears of his own processes only.",
};
static const struct ui_verb port_verb = {
	VERB(port, plain_flags),
	.summary = "shows ports, or decides about one",
	.usage = "[FLAG...]\n[FLAG...] PORT enabled|suspended|down",
	.about = "Without operands prints all ports. A suspended port sends nothing and takes what "
		 "comes, so "
		 "that it is left without a loss; one that is down takes nothing, either.",
};
static const struct ui_verb format_verb = {
	VERB(format, plain_flags),
	.summary = "shows or changes EV format profiles",
	.usage = "[FLAG...]\n[FLAG...] PROFILE KEY=VALUE...",
	.about = "Keys: mode (stev, udp), fields (widths in bits, with commas), state (init, "
		 "offline, "
		 "online; online unless it is given).",
};
static const struct ui_verb ev_verb = {
	VERB(ev, named_flags),
	.summary = "shows or changes EV profiles",
	.usage = "[FLAG...]\n[FLAG...] PROFILE\n[FLAG...] PROFILE KEY=VALUE...",
	.about = "Keys: mode (auto, explicit, generated), format (a format profile), count, "
		 "min_active, events "
		 "(good, bad), evs (PORT:EV, with commas; explicit), width, init, min, max, mask "
		 "(a list each; "
		 "generated), state (init, offline, online; online unless it is given).",
};
static const struct ui_verb cc_verb = {
	VERB(cc, plain_flags),
	.summary = "shows or changes CC profiles",
	.usage = "[FLAG...]\n[FLAG...] PROFILE KEY=VALUE...",
	.about = "Keys: algorithm (uet-1.0-nscc, none), NSCC's parameters by the names that the "
		 "list shows, "
		 "state (init, offline, online; online unless it is given).",
};
static const struct ui_verb deny_verb = {
	VERB(deny, deny_flags),
	.summary = "no QP of this host sends by an EV any more",
	.usage = "[FLAG...] PORT:EV...",
	.about = "Denies EVs of a profile, all or none, until they are undenied; never the last "
		 "ones. An EV is "
		 "written as `mrc ctl ev` shows it: 2:49153, 2:0xc0010003.",
};
static const struct ui_verb undeny_verb = {
	VERB(undeny, undeny_flags),
	.summary = "takes denials of EVs back",
	.usage = "[FLAG...] PORT:EV...",
	.about = "Takes denials back.",
};
static const struct ui_verb replace_verb = {
	VERB(replace, replace_flags),
	.summary = "an EV of an explicit profile becomes another one",
	.usage = "[FLAG...] PORT:EV PORT:EV",
	.about = "Gives the first place of a profile that holds the first EV the second one, while "
		 "QPs run.",
};

static int status_main(int argc, char **argv)
{
	return ask_plain(&status_verb, "status", argc, argv);
}

static int reload_main(int argc, char **argv)
{
	return ask_plain(&reload_verb, "reload", argc, argv);
}

static int print_event(json_t *event, bool json)
{
	struct ui_text text = {0};

	if (json) {
		ui_json_print(event, JSON_COMPACT);
	} else {
		ctl_show_event(event, &text);
		ui_text_print(&text, stdout);
		json_decref(event);
	}
	return fflush(stdout) ? 1 : 0;
}

static int events_main(int argc, char **argv)
{
	struct options o = {0};
	struct ctl_link link;
	json_t *event;
	int status = ui_verb_parse(&events_verb, &o, argc, argv, NULL, 0, NULL);

	if (status != UI_FLAGS_OK)
		return status;
	if (find_fabric(&events_verb, &o) || ctl_link_open(&link, o.socket))
		return 1;
	event = ctl_link_ask(&link, json_pack("{s:s}", "do", "events"));
	status = event ? judge(event, &events_verb) : 1;
	json_decref(event);
	while (!status && (event = ctl_link_next(&link))) {
		ctl_name_evs(event, &o.fabric);
		status = print_event(event, o.json);
	}
	if (!status && link.wrong)
		status = ctl_link_refuse(&link);
	ctl_link_close(&link);
	return status;
}

/* ---- ports and profiles ---- */

static int port_main(int argc, char **argv)
{
	struct options o = {0};
	const char *word[2];
	json_int_t port;
	size_t n;
	int status = ui_verb_parse(&port_verb, &o, argc, argv, word, 2, &n);

	if (status != UI_FLAGS_OK)
		return status;
	if (n == 0)
		return ask(&port_verb, &o, json_pack("{s:s}", "do", "port.show"));
	if (n == 1 || !read_number(word[0], &port))
		return usage(&port_verb, word[0], "want PORT enabled|suspended|down");
	return ask(&port_verb, &o,
		   json_pack("{s:s, s:I, s:s}", "do", "port.set", "port", port, "admin", word[1]));
}

static int profile_main(const struct ui_verb *verb, const char *ask_what, const char *set_what,
			int argc, char **argv)
{
	struct options o = {0};
	const char *word[WORDS_MAX], *wrong;
	json_int_t profile;
	json_t *request;
	size_t n;
	int status = ui_verb_parse(verb, &o, argc, argv, word, WORDS_MAX, &n);

	if (status != UI_FLAGS_OK)
		return status;
	if (n == 0)
		return ask(verb, &o, json_pack("{s:s}", "do", ask_what));
	if (!read_number(word[0], &profile))
		return usage(verb, word[0], "want the number of a profile");
	if (n == 1 && verb != &ev_verb)
		return usage(verb, word[0], "want KEY=VALUE behind it");
	request = json_pack("{s:s, s:I}", "do", n == 1 ? ask_what : set_what, "profile", profile);
	if (ctl_words_add(request, word + 1, n - 1, &wrong))
		return ask(verb, &o, request);
	json_decref(request);
	return usage(verb, wrong, "want KEY=VALUE, each key once");
}

static int format_main(int argc, char **argv)
{
	return profile_main(&format_verb, "format.show", "format.set", argc, argv);
}

static int ev_main(int argc, char **argv)
{
	return profile_main(&ev_verb, "ev.show", "ev.set", argc, argv);
}

static int cc_main(int argc, char **argv)
{
	return profile_main(&cc_verb, "cc.show", "cc.set", argc, argv);
}

/* ---- single EVs ---- */

static int evs_main(const struct ui_verb *verb, const char *what, int argc, char **argv)
{
	struct options o = {0};
	const char *word[WORDS_MAX];
	json_t *list, *request;
	size_t n;
	int status = ui_verb_parse(verb, &o, argc, argv, word, WORDS_MAX, &n);

	if (status != UI_FLAGS_OK)
		return status;
	if (n == 0)
		return usage(verb, "PORT:EV", "is missing");
	list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(word[i]));
	request = json_pack("{s:s, s:I, s:o}", "do", what, "profile", (json_int_t)o.profile, "evs",
			    list);
	if (o.reason)
		json_object_set_new(request, "reason", json_string(o.reason));
	return ask(verb, &o, request);
}

static int deny_main(int argc, char **argv)
{
	return evs_main(&deny_verb, "ev.deny", argc, argv);
}

static int undeny_main(int argc, char **argv)
{
	return evs_main(&undeny_verb, "ev.undeny", argc, argv);
}

static int replace_main(int argc, char **argv)
{
	struct options o = {0};
	const char *word[2];
	size_t n;
	int status = ui_verb_parse(&replace_verb, &o, argc, argv, word, 2, &n);

	if (status != UI_FLAGS_OK)
		return status;
	if (n < 2)
		return usage(&replace_verb, "PORT:EV", "is missing: the one there is, and the new");
	return ask(&replace_verb, &o,
		   json_pack("{s:s, s:I, s:s, s:s, s:b}", "do", "ev.replace", "profile",
			     (json_int_t)o.profile, "ev", word[0], "with", word[1], "all", o.all));
}

static const struct ui_verb *const verbs[] = {
	&status_verb, &port_verb,    &format_verb, &ev_verb,	 &cc_verb, &deny_verb,
	&undeny_verb, &replace_verb, &events_verb, &reload_verb, NULL};

const struct ui_verb cli_ctl_verb = {
	.name = "mrc ctl",
	.summary = "decides what the MRC processes of this host use, through mrcd",
	.usage = "VERB [FLAG...]",
	.about = "The controller API from a shell: ports, EV profiles, denied EVs, CC profiles, "
		 "events. mrcd keeps what is decided; the processes of the host follow.",
	.examples = "mrc ctl port 2 suspended\n"
		    "mrc ctl deny --reason \"u2 drops\" 2:49153\n"
		    "mrc ctl cc 1 algorithm=uet-1.0-nscc gamma=0.5",
	.exits = EXITS,
	.verbs = verbs,
};
