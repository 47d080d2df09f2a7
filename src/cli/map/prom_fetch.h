/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prom_fetch.h - answers of a Prometheus' HTTP API. What answers may be anybody: an answer is at
 * most PROM_BYTES_MAX long and its headers PROM_HEADER_BYTES_MAX, all of them together come within
 * PROM_MS_MAX, JSON is at most as deep as jansson reads it (2,048), nothing is decompressed, no
 * redirection is followed, and nothing but http and https is spoken.
 */
#ifndef SOFTMRC_CLI_MAP_PROM_FETCH_H
#define SOFTMRC_CLI_MAP_PROM_FETCH_H

#include <jansson.h>

#include "ui/text.h"

#define PROM_BYTES_MAX (64u << 20)
#define PROM_HEADER_BYTES_MAX 65536u
#define PROM_MS_MAX 30000u
#define PROM_WHY_BYTES 320u

struct prom;

/*
 * prom_open begins with a URL such as "http://host:9090", which must outlive it; the time for all
 * answers begins, too. NULL and a sentence: no memory, or this build has no libcurl.
 */
struct prom *prom_open(const char *url, char why[PROM_WHY_BYTES]);
/* prom_close frees it; NULL is allowed. */
void prom_close(struct prom *p);

/*
 * prom_query asks for the value of a query now, and returns the list of its series, which the
 * caller drops; it blocks for what is left of PROM_MS_MAX. NULL and a sentence: no answer, or none
 * that an instant query has; what is in the list is not looked at.
 */
json_t *prom_query(struct prom *p, const char *query, char why[PROM_WHY_BYTES]);

#endif
