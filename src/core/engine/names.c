/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - constant names of the core's enums, for displays and traces. */
#include "core/engine/engine.h"

const char *mt_qp_state_name(enum mt_qp_state s)
{
	static const char *const names[MT_QPS_COUNT] = {
		[MT_QPS_RESET] = "RESET", [MT_QPS_INIT] = "INIT", [MT_QPS_RTR] = "RTR",
		[MT_QPS_RTS] = "RTS",	  [MT_QPS_SQD] = "SQD",	  [MT_QPS_ERR] = "ERR",
	};

	return (unsigned)s < MT_QPS_COUNT ? names[s] : "?";
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
	};

	return (unsigned)c < MT_EV_CAUSES ? names[c] : "?";
}

const char *mt_wc_status_name(enum mt_wc_status s)
{
	switch (s) {
	case MT_WC_SUCCESS:
		return "success";
	case MT_WC_WR_FLUSH_ERR:
		return "WR flushed";
	case MT_WC_REM_INV_REQ_ERR:
		return "remote invalid request";
	case MT_WC_REM_ACCESS_ERR:
		return "remote access error";
	case MT_WC_REM_OP_ERR:
		return "remote operation error";
	case MT_WC_RETRY_EXC_ERR:
		return "retry exceeded";
	case MT_WC_FATAL_ERR:
		return "fatal error";
	case MT_WC_LOC_LEN_ERR:
		return "local length error";
	case MT_WC_LOC_PROT_ERR:
		return "local protection error";
	case MT_WC_RNR_RETRY_EXC_ERR:
		return "RNR retry exceeded";
	case MT_WC_MW_BIND_ERR:
		return "window bind error";
	case MT_WC_LOC_QP_OP_ERR:
		return "local QP operation error";
	}
	return "?";
}
