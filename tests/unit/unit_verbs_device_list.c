/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_verbs_device_list.c - our devices and those of the system's library in one list, and what is
 * given back of it: src/libibverbs/device_list.c, over a library and devices that are made up.
 */
#include "libibverbs/real_library.h"
#include "support/test.h"

#include <stdarg.h>
#include <stdio.h>

_Atomic(const struct mv_real *) mv_real_loaded;

/* ---- the system's library ---- */

#define THEIRS_MAX 3

static struct ibv_device theirs[THEIRS_MAX];
static int n_theirs, lists_open;
static bool cannot_list;

static struct ibv_device **their_list(int *n)
{
	struct ibv_device **list = cannot_list ? NULL : calloc(THEIRS_MAX + 1, sizeof(*list));

	*n = list ? n_theirs : 0;
	for (int i = 0; list && i < n_theirs; i++)
		list[i] = &theirs[i];
	lists_open += list != NULL;
	return list;
}

static void their_free(struct ibv_device **list)
{
	lists_open--;
	free(list);
}

static const struct mv_real real = {.ibv_get_device_list = their_list,
				    .ibv_free_device_list = their_free};

const struct mv_real *mv_real_load(void)
{
	return mv_real();
}

static int synced;

void mv_private_sync_drivers(void)
{
	synced++;
}

/* ---- ours ---- */

#define OURS 2u

static struct ibv_device ours[OURS];
static uint32_t first_number;
static int probe_fails;

int mv_device_probe(uint32_t first, uint32_t *n)
{
	first_number = first;
	*n = OURS;
	return probe_fails;
}

struct ibv_device *mv_device_nth(uint32_t i)
{
	return &ours[i];
}

bool mv_device_is_ours(const struct ibv_device *device)
{
	return device >= ours && device < ours + OURS;
}

static char said[200];

void mh_log(enum mrc_log_level level, const char *format, ...)
{
	va_list ap;

	assert_i_eq(level, MRC_LOG_WARNING);
	va_start(ap, format);
	vsnprintf(said, sizeof(said), format, ap);
	va_end(ap);
}

/* The n-th allocation from now fails; 0: none. */
static int no_memory;

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes)
{
	errno = ENOMEM;
	return no_memory > 0 && --no_memory == 0 ? NULL : __real_calloc(n, bytes);
}

static int setup(void **state)
{
	(void)state;
	atomic_store(&mv_real_loaded, &real);
	for (int i = 0; i < THEIRS_MAX; i++)
		snprintf(theirs[i].dev_name, sizeof(theirs[i].dev_name), "uverbs%d", i);
	n_theirs = THEIRS_MAX;
	cannot_list = false;
	lists_open = synced = probe_fails = no_memory = 0;
	said[0] = '\0';
	return 0;
}

/* Each list of theirs goes back with the one that it is in. */
static int teardown(void **state)
{
	(void)state;
	assert_i_eq(lists_open, 0);
	return 0;
}

#define LIST_TEST(name) TEST_WITH(setup, teardown, ibv_get_device_list, name)

static void expect_list(int n)
{
	int got = -1;
	struct ibv_device **list = ibv_get_device_list(&got);

	assert_non_null(list);
	assert_i_eq(got, n);
	for (uint32_t i = 0; i < OURS; i++)
		assert_ptr_equal(list[i], &ours[i]);
	for (int i = OURS; i < n; i++)
		assert_ptr_equal(list[i], &theirs[i - (int)OURS]);
	assert_null(list[n]);
	ibv_free_device_list(list);
}

LIST_TEST(ours_and_theirs)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **other = ibv_get_device_list(NULL);

	assert_i_eq(lists_open, 2);
	ibv_free_device_list(list);
	assert_i_eq(lists_open, 1);
	ibv_free_device_list(other);
	expect_list(OURS + THEIRS_MAX);
	assert_i_eq(synced, 3); /* each may have changed what drivers see */
	assert_string_equal(said, "");
}

/* Behind the greatest of theirs, whatever their order, and 0 without any. */
LIST_TEST(numbers_that_no_other_has)
{
	static const char *const names[][THEIRS_MAX] = {{"uverbs0", "uverbs1", "uverbs2"},
							{"uverbs7", "uverbs7", "uverbs3"},
							{"uverbs0", "other9", "uverbs"},
							{"uverbs8", "uverbs9", "uverbs10"}};
	static const uint32_t want[] = {3, 8, 1, 11};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		for (int k = 0; k < THEIRS_MAX; k++)
			snprintf(theirs[k].dev_name, sizeof(theirs[k].dev_name), "%s", names[i][k]);
		expect_list(OURS + THEIRS_MAX);
		assert_u_eq(first_number, want[i]);
	}
	atomic_store(&mv_real_loaded, NULL);
	expect_list(OURS);
	assert_u_eq(first_number, 0);
}

/* Ours are there all the same; a kernel without RDMA is no reason to say so. */
LIST_TEST(that_the_library_cannot_make)
{
	cannot_list = true;
	errno = ENOSYS;
	expect_list(OURS);
	assert_string_equal(said, "");
	errno = EACCES;
	expect_list(OURS);
	assert_string_equal(said, "real devices are not listed: Permission denied");
}

LIST_TEST(for_which_there_is_no_memory)
{
	for (int n = 2; n <= 3; n++) {
		int got = -1;

		no_memory = n; /* of the list, and of the note of theirs; theirs came first */
		assert_null(ibv_get_device_list(&got));
		assert_i_eq(errno, ENOMEM);
		assert_i_eq(got, 0);
	}
	expect_list(OURS + THEIRS_MAX);
}

LIST_TEST(of_devices_that_cannot_be)
{
	int got = -1;

	probe_fails = EINVAL;
	assert_null(ibv_get_device_list(&got));
	assert_i_eq(errno, EINVAL);
	assert_i_eq(got, 0);
}
