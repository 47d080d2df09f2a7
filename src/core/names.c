/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - constant names of the core's enums, for displays and traces. */
#include "core/engine.h"

const char *mt_qp_state_name(enum rd_qp_state s)
{
	static const char *const names[RD_QPS_COUNT] = {
		[RD_QPS_RESET] = "RESET", [RD_QPS_INIT] = "INIT", [RD_QPS_RTR] = "RTR",
		[RD_QPS_RTS] = "RTS",	  [RD_QPS_SQD] = "SQD",	  [RD_QPS_ERR] = "ERR",
	};

	return (unsigned)s < RD_QPS_COUNT ? names[s] : "?";
}

const char *mt_ev_state_name(enum mt_ev_state s)
{
	static const char *const names[MT_EV_STATES] = {
		[MT_EV_GOOD] = "GOOD",
		[MT_EV_SKIP] = "SKIP",
		[MT_EV_ASSUMED_BAD] = "ASSUMED_BAD",
		[MT_EV_DENIED] = "DENIED",
	};

	return (unsigned)s < MT_EV_STATES ? names[s] : "?";
}

const char *mt_ev_cause_name(enum mt_ev_cause c)
{
	static const char *const names[MT_EV_CAUSES] = {
		[MT_EV_BY_LOSS] = "loss",	  [MT_EV_BY_MARK] = "mark",
		[MT_EV_BY_PROBE] = "probe",	  [MT_EV_BY_FLOOR] = "floor",
		[MT_EV_BY_OPERATOR] = "operator", [MT_EV_BY_PORT] = "port",
		[MT_EV_BY_LATE] = "late",	  [MT_EV_BY_HINT] = "hint",
	};

	return (unsigned)c < MT_EV_CAUSES ? names[c] : "?";
}

const char *mt_wc_status_name(enum rd_wc_status s)
{
	static const char *const names[RD_WC_STATUSES] = {
		[RD_WC_SUCCESS] = "success",
		[RD_WC_WR_FLUSH_ERR] = "WR flushed",
		[RD_WC_REM_INV_REQ_ERR] = "remote invalid request",
		[RD_WC_REM_ACCESS_ERR] = "remote access error",
		[RD_WC_REM_OP_ERR] = "remote operation error",
		[RD_WC_RETRY_EXC_ERR] = "retry exceeded",
		[RD_WC_FATAL_ERR] = "fatal error",
		[RD_WC_LOC_LEN_ERR] = "local length error",
		[RD_WC_LOC_PROT_ERR] = "local protection error",
		[RD_WC_RNR_RETRY_EXC_ERR] = "RNR retry exceeded",
		[RD_WC_MW_BIND_ERR] = "window bind error",
		[RD_WC_LOC_QP_OP_ERR] = "local QP operation error",
	};

	return (unsigned)s < RD_WC_STATUSES ? names[s] : "?";
}
