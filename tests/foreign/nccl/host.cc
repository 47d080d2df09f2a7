/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.cc - what NCCL's network transport takes from the rest of NCCL, of all versions that
 * programs.py knows: messages, settings, names of threads.
 *
 * NET_VERBOSE in the environment lets NCCL's messages of level INFO through.
 */
#include <stdarg.h>
#include <stdio.h>
#include <thread>

int ncclDebugLevel = NCCL_LOG_INFO;
uint64_t ncclDebugMask = NCCL_NET;
thread_local int ncclDebugNoWarn;

static void say(int level, const char *where, int line, const char *format, va_list args)
{
	static const bool verbose = getenv("NET_VERBOSE");

	if ((level > NCCL_LOG_WARN || ncclDebugNoWarn) && !verbose)
		return;
	flockfile(stderr);
	fprintf(stderr, "NCCL: %s:%d: ", where ? where : "-", line);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void ncclDebugLog(ncclDebugLogLevel level, unsigned long, const char *where, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(level, where, line, format, args);
	va_end(args);
}

/* Declared here too: its like of older versions is the one above. */
void ncclDebugLogInternal(ncclDebugLogLevel level, unsigned long flags, const char *file, const char *func, int line,
			  const char *format, ...);

void ncclDebugLogInternal(ncclDebugLogLevel level, unsigned long, const char *file, const char *, int line,
			  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(level, file, line, format, args);
	va_end(args);
}

ncclResult_t ncclInitEnv();
const char *ncclEnvPluginGetEnv(const char *name);
int ncclParamSetCpuStackSize();
extern "C" bool ncclParamIsCacheDisabled(const char *key);
void ncclSetThreadName(std::thread &thread, const char *format, ...);
void ncclSetThreadName(pthread_t thread, const char *format, ...);

ncclResult_t ncclInitEnv()
{
	return ncclSuccess;
}

const char *ncclEnvPluginGetEnv(const char *name)
{
	return getenv(name);
}

int ncclParamSetCpuStackSize()
{
	return 0;
}

extern "C" bool ncclParamIsCacheDisabled(const char *)
{
	return false;
}

void ncclSetThreadName(std::thread &, const char *, ...)
{
}

void ncclSetThreadName(pthread_t, const char *, ...)
{
}
