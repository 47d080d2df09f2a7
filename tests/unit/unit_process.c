/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_process.c - what a process has once: the table of its NICs, and what was said last. */
#include "support/test.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "host/state/shards.h"

static char said[2048];

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	size_t at = strlen(said);

	(void)context;
	snprintf(said + at, sizeof(said) - at, "%d %s\n", (int)level, text);
}

static int log_setup(void **state)
{
	(void)state;
	said[0] = '\0';
	mh_process()->said[0] = '\0';
	return mrc_log_set(MRC_LOG_WARNING, hear, NULL);
}

static int log_teardown(void **state)
{
	(void)state;
	return mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL);
}

#define LOG_TEST(function, name) TEST_WITH(log_setup, log_teardown, function, name)

LOG_TEST(mh_log_once, the_same_text_once)
{
	mh_log_once(MRC_LOG_WARNING, "one");
	mh_log_once(MRC_LOG_WARNING, "one");
	mh_log_once(MRC_LOG_ERROR, "two");
	mh_log_once(MRC_LOG_WARNING, "one");
	assert_string_equal(said, "2 one\n1 two\n2 one\n");
}

/* A child that polls would say it all the time. */
LOG_TEST(mh_log_inherited, once_however_often_it_is_found)
{
	struct mh_nic *nic = calloc(1, sizeof(*nic));

	assert_non_null(nic);
	assert_false(mh_nic_is_inherited(nic));
	assert_string_equal(said, "");
	nic->inherited = true;
	for (uint32_t i = 0; i < 3; i++)
		assert_true(mh_nic_is_inherited(nic));
	assert_non_null(strstr(said, "1 this process is a fork of the one that opened the device"));
	assert_null(strchr(strchr(said, '\n') + 1, '\n'));
	free(nic);
}

LOG_TEST(mh_log_unreachable, of_hosts_that_no_row_holds)
{
	struct mh_nic *nic = calloc(1, sizeof(*nic));
	uint8_t gid[16];

	assert_non_null(nic);
	assert_i_eq(inet_pton(AF_INET6, "fd4d:5243::7", gid), 1);
	mh_log_unreachable(nic, gid);
	assert_string_equal(said, "");
	nic->env.srv6.n_rows = 1;
	mh_log_unreachable(nic, gid);
	assert_string_equal(said, "1 no SRv6 path leads to fd4d:5243::7: none of the rows "
				  "(MRC_SRV6_ROWS, srv6.rows) holds it\n");
	free(nic);
}

/* ---- the table ---- */

static void *find(struct mh_nic *nic, const void *owner)
{
	assert_true(pthread_mutex_trylock(&nic->lock) != 0);
	assert_true(pthread_mutex_trylock(&mh_process()->lock) != 0);
	nic->n_qps++;
	return nic->seed == *(const uint64_t *)owner ? nic : NULL;
}

/* Each NIC is asked under its lock, until one has what is looked for. */
TEST(mh_process_find, first_that_has_it)
{
	struct mh_process *p = mh_process();
	struct mh_nic *nic[2];
	uint64_t seed;

	for (uint64_t i = 0; i < 2; i++) {
		nic[i] = calloc(1, sizeof(*nic[i]));
		assert_non_null(nic[i]);
		pthread_mutex_init(&nic[i]->lock, NULL);
		nic[i]->seed = i;
		p->of[i * (MH_DEVICES_MAX - 1)].nic = nic[i];
	}
	for (seed = 0; seed < 2; seed++)
		assert_ptr_equal(mh_process_find(find, &seed), nic[seed]);
	assert_null(mh_process_find(find, &seed));
	assert_u_eq(nic[0]->n_qps, 3);
	assert_u_eq(nic[1]->n_qps, 2);
	for (uint64_t i = 0; i < 2; i++) {
		p->of[i * (MH_DEVICES_MAX - 1)].nic = NULL;
		pthread_mutex_destroy(&nic[i]->lock);
		free(nic[i]);
	}
}
