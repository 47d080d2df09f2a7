/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_args.h - what a request, or a table of the configuration file, asks for: a JSON object whose
 * members are taken by name, kind and range. Every error names the member, its value and what is
 * allowed.
 *
 * Functions return 0, or a positive errno value with *e filled in. A member that is not there
 * leaves what it would write as it was. Nothing blocks; any thread.
 */
#ifndef SOFTMRC_MRCD_MD_ARGS_H
#define SOFTMRC_MRCD_MD_ARGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/node_state.h"

struct md_error {
	int code;
	char key[48]; /* the member that is wrong; empty: none alone is */
	char text[256];
};

/* Room for an EV as text: "32:x" and 64 digits. */
#define MD_EV_TEXT 72u

/* md_refuse fills in *e and returns code. */
__attribute__((format(printf, 4, 5))) int md_refuse(struct md_error *e, int code, const char *key,
						    const char *format, ...);
/* md_refuse_value says of a member that its value is not what `allowed` says. EINVAL. */
int md_refuse_value(struct md_error *e, const json_t *args, const char *key, const char *allowed);

/* md_args_only refuses members other than those of `known`, up to a NULL, by a near name. */
int md_args_only(const json_t *args, const char *const *known, struct md_error *e);
static inline bool md_args_has(const json_t *args, const char *key)
{
	return json_object_get(args, key) != NULL;
}

int md_args_u32(const json_t *args, const char *key, uint32_t min, uint32_t max, uint32_t *out,
		struct md_error *e);
int md_args_real(const json_t *args, const char *key, float max, float *out, struct md_error *e);
int md_args_bool(const json_t *args, const char *key, bool *out, struct md_error *e);
/* md_args_text: printable ASCII of at most `most` bytes; *out is the member's own. */
int md_args_text(const json_t *args, const char *key, size_t most, const char **out,
		 struct md_error *e);
/* md_args_word writes which of the words, up to a NULL, it is. */
int md_args_word(const json_t *args, const char *key, const char *const *words, uint32_t *out,
		 struct md_error *e);
/* md_args_u32s takes a list of at most `most` numbers. */
int md_args_u32s(const json_t *args, const char *key, uint32_t max, uint32_t *out, uint32_t most,
		 uint32_t *n, struct md_error *e);
/* md_args_need refuses a request without the member. */
int md_args_need(const json_t *args, const char *key, struct md_error *e);

/* ---- EVs as text: "PORT:EV" ---- */

/*
 * md_ev_read reads "2:49153", "2:0xc0010003", "2:fd00::1" or "2:x" with hexadecimal bytes. false:
 * it is none of these.
 */
bool md_ev_read(const char *text, struct mn_ev *ev);
#define MD_EV_FORM "PORT:EV, such as 2:49153, 2:0xc0010003, 2:fd00::1 or 2:x0a0b with bytes in hex"
/* md_ev_write writes an EV as md_ev_read reads it: a number where only the first 4 bytes count. */
char *md_ev_write(const struct mn_ev *ev, char out[MD_EV_TEXT]);

#endif
