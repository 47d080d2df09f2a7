/* SPDX-License-Identifier: BSD-2-Clause */
/* prom_curl.c - see prom_curl.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if SOFTMRC_HAS_CURL

#include "cli/map/prom_curl.h"

static const struct {
	const char *name;
	size_t at;
} calls[] = {
	{"curl_easy_init", offsetof(struct prom_curl, init)},
	{"curl_easy_setopt", offsetof(struct prom_curl, setopt)},
	{"curl_easy_perform", offsetof(struct prom_curl, perform)},
	{"curl_easy_getinfo", offsetof(struct prom_curl, getinfo)},
	{"curl_easy_reset", offsetof(struct prom_curl, reset)},
	{"curl_easy_cleanup", offsetof(struct prom_curl, cleanup)},
	{"curl_easy_strerror", offsetof(struct prom_curl, strerror)},
	{"curl_easy_escape", offsetof(struct prom_curl, escape)},
	{"curl_free", offsetof(struct prom_curl, free)},
};

bool prom_curl_load(struct prom_curl *c, char *why, size_t size)
{
	void *library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *address = dlsym(library, calls[i].name);

		if (!address)
			library = NULL;
		memcpy((char *)c + calls[i].at, &address, sizeof(address));
	}
	if (!library)
		snprintf(why, size, "libcurl (package libcurl3-gnutls): %s", dlerror());
	return library;
}

#endif
