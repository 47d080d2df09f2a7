/* SPDX-License-Identifier: BSD-2-Clause */
/* act.c - the statements that do something: the user, the operator and the machine act. */
#include <stdio.h>
#include <string.h>

#include "script.h"

static const char *const failures[] = {"invalid", "state",  "memory", "full",
				       "exists",  "access", NULL};

/* "fails full" at the end of a line; 0 is success, otherwise enum mt_result. */
static int read_failure(struct script *s)
{
	int wanted = MT_OK;

	if (words_accept(&s->words, "fails"))
		wanted = -1 - (int)words_choice(&s->words, "failure", failures);
	words_end(&s->words);
	return wanted;
}

static void compare_result(struct script *s, int got, int wanted)
{
	if (got == wanted)
		return;
	report_fail(&s->report, "the call %s%s, expected that it %s%s",
		    got == MT_OK ? "succeeds" : "fails ", got == MT_OK ? "" : failures[-1 - got],
		    wanted == MT_OK ? "succeeds" : "fails ",
		    wanted == MT_OK ? "" : failures[-1 - wanted]);
}

/* "id 7" or "id 1..64"; without it 0. */
static void read_ids(struct script *s, uint64_t *first, uint64_t *last)
{
	char text[64];
	char *dots;

	*first = *last = 0;
	if (!words_accept(&s->words, "id"))
		return;
	snprintf(text, sizeof(text), "%s", words_next(&s->words, "id"));
	dots = strstr(text, "..");
	if (dots)
		*dots = 0;
	*first = word_number(&s->report, "id", text, UINT32_MAX);
	*last = dots ? word_number(&s->report, "id", dots + 2, UINT32_MAX) : *first;
	if (*last < *first)
		report_fail(&s->report, "id: the range ends before it begins");
}

static void post_send(struct script *s, enum rd_wr_opcode opcode)
{
	struct words *w = &s->words;
	struct rd_sge sge = {.lkey = MT_LKEY_ADAPTER};
	struct rd_send_wr wr = {
		.sge = &sge,
		.n_sge = 1,
		.flags = RD_SEND_SIGNALED,
		.rkey = WORLD_KEY,
		.remote_addr = WORLD_MR_START,
		.opcode = opcode,
	};
	uint64_t id, last;
	int wanted, got;

	sge.length = (uint32_t)words_number(w, "length", UINT32_MAX);
	words_expect(w, "bytes");
	read_ids(s, &id, &last);
	if (words_accept(w, "imm")) {
		wr.flags |= RD_SEND_IMM;
		wr.imm = (uint32_t)words_number(w, "imm", UINT32_MAX);
	}
	if (words_accept(w, "se"))
		wr.flags |= RD_SEND_SOLICITED;
	if (words_accept(w, "unsignalled"))
		wr.flags &= ~(uint32_t)RD_SEND_SIGNALED;
	if (words_accept(w, "at"))
		wr.remote_addr += words_number(w, "at", UINT64_MAX);
	wanted = read_failure(s);
	for (; id <= last; id++) {
		wr.wr_id = id;
		got = engine_node_post(&s->world.node, s->world.qp, s->world.now_ns, &wr);
		compare_result(s, got, wanted);
	}
}

/* "sge 100 at 0 sge 50 at 4096": pieces of the MR, in order. */
static void post_recv(struct script *s)
{
	struct words *w = &s->words;
	struct rd_sge sge[WORLD_SGES];
	struct rd_recv_wr wr = {.sge = sge};
	uint64_t id, last;
	int wanted;

	read_ids(s, &id, &last);
	while (wr.n_sge < WORLD_SGES && words_accept(w, "sge")) {
		sge[wr.n_sge] = (struct rd_sge){.lkey = WORLD_KEY};
		sge[wr.n_sge].length = (uint32_t)words_number(w, "length", UINT32_MAX);
		words_expect(w, "at");
		sge[wr.n_sge++].addr = WORLD_MR_START + words_number(w, "at", UINT64_MAX);
	}
	wanted = read_failure(s);
	for (wr.wr_id = id; wr.wr_id <= last; wr.wr_id++)
		compare_result(s, mt_qp_post_recv_sges(s->world.qp, &wr), wanted);
}

static void act_post(struct script *s)
{
	static const char *const whats[] = {"write", "send", "recv", NULL};
	unsigned what = (unsigned)words_choice(&s->words, "request", whats);

	if (what == 2)
		post_recv(s);
	else
		post_send(s, what ? RD_WR_SEND : RD_WR_WRITE);
}

static void act_state(struct script *s)
{
	static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "ERR", NULL};
	struct rd_qp_attr attr = {
		.state = (enum rd_qp_state)words_choice(&s->words, "state", states)};
	int wanted = read_failure(s);

	compare_result(s, mt_qp_modify(s->world.qp, s->world.now_ns, &attr, RD_QP_STATE), wanted);
}

static void deny(struct script *s, bool deny)
{
	uint32_t ev = script_ev(s);
	int wanted = read_failure(s);

	compare_result(s, mt_qp_ev_deny(s->world.qp, s->world.now_ns, ev, deny), wanted);
}

static void act_deny(struct script *s)
{
	deny(s, true);
}

static void act_allow(struct script *s)
{
	deny(s, false);
}

static void act_room(struct script *s)
{
	struct world *w = &s->world;

	w->room = 0;
	if (words_accept(&s->words, "all"))
		w->room = UINT32_MAX;
	else if (!words_accept(&s->words, "none"))
		do
			w->room |= 1u << words_number(&s->words, "plane",
						      w->config.engine.n_ports - 1);
		while (words_peek(&s->words));
	words_end(&s->words);
}

static void act_ignore(struct script *s)
{
	if (words_accept(&s->words, "nothing")) {
		s->world.ignored = 0;
		words_end(&s->words);
		return;
	}
	do
		s->world.ignored |= 1u << packet_kind(&s->words);
	while (words_peek(&s->words));
}

static void act_overflow(struct script *s)
{
	uint64_t packets = words_number(&s->words, "packets", UINT32_MAX);

	words_end(&s->words);
	mt_engine_rx_overflow(s->world.engine, s->world.now_ns, packets);
}

static void act_capacity(struct script *s)
{
	uint32_t packets = (uint32_t)words_number(&s->words, "packets", UINT32_MAX);

	words_end(&s->words);
	mt_engine_rx_capacity(s->world.engine, packets);
}

static void act_memory(struct script *s)
{
	static const char *const whats[] = {"gone", "more", NULL};
	unsigned what = words_choice(&s->words, "memory", whats);

	words_end(&s->words);
	if (what == 0)
		s->world.memory_gone = true;
	else
		engine_node_grow(&s->world.node);
}

static void act_hold(struct script *s)
{
	words_end(&s->words);
	s->world.held = true;
}

static void act_go(struct script *s)
{
	words_end(&s->words);
	s->world.held = false;
}

/* Nobody runs the engine; what comes next is the first that it hears of. */
static void act_stop(struct script *s)
{
	uint64_t ns = words_time(&s->words, "time");

	words_end(&s->words);
	script_quiet(s, "the engine stops");
	s->world.now_ns += ns;
}

static void act_port(struct script *s)
{
	static const char *const states[] = {"down", "up", NULL};
	uint32_t port = (uint32_t)words_number(&s->words, "port", UINT32_MAX);
	bool up = words_choice(&s->words, "port", states);
	int wanted = read_failure(s);

	compare_result(s, mt_engine_port_set(s->world.engine, s->world.now_ns, port, up), wanted);
}

static void act_request(struct script *s)
{
	static const char *const ops[] = {"port_status", "ev_probe", NULL};
	struct words *w = &s->words;
	struct mt_ep_request req = {.tclass = MW_DSCP_CONTROL, .timeout_ns = 1000000};
	int wanted;

	req.dst = s->world.config.attr.dest;
	req.op = (uint8_t)words_choice(w, "request", ops);
	req.id_given = words_accept(w, "id");
	if (req.id_given)
		req.id = (uint16_t)words_number(w, "id", UINT16_MAX);
	if (words_accept(w, "ev"))
		req.ev.value = (uint32_t)words_number(w, "ev", UINT32_MAX);
	if (words_accept(w, "plane"))
		req.ev.port = (uint8_t)words_number(w, "plane", UINT8_MAX);
	if (words_accept(w, "ports"))
		req.port_mask = (uint32_t)words_number(w, "ports", UINT32_MAX);
	if (words_accept(w, "timeout"))
		req.timeout_ns = words_time(w, "timeout");
	wanted = read_failure(s);
	compare_result(s, mt_engine_ep_request(s->world.engine, s->world.now_ns, &req, NULL),
		       wanted);
}

bool statement_act(struct script *s, const char *verb)
{
	static const struct {
		const char *verb;
		void (*run)(struct script *);
	} acts[] = {{"post", act_post},		{"state", act_state},
		    {"deny", act_deny},		{"allow", act_allow},
		    {"room", act_room},		{"ignore", act_ignore},
		    {"overflow", act_overflow}, {"capacity", act_capacity},
		    {"memory", act_memory},	{"stop", act_stop},
		    {"port", act_port},		{"request", act_request},
		    {"hold", act_hold},		{"go", act_go}};

	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		if (strcmp(acts[i].verb, verb) != 0)
			continue;
		acts[i].run(s);
		if (acts[i].run != act_stop)
			world_pump(&s->world);
		return true;
	}
	return false;
}
