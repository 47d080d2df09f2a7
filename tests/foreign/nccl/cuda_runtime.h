/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cuda_runtime.h - what NCCL's network transport names of CUDA, for a machine without it: there is
 * no GPU, and every call says so.
 */
#ifndef FOREIGN_CUDA_RUNTIME_H
#define FOREIGN_CUDA_RUNTIME_H

#include <stddef.h>

enum cudaError_t { cudaSuccess = 0, cudaErrorNoDevice = 100 };
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
enum { cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2 };
typedef struct CUstream_st *cudaStream_t;

static inline const char *cudaGetErrorString(cudaError_t)
{
	return "no GPU";
}

static inline cudaError_t cudaGetLastError()
{
	return cudaSuccess;
}

static inline cudaError_t cudaGetDevice(int *)
{
	return cudaErrorNoDevice;
}

static inline cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int)
{
	return cudaErrorNoDevice;
}

static inline cudaError_t cudaDeviceGetPCIBusId(char *, int, int)
{
	return cudaErrorNoDevice;
}

static inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *)
{
	return cudaErrorNoDevice;
}

static inline cudaError_t cudaHostRegister(void *, size_t, unsigned int)
{
	return cudaErrorNoDevice;
}

static inline cudaError_t cudaHostUnregister(void *)
{
	return cudaErrorNoDevice;
}

static inline cudaError_t cudaHostGetDevicePointer(void **, void *, unsigned int)
{
	return cudaErrorNoDevice;
}

#endif
