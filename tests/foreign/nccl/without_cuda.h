/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * without_cuda.h - is included before each source file of NCCL's network transport over verbs, so
 * that it can be compiled where there is no CUDA.
 *
 * NCCL's headers of communicators, of the topology and of GPUs' memory are kept out by the names
 * that guard them; the transport itself uses of them what is declared here.
 */
#ifndef FOREIGN_WITHOUT_CUDA_H
#define FOREIGN_WITHOUT_CUDA_H

#define NCCL_OS_LINUX 1
#define NCCL_ALLOC_H_
#define NCCL_COMM_H_
#define NCCL_CORE_H_
#define NCCL_CUDAWRAP_H_
#define NCCL_GDRWRAP_H_
#define NCCL_GRAPH_H_
#define NCCL_MEM_MANAGER_H_
#define NCCL_NVTX_H_
#define NCCL_P2P_H_

#include <algorithm>
#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_runtime.h"
#include "nccl.h"

typedef struct ncclComm *ncclComm_t;

#include "checks.h"
#include "debug.h"
#include "param.h"

/* Zeroed, as NCCL's are. */
template <typename T> static ncclResult_t ncclCalloc(T **at, size_t count)
{
	*at = static_cast<T *>(calloc(count ? count : 1, sizeof(T)));
	return *at ? ncclSuccess : ncclSystemError;
}

template <typename T> static ncclResult_t ncclRealloc(T **at, size_t old_count, size_t count)
{
	T *larger = static_cast<T *>(realloc(static_cast<void *>(*at), count * sizeof(T)));

	if (!larger)
		return ncclSystemError;
	memset(static_cast<void *>(larger + old_count), 0, (count - old_count) * sizeof(T));
	*at = larger;
	return ncclSuccess;
}

/* Whole pages, for what is registered must not share one with other memory. */
static inline ncclResult_t foreign_ib_malloc(void **at, size_t bytes)
{
	size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));

	bytes = (bytes + page - 1) / page * page;
	if (posix_memalign(at, page, bytes) != 0)
		return ncclSystemError;
	memset(*at, 0, bytes);
	return ncclSuccess;
}
#define ncclIbMalloc foreign_ib_malloc

#include "utils.h"
#if __has_include(<bitops.h>)
#include "bitops.h"
#else
#include "align.h"
#endif
#if __has_include(<os.h>)
#include "os.h"
#endif

#endif
