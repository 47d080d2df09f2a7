/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_hints.h - which EVs processes of a user found bad lately, for other processes of that user:
 * a file for each user, DIR/hints/DEVICE.UID, which the writer of the store makes and its user
 * alone may read.
 *
 * A hint is of one user and for that user: what his processes say can deceive nobody else, and
 * tells nobody else with whom they talk. It is replaced whole by rename(2), in a folder of its own,
 * so that those who wait for a new state of the store do not hear of it. See docs/design/0053.
 *
 * Functions return 0 or a positive errno value. None blocks but for the file system; any thread.
 */
#ifndef SOFTMRC_STORE_STORE_HINTS_H
#define SOFTMRC_STORE_STORE_HINTS_H

#include <stdint.h>
#include <sys/types.h>

#include "store/store.h"

/* Of one user: all EVs of a plane to some tens of destinations. */
#define STORE_HINTS_MAX 1024u
/* What is older says nothing any more: links are repaired, and nobody has used it meanwhile. */
#define STORE_HINT_AGE_NS UINT64_C(300000000000)

/* An EV that did not lead from one address to another. 56 bytes. */
struct store_hint {
	uint64_t heard_ns; /* CLOCK_MONOTONIC, when it went bad */
	uint8_t from[16], to[16];
	uint32_t number; /* of the EV, as that process names it */
	uint16_t profile, index;
	uint8_t port; /* from 1 */
	uint8_t zero[7];
};

/*
 * store_hints_save replaces the hints of a user in a store's folder, which is there; n 0 removes
 * them. EPERM and others of open(2), write(2), fsetxattr(2), rename(2): what was there stays.
 * EOPNOTSUPP: another user than this one, on a file system without ACLs.
 */
int store_hints_save(const char *dir, const char *device, uid_t uid, const struct store_hint *hints,
		     uint32_t n);
/* store_hints_clear removes the hints of all users. 0 where there are none; errors as above. */
int store_hints_clear(const char *dir, const char *device);
/*
 * store_hints_load copies the hints for this process's user that are not too old at now_ns, and
 * writes how many. ENOENT: there are none. EPERM: folder or file are not to be believed. EBADMSG:
 * what lies there is damaged or of another version.
 */
int store_hints_load(const char *dir, const char *device, uint64_t now_ns,
		     struct store_hint hints[STORE_HINTS_MAX], uint32_t *n);

#endif
