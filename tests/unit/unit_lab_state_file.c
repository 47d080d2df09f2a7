/* SPDX-License-Identifier: BSD-2-Clause */
/* A lab's file, written, read and removed: src/lab/lab_state.c. */
#include "fabric/fabric_path.h"
#include "support/open_fds.h"
#include "support/test.h"
#include "unit/lab_run_fixture.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

#define FILE_OF_LAB ML_STATE_DIR "/" LAB_RUN_NAME ".json"
#define PART_OF_LAB ML_STATE_DIR "/" LAB_RUN_NAME ".part"
#define LEAST \
	"[topology]\nplanes = 1\nhosts_per_t0 = 2\nt0s = 1\nt1s = 1\n[links]\nspeed = \"1G\"\n"

static bool no_dir;

__typeof__(fdopendir) __real_fdopendir, __wrap_fdopendir;
DIR *__wrap_fdopendir(int fd)
{
	return no_dir ? NULL : __real_fdopendir(fd);
}

static struct ml_lab *read_lab(void)
{
	struct ml_error e;
	bool missing = true;
	struct ml_lab *lab = ml_state_read(LAB_RUN_NAME, &missing, &e);

	if (!lab)
		fail_msg("%s", e.text);
	assert_false(missing);
	return lab;
}

static void write_lab(const struct ml_lab *lab)
{
	struct ml_error e;

	if (ml_state_write(lab, &e))
		fail_msg("%s", e.text);
}

/* A lab with two faults and a switch that is off, in the folder. */
static struct ml_lab *written(void)
{
	struct ml_lab *lab = lab_run_create("tiny", NULL);

	lab_run_make_folders();
	lab->pace_bps = 12345678;
	lab->t.cfg.mtu = 9000;
	lab->building = true;
	lab->owner = 77;
	lab->owner_since = UINT64_C(5000000000);
	lab->id = UINT64_C(0xfedcba9876543210);
	lab->program = UINT32_MAX;
	strcpy(lab->sid_device, "dummy");
	strcpy(lab->no_program, "as was asked");
	lab->fault[0] = (struct mf_fault){.target = "plane0.t1-0",
					  .kind = MF_FAULT_LOSS,
					  .direction = MF_DIRECTION_IN,
					  .value = 10000};
	lab->fault[1] = (struct mf_fault){
		.target = "plane0.t0-0.u0", .kind = MF_FAULT_SWAP, .other = "plane0.t0-1.u1"};
	lab->faults = 2;
	lab->off[lab->t.n_nodes - 1] = true;
	ml_faults_apply(&lab->t, lab->fault, lab->faults, lab->port);
	write_lab(lab);
	return lab;
}

static void same_lists(const struct ml_lab *a, const struct ml_lab *b)
{
	assert_u_eq(a->faults, b->faults);
	for (size_t i = 0; i < a->faults; i++) {
		assert_string_equal(a->fault[i].target, b->fault[i].target);
		assert_string_equal(a->fault[i].other, b->fault[i].other);
		assert_i_eq(a->fault[i].kind, b->fault[i].kind);
		assert_i_eq(a->fault[i].direction, b->fault[i].direction);
		assert_u_eq(a->fault[i].value, b->fault[i].value);
	}
	assert_memory_equal(a->off, b->off, a->t.n_nodes * sizeof(*a->off));
	for (uint32_t link = 0; link < a->t.n_links; link++) {
		assert_u_eq(a->port[link].peer, b->port[link].peer);
		assert_u_eq(a->port[link].faults.loss_ppm, b->port[link].faults.loss_ppm);
	}
}

LAB_RUN_TEST(ml_state_write, is_read_as_it_was)
{
	struct ml_lab *lab = written(), *again = read_lab();

	assert_string_equal(again->name, LAB_RUN_NAME);
	assert_string_equal(again->topology_what, "tiny");
	assert_null(again->topology_text);
	assert_u_eq(again->pace_bps, lab->pace_bps);
	assert_u_eq(again->t.cfg.mtu, lab->t.cfg.mtu);
	assert_true(again->building);
	assert_i_eq(again->owner, lab->owner);
	assert_u_eq(again->owner_since, lab->owner_since);
	assert_u_eq(again->id, lab->id);
	assert_u_eq(again->program, lab->program);
	assert_string_equal(again->sid_device, lab->sid_device);
	assert_string_equal(again->no_program, lab->no_program);
	same_lists(again, lab);
	assert_i_eq(access(PART_OF_LAB, F_OK), -1);
	ml_state_destroy(again);
	ml_state_destroy(lab);
	lab = lab_run_create("/x.toml", LEAST);
	strcpy(lab->sid_device, "ifb");
	write_lab(lab);
	again = read_lab();
	assert_string_equal(again->topology_text, LEAST);
	ml_state_destroy(again);
	ml_state_destroy(lab);
}

LAB_RUN_TEST(ml_state_write, says_why_not)
{
	struct ml_lab *lab = written();
	struct ml_error e;

	assert_i_eq(unlink(FILE_OF_LAB), 0);
	assert_i_eq(mkdir(FILE_OF_LAB, 0755), 0);
	assert_i_eq(ml_state_write(lab, &e), -1);
	assert_string_equal(e.text, "writing " FILE_OF_LAB ": Is a directory");
	assert_i_eq(access(PART_OF_LAB, F_OK), -1);
	lab_run_shell("rmdir " FILE_OF_LAB " && mkdir " PART_OF_LAB);
	assert_i_eq(ml_state_write(lab, &e), -1);
	assert_i_eq(access(FILE_OF_LAB, F_OK), -1);
	ml_state_destroy(lab);
}

LAB_RUN_TEST(ml_state_read, knows_one_that_is_missing_from_one_that_is_none)
{
	uint32_t open_before = test_open_fds();
	struct ml_error e = {{0}};
	bool missing;

	assert_null(ml_state_read(LAB_RUN_NAME, &missing, &e)); /* without any folder */
	assert_true(missing);
	lab_run_make_folders();
	assert_null(ml_state_read(LAB_RUN_NAME, &missing, &e));
	assert_true(missing);
	assert_string_equal(e.text, "");
	lab_run_shell("echo '{\"version\": 2' >" FILE_OF_LAB);
	assert_null(ml_state_read(LAB_RUN_NAME, &missing, &e));
	assert_false(missing);
	assert_non_null(strstr(e.text, FILE_OF_LAB ": line 2: "));
	assert_non_null(strstr(e.text, "; mrc lab down " LAB_RUN_NAME " removes the lab"));
	lab_run_shell("chmod 777 " ML_STATE_DIR);
	assert_null(ml_state_read(LAB_RUN_NAME, &missing, &e));
	assert_false(missing);
	assert_string_equal(e.text, LAB_RUN_REFUSED("/run/softmrc/lab"));
	assert_u_eq(test_open_fds(), open_before);
}

/* Changes one value of the file that `good` is. */
static void change_value(json_t *good, const char *key, const char *value)
{
	json_t *changed = json_deep_copy(good);

	assert_i_eq(json_object_set_new(changed, key, json_loads(value, JSON_DECODE_ANY, NULL)), 0);
	assert_i_eq(json_dump_file(changed, FILE_OF_LAB, 0), 0);
	json_decref(changed);
}

#define FAULT(kind, direction, value)                                                  \
	"[{\"target\": \"plane0.t1-0\", \"kind\": " kind ", \"direction\": " direction \
	", \"value\": " value ", \"other\": \"\"}]"

LAB_RUN_TEST(ml_state_read, takes_what_can_be)
{
	static const struct {
		const char *key, *value;
	} right[] = {
		{"id", "\"0123456789abcdef\""},
		{"sid_device", "\"veth\""},
		{"pace", "0"},
		{"pace", "100000"},
		{"pace", "100000000000"},
		{"mtu", "1500"},
		{"program", "0"},
		{"program", "4294967295"},
		{"owner_since", "0"},
		{"off", "[]"},
		{"off", "[0, 11]"},
		{"faults", "[]"},
		{"faults", FAULT("0", "0", "0")},
		{"faults", FAULT("10", "2", "1")},
	};
	struct ml_lab *lab = written();
	json_t *good = json_load_file(FILE_OF_LAB, 0, NULL);
	char most[16];

	assert_i_eq(MF_FAULT_KINDS, 11);
	assert_i_eq(MF_DIRECTION_IN, 2);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		change_value(good, right[i].key, right[i].value);
		ml_state_destroy(read_lab());
	}
	snprintf(most, sizeof(most), "%u", MF_MTU_MAX);
	change_value(good, "mtu", most);
	ml_state_destroy(read_lab());
	snprintf(most, sizeof(most), "%u", MF_MTU_MIN);
	change_value(good, "mtu", most);
	ml_state_destroy(read_lab());
	json_decref(good);
	ml_state_destroy(lab);
}

static void file_is_refused(const char *key, const char *value, const char *why)
{
	struct ml_error e = {{0}};
	bool missing;

	if (ml_state_read(LAB_RUN_NAME, &missing, &e) || missing || !strstr(e.text, why))
		fail_msg("%s = %s: %s, want %s", key, value, e.text, why);
}

LAB_RUN_TEST(ml_state_read, refuses_what_cannot_be)
{
	static const struct {
		const char *key, *value;
	} form[] =
		{
			{"version", "1"},
			{"name", "\"u2\""},
			{"id", "\"0123456789abcde\""},
			{"id", "\"0123456789abcdeg\""},
			{"sid_device", "\"bridge\""},
			{"owner_since", "-1"},
			{"pace", "99999"},
			{"pace", "-1"},
			{"pace", "100000000001"},
			{"program", "-1"},
			{"program", "4294967296"},
			{"off", "null"},
		},
	  lists[] = {
		  {"off", "7"},
		  {"off", "[-1]"},
		  {"off", "[12]"},
		  {"off", "[\"a\"]"},
		  {"faults", "7"},
		  {"faults", "[7]"},
		  {"faults", FAULT("-1", "0", "0")},
		  {"faults", FAULT("11", "0", "0")},
		  {"faults", FAULT("0", "-1", "0")},
		  {"faults", FAULT("0", "3", "0")},
		  {"faults", FAULT("0", "0", "-1")},
		  {"faults",
		   "[{\"target\": \"nosuch\", \"kind\": 0, \"direction\": 0, \"value\": 0, "
		   "\"other\": \"\"}]"},
	  };
	struct ml_lab *lab = written();
	json_t *good = json_load_file(FILE_OF_LAB, 0, NULL);
	char bound[16];

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		change_value(good, lists[i].key, lists[i].value);
		file_is_refused(lists[i].key, lists[i].value,
				"its faults, or the list of switches that are off, cannot be read");
	}
	for (size_t i = 0; i + 1 < sizeof(form) / sizeof(form[0]); i++) {
		change_value(good, form[i].key, form[i].value);
		file_is_refused(form[i].key, form[i].value, "not a lab of this version of softmrc");
	}
	snprintf(bound, sizeof(bound), "%u", MF_MTU_MAX + 1);
	change_value(good, "mtu", bound);
	file_is_refused("mtu", bound, "not a lab of this version");
	snprintf(bound, sizeof(bound), "%u", MF_MTU_MIN - 1);
	change_value(good, "mtu", bound);
	file_is_refused("mtu", bound, "not a lab of this version");
	change_value(good, "topology", "\"nosuch\"");
	file_is_refused("topology", "nosuch", "nosuch");
	json_object_del(good, "off");
	assert_i_eq(json_dump_file(good, FILE_OF_LAB, 0), 0);
	file_is_refused("off", "nothing", "not a lab of this version");
	json_decref(good);
	ml_state_destroy(lab);
}

/* As many faults as a lab has room for, and one more. */
LAB_RUN_TEST(ml_state_read, has_room_for_256_faults)
{
	struct ml_lab *lab = written(), *again;
	json_t *json = json_load_file(FILE_OF_LAB, 0, NULL),
	       *faults = json_object_get(json, "faults");

	while (json_array_size(faults) < ML_FAULTS_MAX)
		json_array_append(faults, json_array_get(faults, 0));
	assert_i_eq(json_dump_file(json, FILE_OF_LAB, 0), 0);
	again = read_lab();
	assert_u_eq(again->faults, ML_FAULTS_MAX);
	ml_state_destroy(again);
	json_array_append(faults, json_array_get(faults, 0));
	assert_i_eq(json_dump_file(json, FILE_OF_LAB, 0), 0);
	file_is_refused("faults", "257", "its faults");
	json_decref(json);
	ml_state_destroy(lab);
}

/* A handle hears of what another process did, and that the lab is gone. */
LAB_RUN_TEST(ml_state_reload, brings_lists_up_to_date)
{
	struct ml_lab *lab = written(), *other = read_lab();
	struct ml_error e;

	other->faults = 1;
	other->off[other->t.n_nodes - 1] = false;
	other->off[other->t.n_nodes - 2] = true;
	ml_faults_apply(&other->t, other->fault, other->faults, other->port);
	write_lab(other);
	assert_i_eq(ml_state_reload(lab, &e), 0);
	same_lists(lab, other);
	lab_run_shell("echo '{\"off\": []}' >" FILE_OF_LAB);
	assert_i_eq(ml_state_reload(lab, &e), -1);
	lab_run_shell("echo '{\"faults\": []}' >" FILE_OF_LAB);
	assert_i_eq(ml_state_reload(lab, &e), -1);
	lab_run_shell("echo '{\"off\": [99], \"faults\": []}' >" FILE_OF_LAB);
	assert_i_eq(ml_state_reload(lab, &e), -1);
	lab_run_shell("rm " FILE_OF_LAB);
	assert_i_eq(ml_state_reload(lab, &e), -1);
	assert_string_equal(e.text, FILE_OF_LAB ": the lab is gone");
	ml_state_destroy(other);
	ml_state_destroy(lab);
}

/* ---- removed ---- */

LAB_RUN_TEST(ml_state_remove, removes_files_of_hosts_and_follows_no_link)
{
	uint32_t open_before = test_open_fds();

	lab_run_make_folders();
	lab_run_shell("cd " ML_STATE_DIR " && mkdir -p " LAB_RUN_NAME
		      "/host0.node kept && touch kept/file " LAB_RUN_NAME "/a " LAB_RUN_NAME
		      "/host0.node/b " LAB_RUN_NAME ".part " LAB_RUN_NAME
		      ".json && ln -s ../kept " LAB_RUN_NAME
		      "/link && ln -s ../../kept " LAB_RUN_NAME "/host0.node/link");
	ml_state_remove(LAB_RUN_NAME);
	lab_run_shell("cd " ML_STATE_DIR " && test \"$(find | sort | tr '\\n' ' ')\" = "
		      "'. ./kept ./kept/file '");
	lab_run_shell("ln -s kept " ML_STATE_DIR "/" LAB_RUN_NAME);
	ml_state_remove(LAB_RUN_NAME);
	lab_run_shell("cd " ML_STATE_DIR " && test \"$(ls)\" = kept && test -f kept/file");
	ml_state_remove(LAB_RUN_NAME);
	assert_u_eq(test_open_fds(), open_before);
}

/* No lab has folders in the folders of hosts. */
LAB_RUN_TEST(ml_state_remove, goes_no_deeper_than_hosts)
{
	uint32_t open_before = test_open_fds();

	lab_run_make_folders();
	lab_run_shell("cd " ML_STATE_DIR " && mkdir -p " LAB_RUN_NAME
		      "/host0.node/deep && touch " LAB_RUN_NAME
		      "/host0.node/deep/file " LAB_RUN_NAME "/host0.node/b");
	ml_state_remove(LAB_RUN_NAME);
	lab_run_shell("cd " ML_STATE_DIR "/" LAB_RUN_NAME
		      "/host0.node && test \"$(ls)\" = deep && test -f deep/file");
	no_dir = true;
	ml_state_remove(LAB_RUN_NAME);
	no_dir = false;
	assert_u_eq(test_open_fds(), open_before);
}
