/* SPDX-License-Identifier: BSD-2-Clause */
/* Why EVs are denied, beside a store: src/mrcd/md_notes.c, and what md_node.c makes of it. */
#include "mrcd/md_node.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static char dir[] = "/tmp/mrc-notes-XXXXXX";

static int setup(void **state)
{
	(void)state;
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	return mkdtemp(dir) && chmod(dir, 0755) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

#define NOTES_TEST(name) TEST_WITH(setup, teardown, md_notes, name)

/* Whether the notes of a generation are those, or none. */
static void expect_notes(uint64_t generation, const char *key)
{
	json_t *notes = md_notes_load(dir, "mrc0", generation);

	assert_u_eq(json_object_size(notes), key ? 1 : 0);
	assert_true(!key || json_object_get(notes, key));
	json_decref(notes);
}

/* Those that were until the store is of the next generation, too. */
NOTES_TEST(belong_to_a_generation)
{
	json_t *before = json_pack("{s:i}", "a", 1), *notes = json_pack("{s:i}", "b", 2);

	expect_notes(0, NULL);
	assert_int_equal(md_notes_save(dir, "mrc0", 7, notes, before), 0);
	expect_notes(7, "b");
	expect_notes(6, "a");
	expect_notes(9, "b"); /* others have written the store since */
	expect_notes(5, NULL);
	json_decref(before);
	json_decref(notes);
}

NOTES_TEST(are_none_where_a_file_is_none)
{
	static const char *const files[] = {"", "[]", "{\"generation\":3}",
					    "{\"generation\":3,\"notes\":[1],\"before\":2}"};
	char path[64];

	snprintf(path, sizeof(path), "%s/mrc0.notes", dir);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *f = fopen(path, "we");

		fputs(files[i], f);
		fclose(f);
		expect_notes(3, NULL);
		expect_notes(2, NULL);
	}
}

static bool ask(struct md_node *node, const char *line)
{
	struct md_peer peer = {.is_privileged = true, .passed_fd = -1};
	json_t *said, *answer = md_request(node, &peer, line, strlen(line), &said);
	bool good = json_is_true(json_object_get(answer, "ok"));

	json_decref(said);
	json_decref(answer);
	return good;
}

static void open_node(struct md_node *node)
{
	struct md_config config;
	struct md_config_error error;
	char text[100];

	snprintf(text, sizeof(text), "[node]\ndir = \"%s\"\n[device]\nports = 2\n", dir);
	assert_int_equal(md_config_parse(&config, "x", text, &error), 0);
	assert_int_equal(md_node_create(node, "/nowhere", &config), 0);
	assert_int_equal(md_node_open(node, &error), 0);
}

/* Of what was denied and still is the reason stays; of what is no more it goes. */
NOTES_TEST(outlive_a_store_that_others_write)
{
	static struct mn_state s;
	struct store_error lost, failed;
	struct store_writer w;
	struct md_node node;

	open_node(&node);
	assert_true(ask(&node, "{\"do\":\"ev.deny\",\"evs\":[\"1:1\",\"1:2\"],\"reason\":\"x\"}"));
	md_node_destroy(&node);
	assert_int_equal(store_writer_open(&w, dir, "mrc0", "libmrc", &s, &lost, &failed), 0);
	s.ev[0].n_evs = s.n_evs = 1;
	for (uint32_t id = 1; id < MN_EV_PROFILES; id++)
		s.ev[id].first = 1;
	for (int i = 0; i < 3; i++)
		assert_int_equal(store_writer_commit(&w, &s, &failed), 0);
	store_writer_close(&w);
	open_node(&node);
	assert_u_eq(json_object_size(node.notes), 1);
	assert_non_null(json_object_get(node.notes, "0/1:1"));
	md_node_destroy(&node);
}

/* A process that writes the store while mrcd begins is waited for. */
NOTES_TEST(wait_for_another_writer)
{
	static struct mn_state s;
	struct store_error lost, failed;
	struct store_writer w;
	struct md_node node;
	pid_t pid;
	int ready[2], status;
	char byte = 0;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (store_writer_open(&w, dir, "mrc0", "libmrc", &s, &lost, &failed) ||
		    write(ready[1], &byte, 1) != 1)
			_exit(1);
		usleep(50000);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	open_node(&node);
	md_node_destroy(&node);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ready[0]);
	close(ready[1]);
}

/* A store that cannot be written keeps its notes as well. */
NOTES_TEST(change_with_the_store_or_not_at_all)
{
	struct md_node node;
	char path[64];

	snprintf(path, sizeof(path), "%s/mrc0.state", dir);
	open_node(&node);
	assert_true(ask(&node, "{\"do\":\"ev.deny\",\"evs\":[\"1:1\"],\"reason\":\"x\"}"));
	expect_notes(node.generation, "0/1:1");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_false(ask(&node, "{\"do\":\"ev.undeny\",\"evs\":[\"1:1\"]}"));
	expect_notes(node.generation, "0/1:1");
	assert_u_eq(json_object_size(node.notes), 1);
	assert_int_equal(rmdir(path), 0);
	assert_true(ask(&node, "{\"do\":\"ev.undeny\",\"evs\":[\"1:1\"]}"));
	expect_notes(node.generation, NULL);
	md_node_destroy(&node);
}
