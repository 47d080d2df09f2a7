/* SPDX-License-Identifier: BSD-2-Clause */
/* processes.c - programs on hosts: started, awaited and ended. */
#include "lab/scenario.h"

#include "lab/ip_batch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_BYTES 300
#define SAID_MAX (1u << 20)

static char *path_of(const struct ml_processes *c, uint32_t member, char *out)
{
	snprintf(out, PATH_BYTES, "%s/output-%u", c->folder, member);
	return out;
}

uint64_t ml_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void ml_processes_open(struct ml_processes *c, const struct ml_lab *lab, const char *folder)
{
	*c = (struct ml_processes){.lab = lab};
	if (folder)
		snprintf(c->folder, sizeof(c->folder), "%s", folder);
	else
		ml_lab_folder(lab, c->folder);
}

/* Where the programs of softmrc are, from the folder of mrc: as built, and as installed. */
static const char *const places[] = {
	".",
	"../lib/softmrc/examples",
	"../" SOFTMRC_LIBDIR "/softmrc/examples",
};

#define PLACES (sizeof(places) / sizeof(places[0]))

char *ml_own_folder(char out[ML_OWN_FOLDER_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, ML_OWN_FOLDER_MAX - 1);

	if (n <= 0)
		return NULL;
	out[n] = '\0';
	*strrchr(out, '/') = '\0';
	return out;
}

int ml_program_find(const char *name, char *path, size_t size, struct ml_error *e)
{
	char self[ML_OWN_FOLDER_MAX];

	if (!ml_own_folder(self))
		return ml_error_set(e, "/proc/self/exe: %s", strerror(errno));
	for (size_t i = 0; i < PLACES; i++) {
		int n = snprintf(path, size, "%s/%s/%s", self, places[i], name);

		if (n > 0 && (size_t)n < size && access(path, X_OK) == 0)
			return 0;
	}
	return ml_error_set(e, "the program `%s` is not in %s/, nor in %s or %s of it", name, self,
			    places[1], places[2]);
}

/* Programs of softmrc are found before others. */
static int add_path(void)
{
	char self[ML_OWN_FOLDER_MAX], path[4 * ML_OWN_FOLDER_MAX + 128];
	const char *old = getenv("PATH");
	size_t len = 0;

	if (!ml_own_folder(self))
		return -1;
	for (size_t i = 0; i < PLACES; i++)
		len += (size_t)snprintf(path + len, sizeof(path) - len, "%s/%s:", self, places[i]);
	snprintf(path + len, sizeof(path) - len, "%s:/usr/sbin:/sbin", old ? old : "/usr/bin:/bin");
	return setenv("PATH", path, 1);
}

/* The addresses of all hosts, MRC_LAB_ADDRESS_0, MRC_LAB_IPV4_0 and so on. */
static int add_addresses(const struct ml_lab *lab)
{
	const struct mf_topology *t = ml_lab_topology(lab);
	char name[32], address[48];

	for (uint32_t host = 0; host < t->n_hosts; host++) {
		snprintf(name, sizeof(name), "MRC_LAB_ADDRESS_%u", host);
		if (setenv(name, ml_host_address(lab, host, address), 1))
			return -1;
		snprintf(name, sizeof(name), "MRC_LAB_IPV4_%u", host);
		if (ml_ipv4_fits(t) && setenv(name, ml_ipv4_of_host(t, host, address), 1))
			return -1;
	}
	return 0;
}

/* Makes this process one of the host. 0, or -1. */
static int enter_host(const struct ml_lab *lab, uint32_t host, enum mf_host_form form,
		      struct ml_error *e)
{
	int netns = ml_lab_netns(lab, host, e);

	return netns < 0 || setns(netns, CLONE_NEWNET) || ml_host_environment(lab, host, form, e) ||
			       add_addresses(lab)
		       ? -1
		       : 0;
}

/* In the child; does not return. */
static void exec_program(const struct ml_processes *c, const struct ml_scenario_program *program,
			 uint32_t index, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);
	char number[16];
	struct ml_error e = {{0}};

	setpgid(0, 0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	snprintf(number, sizeof(number), "%u", index);
	if ((c->lab && enter_host(c->lab, program->host[index], program->form, &e)) || add_path() ||
	    setenv("MRC_LAB_INDEX", number, 1)) {
		fprintf(stderr, "host%u: %s\n", program->host[index],
			e.text[0] ? e.text : strerror(errno));
		_exit(126);
	}
	execv("/bin/sh", (char *[]){"sh", "-c", (char *)program->run, NULL});
	fprintf(stderr, "/bin/sh: %s\n", strerror(errno));
	_exit(127);
}

int ml_processes_start(struct ml_processes *c, const struct ml_scenario_program *program,
		       struct ml_error *e)
{
	pid_t parent = getpid();

	for (uint32_t i = 0; i < program->hosts; i++) {
		struct ml_process *m = &c->member[c->members];
		char path[PATH_BYTES];
		int out;

		if (c->members == ML_PROCESSES_MAX)
			return ml_error_set(e, "more than %u programs at once", ML_PROCESSES_MAX);
		out = open(path_of(c, c->members, path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		*m = (struct ml_process){
			.program = program, .host = program->host[i], .ran_ns = ml_clock_ns()};
		m->pid = out < 0 ? -1 : fork();
		if (m->pid == 0)
			exec_program(c, program, i, out, parent);
		if (out >= 0)
			close(out);
		if (m->pid < 0) {
			m->pid = 0;
			return ml_error_set(e, "starting %s: %s", program->name, strerror(errno));
		}
		setpgid(m->pid, m->pid);
		c->members++;
	}
	return 0;
}

static void note_exit(struct ml_process *m, int status)
{
	m->pid = 0;
	m->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool ml_processes_poll(struct ml_processes *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->members; i++) {
		struct ml_process *m = &c->member[i];
		int status;

		if (m->pid && waitpid(m->pid, &status, WNOHANG) == m->pid) {
			note_exit(m, status);
			m->ran_ns = ml_clock_ns() - m->ran_ns;
		}
		any = any || (m->pid && !m->program->background);
	}
	return any;
}

void ml_processes_stop(struct ml_processes *c)
{
	for (uint32_t i = 0; i < c->members; i++)
		if (c->member[i].pid)
			kill(-c->member[i].pid, SIGKILL);
	for (uint32_t i = 0; i < c->members; i++) {
		struct ml_process *m = &c->member[i];
		int status;

		if (!m->pid)
			continue;
		while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR)
			;
		note_exit(m, status);
		m->overdue = !m->program->background;
	}
}

char *ml_processes_output(const struct ml_processes *c, uint32_t member)
{
	char path[PATH_BYTES];
	FILE *f = fopen(path_of(c, member, path), "re");
	char *text = calloc(1, SAID_MAX);
	size_t n = f && text ? fread(text, 1, SAID_MAX - 1, f) : 0;

	if (f)
		fclose(f);
	if (text)
		text[n] = '\0';
	return text;
}
