/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_change.h - changes of a device's state as a request, or a table of the configuration file,
 * asks for them, and the state as an answer shows it.
 *
 * Changes are made of a copy, which the caller drops after an error. A profile is led step by step
 * to the state that is asked for. Functions return 0, or a positive errno value and *e. Nothing
 * blocks; one thread at a time for each state.
 */
#ifndef SOFTMRC_MRCD_MD_CHANGE_H
#define SOFTMRC_MRCD_MD_CHANGE_H

#include "mrcd/md_args.h"

/* Names of enum mn_port_admin, enum mn_profile_state and EV modes, in both directions. */
extern const char *const md_admin_words[];
extern const char *const md_state_words[];
extern const char *const md_mode_words[];
extern const char *const md_format_words[];
extern const char *const md_algorithm_words[];
extern const char *const md_denier_words[];
/* md_bit_index returns the place of the lowest bit. */
static inline uint32_t md_bit_index(uint32_t bit)
{
	return bit ? (uint32_t)__builtin_ctz(bit) : 0;
}

/* NSCC's parameters by name. */
struct md_nscc_member {
	const char *name;
	size_t at;
	float max; /* of those with a point; 0: a whole number of 32 bits */
};
extern const struct md_nscc_member md_nscc_members[]; /* up to one without a name */

typedef int md_change_fn(struct mn_state *s, const struct mn_device *d, const json_t *args,
			 struct md_error *e);
/* Their members are those of the configuration file: docs/operation.md. */
md_change_fn md_change_port, md_change_format, md_change_ev_profile, md_change_cc;
/*
 * profile, evs, by: they are denied, or allowed again, all or none. By "drain" nothing is changed
 * of what is denied already, and only what a drain denied is allowed again.
 */
md_change_fn md_change_deny, md_change_undeny;
/* profile, ev, with, all: an EV of an EXPLICIT profile gets another value. */
md_change_fn md_change_replace;

/* ---- answers: md_show.c; each returns a new value ---- */

json_t *md_show_ports(const struct mn_state *s, const struct mn_device *d);
json_t *md_show_format(const struct mn_state *s, uint32_t id);
json_t *md_show_cc(const struct mn_state *s, uint32_t id);
/* `notes` has reasons by "PROFILE/PORT:EV"; or NULL. */
json_t *md_show_ev_profile(const struct mn_state *s, uint32_t id, const json_t *notes);
/* md_note_key writes the key of an EV's note. */
char *md_note_key(uint32_t profile, const struct mn_ev *ev, char out[MD_EV_TEXT + 12]);

#endif
