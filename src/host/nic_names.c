/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - constant names of what nic.h enumerates. */
#include "base/assert.h"
#include "core/engine/engine.h"
#include "host/nic.h"

const char *mh_wc_status_name(enum mh_wc_status status)
{
	switch (status) {
	case MH_WC_SUCCESS:
		return "success";
	case MH_WC_LOC_PROT_ERR:
		return "local protection error";
	case MH_WC_WR_FLUSH_ERR:
		return "work request flushed error";
	case MH_WC_REM_INV_REQ_ERR:
		return "remote invalid request error";
	case MH_WC_REM_ACCESS_ERR:
		return "remote access error";
	case MH_WC_REM_OP_ERR:
		return "remote operation error";
	case MH_WC_RETRY_EXC_ERR:
		return "transport retry counter exceeded";
	case MH_WC_FATAL_ERR:
		return "fatal error";
	case MH_WC_LOC_LEN_ERR:
		return "local length error";
	case MH_WC_RNR_RETRY_EXC_ERR:
		return "RNR retry counter exceeded";
	case MH_WC_MW_BIND_ERR:
		return "memory window bind error";
	case MH_WC_LOC_QP_OP_ERR:
		return "local QP operation error";
	}
	return "unknown status";
}

const char *mh_qp_state_name(enum mh_qp_state state)
{
	return mt_qp_state_name((enum mt_qp_state)state);
}

const char *mh_async_type_name(enum mh_async_type type)
{
	switch (type) {
	case MH_ASYNC_CQ_ERR:
		return "CQ error";
	case MH_ASYNC_QP_FATAL:
		return "QP fatal error";
	case MH_ASYNC_SQ_DRAINED:
		return "send queue drained";
	case MH_ASYNC_LAST_WQE:
		return "last receive taken";
	case MH_ASYNC_SRQ_LIMIT:
		return "SRQ limit reached";
	case MH_ASYNC_PORT_DOWN:
		return "port error";
	case MH_ASYNC_PORT_UP:
		return "port active";
	}
	return "unknown event";
}
