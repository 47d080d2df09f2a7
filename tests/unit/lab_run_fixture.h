/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_run_fixture.h - tests of a lab's file, each with a /run of its own: LAB_RUN_TEST. They skip
 * where none can be had.
 */
#ifndef UNIT_LAB_RUN_FIXTURE_H
#define UNIT_LAB_RUN_FIXTURE_H

#include "lab/lab_state.h"
#include "support/test.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#define LAB_RUN_NAME "u1"
#define LAB_RUN_REFUSED(folder) \
	folder ": must be a folder of root that nobody else can write to; remove it"

static inline int lab_run_open(void **state)
{
	struct ml_error e;

	(void)state;
	if (geteuid() != 0 && ml_rootless_enter(&e))
		test_skip(e.text);
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, "mode=755") != 0)
		test_skip("a /run of its own cannot be had");
	return 0;
}

static inline int lab_run_leave(void **state)
{
	(void)state;
	return umount2("/run", MNT_DETACH);
}

#define LAB_RUN_TEST(function, name) TEST_WITH(lab_run_open, lab_run_leave, function, name)

static inline void lab_run_shell(const char *line)
{
	if (system(line) != 0)
		fail_msg("%s", line);
}

/* Makes the folders, as whoever changes a lab. */
static inline void lab_run_make_folders(void)
{
	struct ml_error e;
	int lock = ml_state_lock(&e);

	assert_true(lock >= 0);
	close(lock);
}

/* Makes a lab in memory, of a preset, a file, or its text. */
static inline struct ml_lab *lab_run_create(const char *topology, const char *text)
{
	struct ml_error e;
	struct ml_lab *lab = ml_state_create(LAB_RUN_NAME, topology, text, &e);

	if (!lab)
		fail_msg("%s", e.text);
	return lab;
}

#endif
