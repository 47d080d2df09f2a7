/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nccl.h - the types of NCCL's header that network plugins are compiled with, for building them,
 * and the harness, where NCCL is not installed. Names and values are NCCL's.
 */
#ifndef FOREIGN_NCCL_H
#define FOREIGN_NCCL_H

typedef enum {
	ncclSuccess = 0,
	ncclUnhandledCudaError = 1,
	ncclSystemError = 2,
	ncclInternalError = 3,
	ncclInvalidArgument = 4,
	ncclInvalidUsage = 5,
	ncclRemoteError = 6,
	ncclInProgress = 7
} ncclResult_t;

typedef enum { ncclInt8 = 0, ncclUint8 = 1, ncclInt32 = 2, ncclFloat32 = 7 } ncclDataType_t;
typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3 } ncclRedOp_t;

#endif
