/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that says what of a lab is drained: src/cli/lab/drain_book.c. */
#include "cli/lab/drain.h"
#include "support/open_fds.h"
#include "support/test.h"
#include "unit/lab_run_fixture.h"

#include <sys/stat.h>

#define FOLDER ML_STATE_DIR "/" LAB_RUN_NAME
#define PART "plane0.t1-0"

static struct ml_lab *lab;
static struct drain_book book;

static int open_book(void **state)
{
	struct ml_error e;
	int failed = lab_run_open(state);

	lab_run_make_folders();
	lab = lab_run_create("tiny", NULL);
	return failed || drain_book_open(&book, lab, &e);
}

static int shut(void **state)
{
	drain_book_close(&book);
	ml_state_destroy(lab);
	return lab_run_leave(state);
}

#define BOOK_TEST(function, name) TEST_WITH(open_book, shut, function, name)

static void add(const char *name)
{
	struct mf_target part;
	struct mf_error e;

	assert_true(mf_target_find(book.t, name, &part, &e));
	drain_book_add(&book, name, &part);
}

BOOK_TEST(drain_book_save, is_read_as_it_was)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e;

	(void)state;
	add(PART);
	add("plane0.t0-0.u0");
	book.unfinished[0] = false;
	*drain_book_ours(&book, 1, 1) = 1;
	assert_i_eq(drain_book_save(&book, &e), 0);
	drain_book_close(&book);
	assert_i_eq(drain_book_open(&book, lab, &e), 0);
	assert_u_eq(book.parts, 2);
	assert_string_equal(book.name[0], PART);
	assert_false(book.unfinished[0]);
	assert_true(book.unfinished[1]);
	assert_u_eq(*drain_book_ours(&book, 1, 1), 1);
	assert_u_eq(*drain_book_ours(&book, 1, 0), 0);
	assert_u_eq(test_open_fds(), open_before);
}

BOOK_TEST(drain_book_save, leaves_no_part_of_it_where_it_fails)
{
	struct ml_error e;

	(void)state;
	assert_i_eq(mkdir(FOLDER "/drain.json", 0755), 0);
	assert_i_eq(drain_book_save(&book, &e), -1);
	assert_string_equal(e.text,
			    "writing what is drained: " FOLDER "/drain.json: Is a directory");
	lab_run_shell("test \"$(ls " FOLDER ")\" = 'drain.json\ndrain.lock'");
}
