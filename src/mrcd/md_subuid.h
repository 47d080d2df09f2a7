/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * md_subuid.h - whose a number of a user is: his who was given it as a subordinate one. With these
 * one user is many to the kernel, in user namespaces and, by files that set the user, outside.
 *
 * subuid(5) says which they are. libsubid would say so too, but asks a directory service where
 * nsswitch.conf names one, and whoever connects would have mrcd wait for that, each time. So long
 * as the file stays the same, each of its names is looked for once.
 */
#ifndef SOFTMRC_MRCD_MD_SUBUID_H
#define SOFTMRC_MRCD_MD_SUBUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define MD_SUBUID_FILE "/etc/subuid"
/*
 * Lines beyond these are not read, and a range costs 288 bytes. useradd(8) gives 65,536 numbers, of
 * which there are no more such ranges.
 */
#define MD_SUBUID_LINES_MAX 65536u

struct md_subuid_range;

struct md_subuid {
	const char *path;
	struct stat seen; /* the file as it was read */
	struct md_subuid_range *range;
	size_t n;
};

/* md_subuid_init: the file is read when it is first asked for. `path` stays the caller's. */
void md_subuid_init(struct md_subuid *s, const char *path);
void md_subuid_fini(struct md_subuid *s);
/*
 * md_subuid_account returns the same number for all uids of one user: his own uid. Numbers of root,
 * or of a name that is no user, or cannot be looked up, are accounts of their own, one a range,
 * above all uids; one number alone is an account as it is. Where ranges overlap the first line
 * counts; a user's own uid within another's range is that other's, who can be him. Reads the file
 * again where it has changed; what cannot be read leaves what was read before, and no file is an
 * empty one.
 */
uint64_t md_subuid_account(struct md_subuid *s, uint32_t uid);

#endif
