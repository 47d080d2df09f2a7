/* SPDX-License-Identifier: BSD-2-Clause */
/* store_format.c - makes and checks the bytes of a store. No system call, no allocation. */
#include "store/store_format.h"

#include <errno.h>
#include <string.h>

#include "wire/icrc.h"

_Static_assert(sizeof(struct store_header) == 96 && offsetof(struct store_header, crc) == 92,
	       "a header is written byte by byte, so it has no bytes between fields");

/* The state is checked in one go with the header, so that none goes with another's. */
static uint32_t checksum(const struct store_header *h, const struct mn_state *s)
{
	uint32_t crc = mw_crc32_update(UINT32_MAX, h, offsetof(struct store_header, crc));

	return mw_crc32_update(crc, s, h->state_bytes);
}

void store_header_make(struct store_header *h, const struct mn_state *s,
		       const struct store_info *info)
{
	*h = (struct store_header){
		.magic = STORE_MAGIC,
		.version = STORE_VERSION,
		.layout = sizeof(*s),
		.state_bytes = (uint32_t)mn_state_bytes(s),
		.info = *info,
	};
	h->crc = checksum(h, s);
}

static int refuse(const char **why, int code, const char *text)
{
	*why = text;
	return code;
}

/* It goes to terminals. */
static bool is_printable(const char by[STORE_BY_MAX])
{
	size_t len = strnlen(by, STORE_BY_MAX);

	for (size_t i = 0; i < len; i++)
		if (by[i] < ' ' || by[i] > '~')
			return false;
	return len < STORE_BY_MAX;
}

int store_header_check(const struct store_header *h, uint64_t file_bytes, const char **why)
{
	if (file_bytes < sizeof(*h) || memcmp(h->magic, STORE_MAGIC, sizeof(h->magic)) != 0)
		return refuse(why, EBADMSG, "is no store of a device");
	if (h->version != STORE_VERSION || h->layout != sizeof(struct mn_state))
		return refuse(why, EPROTONOSUPPORT,
			      "is of another version of softmrc; restart its writer and this "
			      "program with the same one");
	if (h->state_bytes < offsetof(struct mn_state, evs) ||
	    h->state_bytes > sizeof(struct mn_state) || h->state_bytes != file_bytes - sizeof(*h))
		return refuse(why, EBADMSG, "is cut off or too long");
	if (!is_printable(h->info.by))
		return refuse(why, EBADMSG, "is damaged: its writer has no name");
	return 0;
}

int store_state_check(const struct store_header *h, const struct mn_state *s, const char **why)
{
	if (checksum(h, s) != h->crc)
		return refuse(why, EBADMSG, "is damaged: its checksum is wrong");
	if (s->n_evs > MN_EVS_MAX || h->state_bytes != mn_state_bytes(s))
		return refuse(why, EBADMSG, "is not sound: it is not as long as its EVs");
	return mn_state_check(s, why) ? 0 : EBADMSG;
}
