/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prom_curl.h - libcurl, loaded when a Prometheus is asked: it wants thirty libraries, and the
 * command begins often and speaks HTTP seldom.
 */
#ifndef SOFTMRC_CLI_MAP_PROM_CURL_H
#define SOFTMRC_CLI_MAP_PROM_CURL_H

#include <stdbool.h>
#include <stddef.h>

/* Its checks of types are of calls by name. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* The calls of libcurl that are used; as curl/curl.h has them. */
struct prom_curl {
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_setopt) *setopt;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_getinfo) *getinfo;
	__typeof__(curl_easy_reset) *reset;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__(curl_easy_strerror) *strerror;
	__typeof__(curl_easy_escape) *escape;
	__typeof__(curl_free) *free;
};

/*
 * prom_curl_load finds them, in the library of Debian or that of others; it is never unloaded, for
 * the libraries below it keep what they have begun. False and a sentence: there is none.
 */
bool prom_curl_load(struct prom_curl *c, char *why, size_t size);

#endif
