/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_engine_events.c - what becomes of the engine's events, which QPs fail for the host's sake,
 * and what is said of one that has used up its retries: the events, and what the engine knows of a
 * QP, are the test's.
 */
#include "support/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "host/node/node.h"
#include "host/platform/platform.h"
#include "host/progress/progress.h"
#include "host/stats/stats.h"

#define NOW_NS UINT64_C(5000000000)
#define GAP_NS UINT64_C(250000000)
#define DEPTH 4u
#define EVS 3u

static struct {
	struct mh_nic nic;
	struct mh_device dev;
	struct mh_cq send_cq, recv_cq;
	struct mh_qp qp;
	uint8_t signaled[DEPTH];
	struct mt_event events[4];
	uint32_t n;
	/* What came of them. */
	struct mh_cqe cqe;
	struct mh_cq *cq;
	const struct mh_event_source *raised;
	uint32_t pushed, reported, segment_events, logged, ev_events, modified, ud_failed, answers;
	bool is_probe_of_ud;
	/* What the engine has of the QP. */
	enum rd_qp_state state;
	struct mt_qp_info info;
	struct mt_ev_info ev[EVS + 1];
	char said[512];
} t;

__typeof__(mt_engine_poll) __real_mt_engine_poll, __wrap_mt_engine_poll;
uint32_t __wrap_mt_engine_poll(struct mt_engine *e, struct mt_event *events, uint32_t n)
{
	uint32_t got = t.n;

	(void)e;
	assert_true(got <= n);
	memcpy(events, t.events, got * sizeof(t.events[0]));
	t.n = 0;
	return got;
}

__typeof__(mh_completion_push) __real_mh_completion_push, __wrap_mh_completion_push;
void __wrap_mh_completion_push(struct mh_nic *nic, struct mh_cq *cq, const struct mh_cqe *cqe)
{
	(void)nic;
	t.cq = cq;
	t.cqe = *cqe;
	t.pushed++;
}

__typeof__(mh_event_raise) __real_mh_event_raise, __wrap_mh_event_raise;
void __wrap_mh_event_raise(struct mh_event_queue *q, struct mh_event_source *s, bool once)
{
	assert_ptr_equal(q, &t.dev.events);
	assert_true(once);
	t.raised = s;
}

__typeof__(mh_node_report_ev) __real_mh_node_report_ev, __wrap_mh_node_report_ev;
void __wrap_mh_node_report_ev(struct mh_nic *nic, const struct mt_event *event)
{
	(void)nic;
	assert_u_eq(event->type, MT_EVENT_EV);
	t.ev_events++;
}

__typeof__(mh_segment_event) __real_mh_segment_event, __wrap_mh_segment_event;
void __wrap_mh_segment_event(struct mh_segment *segment, const struct mt_event *event,
			     uint64_t now_ns)
{
	(void)segment;
	(void)event;
	assert_u_eq(now_ns, NOW_NS);
	t.segment_events++;
}

__typeof__(mh_event_log) __real_mh_event_log, __wrap_mh_event_log;
void __wrap_mh_event_log(const struct mt_event *event)
{
	assert_u_eq(event->type, MT_EVENT_PORT);
	t.logged++;
}

__typeof__(mh_report_retries) __real_mh_report_retries, __wrap_mh_report_retries;
void __wrap_mh_report_retries(struct mh_nic *nic, const struct mh_qp *qp, uint64_t now_ns)
{
	(void)nic;
	(void)now_ns;
	assert_ptr_equal(qp, &t.qp);
	t.reported++;
}

__typeof__(mt_qp_query) __real_mt_qp_query, __wrap_mt_qp_query;
void __wrap_mt_qp_query(const struct mt_qp *qp, struct rd_qp_attr *attr)
{
	(void)qp;
	attr->state = t.state;
}

__typeof__(mt_qp_modify) __real_mt_qp_modify, __wrap_mt_qp_modify;
int __wrap_mt_qp_modify(struct mt_qp *qp, uint64_t now_ns, const struct rd_qp_attr *attr,
			uint32_t mask)
{
	(void)qp;
	assert_u_eq(now_ns, NOW_NS);
	assert_u_eq(attr->state, RD_QPS_ERR);
	assert_u_eq(mask, RD_QP_STATE);
	t.modified++;
	return MT_OK;
}

__typeof__(mu_qp_to_err) __real_mu_qp_to_err, __wrap_mu_qp_to_err;
void __wrap_mu_qp_to_err(struct mu_qp *qp)
{
	assert_ptr_equal(qp, t.qp.ud);
	t.ud_failed++;
}

__typeof__(mu_deliver_probe) __real_mu_deliver_probe, __wrap_mu_deliver_probe;
bool __wrap_mu_deliver_probe(struct mu_engine *e, const struct mt_event *event, uint64_t now_ns)
{
	(void)e;
	(void)event;
	(void)now_ns;
	return t.is_probe_of_ud;
}

__typeof__(mh_ep_batch_deliver) __real_mh_ep_batch_deliver, __wrap_mh_ep_batch_deliver;
void __wrap_mh_ep_batch_deliver(const struct mt_event *event)
{
	assert_u_eq(event->type, MT_EVENT_ENDPOINT);
	t.answers++;
}

__typeof__(mt_qp_info) __real_mt_qp_info, __wrap_mt_qp_info;
void __wrap_mt_qp_info(const struct mt_qp *qp, struct mt_qp_info *info)
{
	(void)qp;
	*info = t.info;
}

__typeof__(mt_qp_ev_info) __real_mt_qp_ev_info, __wrap_mt_qp_ev_info;
bool __wrap_mt_qp_ev_info(const struct mt_qp *qp, uint32_t i, struct mt_ev_info *info)
{
	(void)qp;
	assert_true(i <= EVS);
	*info = t.ev[i];
	return true;
}

__typeof__(mh_ports_state_text) __real_mh_ports_state_text, __wrap_mh_ports_state_text;
const char *__wrap_mh_ports_state_text(const struct mh_ports *ports, uint32_t i, uint64_t since_ns,
				       char text[MH_PORT_STATE_MAX])
{
	(void)ports;
	assert_u_eq(since_ns, t.info.heard_ns);
	snprintf(text, MH_PORT_STATE_MAX, "state %u", i);
	return text;
}

void __real_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...);
void __wrap_mh_log(enum mrc_log_level level, const char *format, ...)
{
	va_list args;

	assert_int_equal(level, MRC_LOG_ERROR);
	va_start(args, format);
	vsnprintf(t.said, sizeof(t.said), format, args);
	va_end(args);
}

static int setup(void **state)
{
	static char engines;

	(void)state;
	memset(&t, 0, sizeof(t));
	mb_link_init(&t.nic.qps);
	mb_link_init(&t.nic.failed);
	t.nic.first = &t.nic;
	t.qp.dev = &t.dev;
	t.qp.mt = (struct mt_qp *)&engines;
	t.qp.number = 0x123;
	t.qp.init.send_cq = &t.send_cq;
	t.qp.init.recv_cq = &t.recv_cq;
	t.qp.init.cap.max_send_wr = DEPTH;
	t.qp.signaled = t.signaled;
	t.state = RD_QPS_RTS;
	mb_link_init(&t.qp.link);
	mb_list_push(&t.nic.qps, &t.qp.link);
	return 0;
}

#define EVENTS_TEST(function, name) TEST_WITH(setup, NULL, function, name)

static void deliver(struct mt_event event)
{
	t.events[0] = event;
	t.n = 1;
	assert_u_eq(mh_engine_events_drain(&t.nic, NOW_NS), 1);
}

static void complete(enum rd_wc_status status)
{
	deliver((struct mt_event){
		.type = MT_EVENT_SEND, .status = (uint8_t)status, .qp_user = &t.qp});
	assert_ptr_equal(t.cq, &t.send_cq);
	assert_u_eq(t.cqe.wc.status, status);
}

/* ---- how far the send queue is ---- */

EVENTS_TEST(mh_engine_events_drain, takes_a_success_for_those_before_it_that_report_none)
{
	t.qp.send.posted = 4;
	t.signaled[2] = t.signaled[3] = 1;
	complete(RD_WC_SUCCESS);
	assert_u_eq(t.cqe.wr, 3);
	complete(RD_WC_SUCCESS);
	assert_u_eq(t.cqe.wr, 4);
}

EVENTS_TEST(mh_engine_events_drain, takes_an_error_for_one_alone)
{
	t.qp.send.posted = 4;
	t.signaled[2] = 1;
	complete(RD_WC_WR_FLUSH_ERR);
	assert_u_eq(t.cqe.wr, 1);
	complete(RD_WC_WR_FLUSH_ERR);
	assert_u_eq(t.cqe.wr, 2);
}

EVENTS_TEST(mh_engine_events_drain, takes_none_for_more_than_was_posted)
{
	t.qp.send.posted = 3;
	complete(RD_WC_SUCCESS);
	assert_u_eq(t.cqe.wr, 3);
	complete(RD_WC_SUCCESS);
	assert_u_eq(t.cqe.wr, 3);
	complete(RD_WC_WR_FLUSH_ERR);
	assert_u_eq(t.cqe.wr, 3);
}

/* ---- what failed ---- */

EVENTS_TEST(mh_engine_events_drain, explains_a_qp_that_used_up_its_retries_alone)
{
	complete(RD_WC_SUCCESS);
	complete(RD_WC_REM_ACCESS_ERR);
	complete(RD_WC_WR_FLUSH_ERR);
	assert_u_eq(t.reported, 0);
	complete(RD_WC_RETRY_EXC_ERR);
	assert_u_eq(t.reported, 1);
}

EVENTS_TEST(mh_engine_events_drain, knows_that_a_send_said_why)
{
	complete(RD_WC_SUCCESS);
	assert_false(t.qp.send_failed);
	complete(RD_WC_WR_FLUSH_ERR);
	assert_false(t.qp.send_failed);
	complete(RD_WC_REM_ACCESS_ERR);
	assert_true(t.qp.send_failed);
}

static enum rd_wc_status completed_as(enum rd_wc_status status)
{
	deliver((struct mt_event){
		.type = MT_EVENT_SEND, .status = (uint8_t)status, .qp_user = &t.qp});
	return t.cqe.wc.status;
}

EVENTS_TEST(mh_engine_events_drain, says_once_that_memory_is_gone)
{
	t.qp.memory_gone = true;
	assert_int_equal(completed_as(RD_WC_SUCCESS), RD_WC_SUCCESS);
	assert_int_equal(completed_as(RD_WC_WR_FLUSH_ERR), RD_WC_LOC_PROT_ERR);
	assert_true(t.qp.send_failed);
	assert_int_equal(completed_as(RD_WC_WR_FLUSH_ERR), RD_WC_WR_FLUSH_ERR);
	t.qp.memory_gone = t.qp.send_failed = false;
	assert_int_equal(completed_as(RD_WC_WR_FLUSH_ERR), RD_WC_WR_FLUSH_ERR);
}

/* The peer is blamed where nothing of ours failed. */
EVENTS_TEST(mh_engine_events_drain, raises_the_end_of_a_qp)
{
	const struct mt_event end = {
		.type = MT_EVENT_QP, .status = RD_WC_REM_ACCESS_ERR, .qp_user = &t.qp};

	deliver(end);
	assert_ptr_equal(t.raised, &t.qp.fatal);
	assert_int_equal(t.qp.why, RD_WC_REM_ACCESS_ERR);
	assert_true(t.qp.responder);
	t.qp.memory_gone = true;
	deliver(end);
	assert_false(t.qp.responder);
	t.qp.memory_gone = false;
	t.qp.send_failed = true;
	deliver(end);
	assert_false(t.qp.responder);
}

EVENTS_TEST(mh_engine_fail_marked_qps, ends_those_whose_memory_is_gone)
{
	mh_engine_fail_marked_qps(&t.nic, NOW_NS);
	assert_null(t.raised);
	mb_link_init(&t.qp.failed);
	mb_list_push(&t.nic.failed, &t.qp.failed);
	mh_engine_fail_marked_qps(&t.nic, NOW_NS);
	assert_u_eq(t.modified, 1);
	assert_ptr_equal(t.raised, &t.qp.fatal);
	assert_int_equal(t.qp.why, RD_WC_LOC_PROT_ERR);
	assert_true(t.qp.memory_gone);
	assert_true(mb_link_is_empty(&t.nic.failed));
	assert_true(mb_link_is_empty(&t.qp.failed));
}

/* ---- the others ---- */

EVENTS_TEST(mh_engine_events_drain, says_what_a_receive_was)
{
	const struct mt_event got = {.type = MT_EVENT_RECV,
				     .status = RD_WC_SUCCESS,
				     .opcode = RD_WR_SEND,
				     .byte_len = 7,
				     .qp_user = &t.qp};
	struct mt_event with_imm = got;

	deliver(got);
	assert_ptr_equal(t.cq, &t.recv_cq);
	assert_u_eq(t.cqe.wr, 1);
	assert_u_eq(t.cqe.wc.byte_len, 7);
	assert_int_equal(t.cqe.wc.opcode, RD_WC_RECV);
	with_imm.opcode = RD_WR_WRITE;
	with_imm.imm_valid = true;
	deliver(with_imm);
	assert_u_eq(t.cqe.wr, 2);
	assert_int_equal(t.cqe.wc.opcode, RD_WC_RECV_IMM);
	assert_u_eq(t.cqe.wc.flags, RD_WC_WITH_IMM);
}

EVENTS_TEST(mh_engine_events_drain, raises_what_a_program_asked_for)
{
	static struct mh_srq srq;

	srq.dev = &t.dev;
	deliver((struct mt_event){.type = MT_EVENT_SRQ_LIMIT, .qp_user = &srq});
	assert_ptr_equal(t.raised, &srq.limit);
	t.qp.sqd_notify = true;
	deliver((struct mt_event){.type = MT_EVENT_SQ_DRAINED, .qp_user = &t.qp});
	assert_ptr_equal(t.raised, &t.qp.drained);
}

EVENTS_TEST(mh_engine_events_drain, raises_the_end_of_a_receive_queue)
{
	deliver((struct mt_event){.type = MT_EVENT_LAST_WQE, .qp_user = &t.qp});
	assert_ptr_equal(t.raised, &t.qp.last_wqe);
}

EVENTS_TEST(mh_engine_events_drain, logs_events_of_evs_and_ports)
{
	deliver((struct mt_event){.type = MT_EVENT_EV});
	assert_u_eq(t.ev_events, 1);
	assert_u_eq(t.segment_events, 1);
	assert_u_eq(t.logged, 0);
	deliver((struct mt_event){.type = MT_EVENT_PORT});
	assert_u_eq(t.ev_events, 1);
	assert_u_eq(t.segment_events, 2);
	assert_u_eq(t.logged, 1);
}

EVENTS_TEST(mh_engine_events_drain, gives_an_answer_to_who_asked)
{
	deliver((struct mt_event){.type = MT_EVENT_ENDPOINT});
	assert_u_eq(t.answers, 1);
	t.is_probe_of_ud = true;
	deliver((struct mt_event){.type = MT_EVENT_ENDPOINT});
	assert_u_eq(t.answers, 1);
}

/* ---- CQs that overran ---- */

static uint32_t modified_for(bool send, bool recv, enum rd_qp_state state)
{
	t.send_cq.overran = send;
	t.recv_cq.overran = recv;
	t.state = state;
	t.modified = 0;
	atomic_store(&t.nic.cq_overran, true);
	assert_u_eq(mh_engine_events_drain(&t.nic, NOW_NS), 0);
	assert_false(atomic_load(&t.nic.cq_overran));
	return t.modified;
}

EVENTS_TEST(mh_engine_events_drain, fails_the_qps_of_a_cq_that_overran)
{
	assert_u_eq(modified_for(false, false, RD_QPS_RTS), 0);
	assert_u_eq(modified_for(true, false, RD_QPS_RTS), 1);
	assert_u_eq(modified_for(false, true, RD_QPS_INIT), 1);
	assert_u_eq(modified_for(true, true, RD_QPS_ERR), 0);
	assert_u_eq(modified_for(true, true, RD_QPS_RESET), 0);
}

EVENTS_TEST(mh_engine_events_drain, fails_a_ud_qp_of_such_a_cq)
{
	t.qp.ud = (struct mu_qp *)t.qp.mt;
	t.qp.mt = NULL;
	assert_u_eq(modified_for(true, false, RD_QPS_RTS), 0);
	assert_u_eq(t.ud_failed, 1);
}

/* ---- why retries were used up ---- */

static const char *report(uint64_t now_ns)
{
	t.said[0] = '\0';
	__real_mh_report_retries(&t.nic, &t.qp, now_ns);
	return t.said;
}

static int setup_report(void **state)
{
	setup(state);
	t.nic.ports.n = 2;
	mh_addr_from_ip(10u << 24 | 1u << 16 | 1, t.nic.ports.map.local[0]);
	mh_addr_from_ip(10u << 24 | 1u << 16 | 1u << 8 | 1, t.nic.ports.map.local[1]);
	mh_addr_from_ip(10u << 24 | 1u << 16 | 9, t.info.dest.b);
	t.info.evs = EVS;
	/* What lies behind them is none of the QP's. */
	t.ev[EVS].state = MT_EV_DENIED;
	return 0;
}

#define REPORT_TEST(name) TEST_WITH(setup_report, NULL, mh_report_retries, name)

REPORT_TEST(says_of_each_port_how_many_paths_are_bad)
{
	t.ev[0].state = MT_EV_ASSUMED_BAD;
	t.ev[1].ev.port = 1;
	t.ev[1].state = MT_EV_DENIED;
	t.ev[2].state = MT_EV_GOOD;
	t.info.heard_ns = NOW_NS - 1500000000;
	assert_string_equal(report(NOW_NS),
			    "QP 0x000123 to 10.1.0.9 has used up its retries: no packet from it "
			    "for 1.50 s; port 0 (10.1.0.1): state 0, 1 of 2 paths bad; port 1 "
			    "(10.1.1.1): state 1, 1 of 1 paths bad");
}

/* A packet's stamp may be later than the clock that was read before it was taken. */
REPORT_TEST(says_nothing_of_paths_that_are_good)
{
	t.info.heard_ns = NOW_NS + 1;
	assert_string_equal(report(NOW_NS),
			    "QP 0x000123 to 10.1.0.9 has used up its retries: no packet from it "
			    "for 0.00 s; port 0 (10.1.0.1): state 0; port 1 (10.1.1.1): state 1");
}

/* A job that ends takes many with it; even one that ends soon after the machine began. */
REPORT_TEST(says_it_of_one_in_a_while)
{
	assert_true(strlen(report(GAP_NS / 2)) > 0);
	assert_string_equal(report(GAP_NS / 2 + GAP_NS - 1), "");
	assert_true(strlen(report(GAP_NS / 2 + GAP_NS)) > 0);
}
