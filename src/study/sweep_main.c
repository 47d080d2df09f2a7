/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mrc sim sweep - a scenario at every point of a grid. Each point is a process, `mrc sim run`,
 * whose result goes to a file of its own in the sweep's folder, under another name until it is
 * whole: what is there is finished, and not run again when the sweep is started again.
 */
#include "study/study.h"
#include "study/study_verbs.h"

#include "ui/terminal.h"
#include "ui/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHO "mrc sim sweep"
#define JOBS_MAX 256u
#define PATH_BYTES 1024u
#define WORDS_MAX 256u
#define LAUNCH_WORDS 16u

struct sweep {
	const char *scenario, *dir, *launch;
	struct ui_flag_texts set, vary;
	uint32_t jobs;
	bool json;
	struct sim_grid grid;
	pid_t pid[JOBS_MAX]; /* 0: free */
	size_t point[JOBS_MAX];
	size_t kept, done, failed; /* points */
	bool broken;		   /* a point could not run at all */
};

static char *path_of(const struct sweep *s, size_t point, const char *end, char out[PATH_BYTES])
{
	char name[SIM_GRID_NAME];

	snprintf(out, PATH_BYTES, "%s/%s.%s", s->dir, sim_grid_name(&s->grid, point, name), end);
	return out;
}

/* ---- the folder ---- */

/* describe_sweep makes what must be equal for results to be of one sweep: all but the values. */
static json_t *describe_sweep(const struct sweep *s)
{
	json_t *set = json_array(), *keys = json_array();

	for (size_t i = 0; i < s->set.n; i++)
		json_array_append_new(set, json_string(s->set.text[i]));
	for (size_t i = 0; i < s->grid.n_axes; i++)
		json_array_append_new(keys, json_string(s->grid.axis[i].key));
	return json_pack("{s:s,s:o,s:o}", "scenario", s->scenario, "set", set, "keys", keys);
}

/* open_dir makes the folder, or sees that it is of the same sweep. */
static bool open_dir(const struct sweep *s)
{
	char path[PATH_BYTES];
	json_t *mine = describe_sweep(s), *there;
	bool ok = false;

	snprintf(path, sizeof(path), "%s/sweep.json", s->dir);
	if (mkdir(s->dir, 0777) && errno != EEXIST) {
		fprintf(stderr, WHO ": %s: %s\n", s->dir, strerror(errno));
		json_decref(mine);
		return false;
	}
	there = json_load_file(path, 0, NULL);
	errno = EIO; /* jansson leaves it where it has none of its own */
	if (!there)
		ok = json_dump_file(mine, path, JSON_INDENT(2)) == 0;
	if (!there && !ok)
		fprintf(stderr, WHO ": %s: cannot be written: %s\n", path, strerror(errno));
	if (there) {
		ok = json_equal(there, mine);
		if (!ok)
			fprintf(stderr,
				WHO
				": %s is the folder of another sweep (see %s); expected another "
				"--dir\n",
				s->dir, path);
	}
	json_decref(there);
	json_decref(mine);
	return ok;
}

/* ---- processes ---- */

/* launch_words cuts the words of --launch out of a copy. */
static size_t launch_words(char *copy, char **word)
{
	size_t n = 0;

	for (char *rest, *at = strtok_r(copy, " ", &rest); at && n < LAUNCH_WORDS;
	     at = strtok_r(NULL, " ", &rest))
		word[n++] = at;
	return n;
}

/* exec_point turns this process into a run of a point; comes back only when that fails. */
static void exec_point(const struct sweep *s, size_t point)
{
	char path[PATH_BYTES], json[PATH_BYTES + 8], self[PATH_BYTES], launch[PATH_BYTES];
	char set[SIM_GRID_AXES][sizeof(s->grid.axis[0].key) + sizeof(s->grid.axis[0].text)];
	char *word[WORDS_MAX];
	size_t n = 0;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		return;
	self[len] = '\0';
	if (s->launch) {
		snprintf(launch, sizeof(launch), "%s", s->launch);
		n = launch_words(launch, word);
	}
	snprintf(json, sizeof(json), "--json=%s", path_of(s, point, "part", path));
	word[n++] = self;
	word[n++] = (char *)(uintptr_t) "sim";
	word[n++] = (char *)(uintptr_t) "run";
	word[n++] = (char *)(uintptr_t)s->scenario;
	word[n++] = (char *)(uintptr_t) "--quiet";
	word[n++] = json;
	for (size_t i = 0; i < s->set.n; i++) {
		word[n++] = (char *)(uintptr_t) "--set";
		word[n++] = (char *)(uintptr_t)s->set.text[i];
	}
	for (size_t i = 0; i < s->grid.n_axes; i++) {
		snprintf(set[i], sizeof(set[i]), "%s=%s", s->grid.axis[i].key,
			 sim_grid_value(&s->grid, point, i));
		word[n++] = (char *)(uintptr_t) "--set";
		word[n++] = set[i];
	}
	word[n] = NULL;
	execvp(word[0], word);
}

static bool start_point(struct sweep *s, size_t job, size_t point)
{
	char path[PATH_BYTES];
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		/* What it prints but its result; overwrites that of a run that was interrupted. */
		if (freopen(path_of(s, point, "log", path), "w", stdout))
			dup2(fileno(stdout), STDERR_FILENO);
		exec_point(s, point);
		fprintf(stderr, WHO ": %s\n", strerror(errno));
		_exit(127);
	}
	if (pid < 0) {
		fprintf(stderr, WHO ": a process cannot be made: %s\n", strerror(errno));
		return false;
	}
	s->pid[job] = pid;
	s->point[job] = point;
	return true;
}

/* is_result says whether a result is whole: a run that had no room to write it fails, too. */
static bool is_result(const char *path)
{
	json_t *result = json_load_file(path, 0, NULL);

	json_decref(result);
	return result;
}

/* finish_point takes the result of a point's process. */
static void finish_point(struct sweep *s, size_t point, int wait_status)
{
	char part[PATH_BYTES], whole[PATH_BYTES], name[SIM_GRID_NAME];
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128;

	path_of(s, point, "part", part);
	sim_grid_name(&s->grid, point, name);
	if (status == SIM_EXIT_GOOD || status == SIM_EXIT_FAILED) {
		if (is_result(part) && rename(part, path_of(s, point, "json", whole)) == 0) {
			s->done++;
			s->failed += status == SIM_EXIT_FAILED;
			unlink(path_of(s, point, "log", part));
			fprintf(stderr, "%zu of %zu: %s%s\n", s->kept + s->done, s->grid.points,
				name, status ? ", failed" : "");
			return;
		}
		status = SIM_EXIT_USAGE;
	}
	unlink(part);
	if (status != SIM_EXIT_INTERRUPTED && !ui_term_caught()) {
		s->broken = true;
		fprintf(stderr, WHO ": %s did not run: see %s\n", name,
			path_of(s, point, "log", whole));
	}
}

static size_t free_job(const struct sweep *s)
{
	size_t job = 0;

	while (job < s->jobs && s->pid[job])
		job++;
	return job;
}

/* reap_child waits for a process to end; false: there is none. */
static bool reap_child(struct sweep *s)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	if (pid < 0)
		return errno == EINTR;
	for (size_t job = 0; job < s->jobs; job++)
		if (s->pid[job] == pid) {
			s->pid[job] = 0;
			finish_point(s, s->point[job], status);
		}
	return true;
}

static void run_points(struct sweep *s)
{
	char path[PATH_BYTES];

	for (size_t point = 0; point < s->grid.points && !ui_term_caught() && !s->broken;) {
		size_t job = free_job(s);

		if (access(path_of(s, point, "json", path), R_OK) == 0) {
			s->kept++;
			point++;
		} else if (job < s->jobs) {
			if (!start_point(s, job, point))
				s->broken = true;
			point++;
		} else {
			reap_child(s);
		}
	}
	while (reap_child(s))
		;
}

/* ---- what came out ---- */

static const char *const columns[] = {"flows_unfinished", "simulated_us", "fct_us.p50",
				      "fct_us.p99",	  "fct_us.p100",  "trims",
				      "ecn_marks",	  "drops",	  "retransmits"};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void add_head(const struct sweep *s, struct ui_table *t, struct ui_text *csv)
{
	for (size_t i = 0; i < s->grid.n_axes; i++) {
		ui_table_cell(t, 0, i, "%.40s", s->grid.axis[i].key);
		ui_text_add(csv, "%s,", s->grid.axis[i].key);
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		ui_table_cell(t, 0, s->grid.n_axes + i, "%s", columns[i]);
		ui_text_add(csv, "%s%s", columns[i], i + 1 < COLUMNS ? "," : "\n");
	}
}

static void add_point(const struct sweep *s, size_t point, const json_t *result, struct ui_table *t,
		      struct ui_text *csv)
{
	size_t row = t->rows;

	for (size_t i = 0; i < s->grid.n_axes; i++) {
		const char *value = sim_grid_value(&s->grid, point, i);

		ui_table_cell(t, row, i, "%.40s", value);
		ui_text_add(csv, "%s,", value);
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		double value = 0;

		sim_result_figure(result, columns[i], &value);
		ui_table_cell(t, row, s->grid.n_axes + i, "%.8g", value);
		ui_text_add(csv, "%.12g%s", value, i + 1 < COLUMNS ? "," : "\n");
	}
}

/* write_results shows all finished points, and writes them to sweep.csv. */
static int write_results(const struct sweep *s)
{
	json_t *all = json_object();
	struct ui_table table = {0};
	struct ui_text text = {0};
	char path[PATH_BYTES], name[SIM_GRID_NAME];
	struct ui_text csv = {0};
	int err;

	add_head(s, &table, &csv);
	for (size_t point = 0; point < s->grid.points; point++) {
		json_t *result = json_load_file(path_of(s, point, "json", path), 0, NULL);

		if (result) {
			add_point(s, point, result, &table, &csv);
			json_object_set_new(all, sim_grid_name(&s->grid, point, name), result);
		}
	}
	ui_table_render(&table, &text);
	if (s->json)
		json_dumpf(all, stdout, JSON_INDENT(2));
	else
		fputs(text.data, stdout);
	ui_text_fini(&text);
	json_decref(all);
	snprintf(path, sizeof(path), "%s/sweep.csv", s->dir);
	err = ui_text_save(&csv, path);
	ui_text_fini(&csv);
	if (err)
		fprintf(stderr, WHO ": %s: %s\n", path, ui_text_save_error(err));
	return err ? SIM_EXIT_FAILED : SIM_EXIT_GOOD;
}

/* ---- the command ---- */

static const struct ui_flag flags[] = {
	UI_TEXTS("--vary", sweep, vary, "KEY=A,B", "a key and its values; repeatable"),
	UI_TEXT("--dir", sweep, dir, "DIR", "where results are kept"),
	UI_TEXTS("--set", sweep, set, "KEY=VALUE", "change a key at all points; repeatable"),
	{"--jobs", UI_FLAG_U32, "N", "points at once (all processors)",
	 offsetof(struct sweep, jobs), 1, JOBS_MAX},
	UI_TEXT("--launch", sweep, launch, "WORDS", "what starts each run, as 'mpirun -np 4'"),
	UI_SWITCH("--json", sweep, json, "all results as one JSON object"),
};

static enum ui_flags_result parse_options(struct sweep *s, int argc, char **argv)
{
	enum ui_flags_result rc;
	size_t words;

	rc = ui_verb_parse(&sim_sweep_verb, s, argc, argv, &s->scenario, 1, &words);
	if (rc != UI_FLAGS_OK)
		return rc;
	if (words == 1 && s->dir && s->vary.n > 0)
		return UI_FLAGS_OK;
	fprintf(stderr, WHO ": expected a scenario, --vary and --dir\n");
	return UI_FLAGS_ERROR;
}

static int sim_sweep_main(int argc, char **argv)
{
	static struct sweep s;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	char why[SIM_GRID_WHY];
	int written, status;

	s.jobs = processors > 0 && processors < (long)JOBS_MAX ? (uint32_t)processors : 1;
	status = parse_options(&s, argc, argv);
	if (status != UI_FLAGS_OK)
		return status;
	for (size_t i = 0; i < s.vary.n; i++)
		if (!sim_grid_add(&s.grid, s.vary.text[i], why)) {
			fprintf(stderr, WHO ": %s\n", why);
			return SIM_EXIT_USAGE;
		}
	if (!open_dir(&s))
		return SIM_EXIT_USAGE;
	ui_term_catch();
	run_points(&s);
	written = write_results(&s);
	if (ui_term_caught())
		return SIM_EXIT_INTERRUPTED;
	if (s.broken || written)
		return SIM_EXIT_USAGE;
	return s.failed ? SIM_EXIT_FAILED : SIM_EXIT_GOOD;
}

const struct ui_verb sim_sweep_verb = {
	.name = "mrc sim sweep",
	.summary = "a scenario with every combination of some values",
	.usage = "SCENARIO --vary KEY=VALUE,... --dir DIR [FLAG...]",
	.about = "Runs a scenario with every combination of values. Finished points stay in DIR "
		 "and are not run again; Ctrl-C loses only those that are running.",
	.examples = "mrc sim sweep permutation --vary mrc.evs=1,4,16 --vary seed=1,2,3 --dir evs\n"
		    "mrc sim sweep ./big.toml --vary nscc.control=none,nscc --dir cc --jobs 1 \\\n"
		    "    --launch 'mpirun -np 4'",
	.operands = "SCENARIO",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.choices = (const struct ui_choices *const[]){&study_scenarios, &study_keys, NULL},
	.run = sim_sweep_main,
};
