/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_fixture.h - a folder of a case's own, and states that differ in all their parts. Pass
 * store_setup and store_teardown to TEST_WITH.
 */
#ifndef UNIT_STORE_FIXTURE_H
#define UNIT_STORE_FIXTURE_H

#include "support/open_fds.h"
#include "support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"

#define DEVICE "mrc0"
#define BY "unit 1 ~"

static char store_dir[] = "/tmp/mrc-store-XXXXXX";
static char store_file[64];
static struct store_error error, lost;

static uint32_t store_open_before;

static inline int store_setup(void **state)
{
	(void)state;
	store_open_before = test_open_fds();
	memcpy(store_dir + sizeof(store_dir) - 7, "XXXXXX", 6);
	if (!mkdtemp(store_dir) || chmod(store_dir, 0755))
		return -1;
	snprintf(store_file, sizeof(store_file), "%s/" DEVICE ".state", store_dir);
	return 0;
}

static inline int store_remove_folder(void)
{
	DIR *dir = opendir(store_dir);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, entry->d_type == DT_DIR ? AT_REMOVEDIR : 0);
	if (dir)
		closedir(dir);
	return rmdir(store_dir);
}

/* Whatever was refused, or failed, no case leaves a descriptor open. */
static inline int store_teardown(void **state)
{
	(void)state;
	assert_u_eq(test_open_fds(), store_open_before);
	return store_remove_folder();
}

#define STORE_TEST(function, name) TEST_WITH(store_setup, store_teardown, function, name)

/* A sound state with n EVs denied in the device's own profile, and port 2 suspended. */
static inline void denying(struct mn_state *s, uint32_t n)
{
	mn_state_init(s);
	s->port_admin[1] = MN_PORT_SUSPENDED;
	for (uint32_t i = 0; i < n; i++)
		s->evs[i] = (struct mn_ev){
			.val = {(uint8_t)i, 0xc0}, .port = 1, .denied = 1, .denied_by = 1000};
	s->n_evs = s->ev[MN_OWN_PROFILE].n_evs = n;
	for (uint32_t id = 1; id < MN_EV_PROFILES; id++)
		s->ev[id].first = n;
}

/* A sound state that is as long as one can be: as many profiles as that takes are full. */
static inline void fill(struct mn_state *s)
{
	mn_state_init(s);
	for (uint32_t id = 0; id < MN_EV_PROFILES; id++) {
		struct mn_ev_profile *p = &s->ev[id];

		p->first = s->n_evs;
		if (s->n_evs == MN_EVS_MAX)
			continue;
		if (id != MN_OWN_PROFILE) {
			p->state = MN_OFFLINE;
			p->mode = MN_MODE_EXPLICIT;
		}
		p->n_evs = MN_EVS_PROFILE_MAX;
		p->count = id == MN_OWN_PROFILE ? 0 : p->n_evs;
		for (uint32_t i = 0; i < p->n_evs; i++)
			s->evs[s->n_evs++] = (struct mn_ev){.val = {(uint8_t)i}, .port = 1};
	}
}

static inline void expect_same(const struct mn_state *got, const struct mn_state *want)
{
	assert_u_eq(got->n_evs, want->n_evs);
	assert_bytes_eq(got, want, mn_state_bytes(want));
}

static inline void commit(const struct mn_state *s)
{
	static struct mn_state found;
	struct store_writer w;

	if (store_writer_open(&w, store_dir, DEVICE, BY, &found, &lost, &error) ||
	    store_writer_commit(&w, s, &error))
		fail_msg("%s", error.text);
	store_writer_close(&w);
}

#endif
