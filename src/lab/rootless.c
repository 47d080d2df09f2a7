/* SPDX-License-Identifier: BSD-2-Clause */
/* Labs of users without rights, in a user namespace that a process keeps: see lab.h. */
#include "lab/lab.h"

#include "lab/lab_state.h"
#include "lab/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

int ml_rootless_enter(struct ml_error *e)
{
	char uid[40], gid[40];

	snprintf(uid, sizeof(uid), "0 %u 1", geteuid());
	snprintf(gid, sizeof(gid), "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) != 0)
		return ml_error_set(e,
				    "a user namespace cannot be made: %s (sysctls user.max_user_"
				    "namespaces, kernel.unprivileged_userns_clone)",
				    strerror(errno));
	if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", uid) ||
	    !write_file("/proc/self/gid_map", gid))
		return ml_error_set(e, "user namespace: writing its maps: %s", strerror(errno));
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("softmrc-lab", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") != 0 ||
	    mkdir("/run/netns", 0755) != 0)
		return ml_error_set(e, "user namespace: a /run of its own: %s", strerror(errno));
	return 0;
}

/* Moves this process, which must have one thread, into the namespaces of another one. 0, or -1. */
static int join_namespaces(pid_t pid, struct ml_error *e)
{
	static const struct {
		const char *name;
		int type;
	} spaces[] = {{"user", CLONE_NEWUSER}, {"net", CLONE_NEWNET}, {"mnt", CLONE_NEWNS}};
	int fd[3], failed = 0;

	/* All are opened first: the new mount namespace may show another /proc. */
	for (size_t i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, spaces[i].name);
		fd[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	for (size_t i = 0; i < 3 && !failed; i++)
		if (fd[i] < 0 || setns(fd[i], spaces[i].type) != 0)
			failed = ml_error_set(e, "entering the %s namespace of process %d: %s",
					      spaces[i].name, (int)pid, strerror(errno));
	for (size_t i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return failed;
}

#define DIR_BYTES 200
#define PATH_BYTES 256
#define SUFFIX ".holder"

/* ---- which process holds a lab ---- */

static int try_unshare(void *context, size_t item, struct ml_error *e)
{
	(void)item;
	(void)e;
	*(bool *)context = unshare(CLONE_NEWNET) == 0;
	return 0;
}

bool ml_needs_ns_holder(void)
{
	bool able = false;
	struct ml_error e;

	return ml_threads_call(try_unshare, &able, &e) || !able || access("/run", W_OK) != 0;
}

enum folder {
	FOLDER_WRONG = -1, /* in *e */
	FOLDER_NONE,	   /* no lab of this user can be in it */
	FOLDER_OURS,
};

/* Only a folder of this user that nobody else can write to says which process holds a lab. */
static enum folder judge_folder(const char *path, const struct stat *st, struct ml_error *e)
{
	static const char cure[] = "remove it, or name another folder in XDG_RUNTIME_DIR";

	if (!S_ISDIR(st->st_mode))
		ml_error_set(e, "%s: is no folder; %s", path, cure);
	else if (st->st_uid != geteuid())
		ml_error_set(e, "%s: belongs to user %u, not to user %u; %s", path, st->st_uid,
			     geteuid(), cure);
	else if (st->st_mode & (S_IWGRP | S_IWOTH))
		ml_error_set(e, "%s: mode %04o lets others write; chmod 700 %s", path,
			     st->st_mode & 07777, path);
	else
		return FOLDER_OURS;
	return FOLDER_WRONG;
}

/*
 * The folder, made where `make`. What others put in its place keeps nobody from labs that have no
 * namespace holder, so that where it is only looked for, it is as good as none.
 */
static enum folder holder_folder(char *out, bool make, struct ml_error *e)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	enum folder is;
	struct stat st;

	if (runtime && *runtime)
		snprintf(out, DIR_BYTES, "%.*s/softmrc-lab", DIR_BYTES - 20, runtime);
	else
		snprintf(out, DIR_BYTES, "/tmp/softmrc-lab-%u", geteuid());
	if (make)
		mkdir(out, 0700);
	if (lstat(out, &st) != 0) {
		ml_error_set(e, "%s: %s", out, strerror(errno));
		return make ? FOLDER_WRONG : FOLDER_NONE;
	}
	is = judge_folder(out, &st, e);
	if (is == FOLDER_WRONG && !make && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()))
		return FOLDER_NONE;
	return is;
}

/* A process that is ending leaves its namespaces before it is seen to have ended. */
static bool has_namespaces(pid_t pid)
{
	char path[64], to[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return readlink(path, to, sizeof(to)) > 0 || errno != ENOENT;
}

/* The holder of a lab, or 0; the file of one that died is removed. */
static pid_t find_holder(const char *lab, bool make, char *path, struct ml_error *e)
{
	char dir[DIR_BYTES];
	enum folder folder;
	unsigned long long since = 0;
	int pid = 0;
	FILE *f;

	if (ml_state_name(lab, e))
		return -1;
	folder = holder_folder(dir, make, e);
	if (folder != FOLDER_OURS)
		return folder == FOLDER_NONE ? 0 : -1;
	snprintf(path, PATH_BYTES, "%s/%s" SUFFIX, dir, lab);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%d %llu", &pid, &since) != 2)
		pid = 0;
	fclose(f);
	if (pid > 0 && since && ml_process_since(pid) == since && has_namespaces(pid))
		return pid;
	unlink(path);
	return 0;
}

static int record_holder(const char *path, pid_t pid, struct ml_error *e)
{
	FILE *f = fopen(path, "we");
	bool ok = f && fprintf(f, "%d %" PRIu64 "\n", (int)pid, ml_process_since(pid)) > 0;

	if (f && fclose(f) != 0)
		ok = false;
	return ok ? 0 : ml_error_set(e, "writing %s: %s", path, strerror(errno));
}

/* ---- up ---- */

/* Nothing of the one who started it is held: no terminal, no files. */
static void wait_forever(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	syscall(SYS_close_range, 3, ~0u, 0);
	for (;;)
		pause();
}

/* In the child: an empty word up the pipe says that all went well, else why not. */
static void run_holder(const struct ml_options *options, int tell)
{
	struct ml_error e = {{0}};
	struct ml_lab *lab = NULL;

	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	if (ml_rootless_enter(&e) == 0)
		lab = ml_lab_up(options, &e);
	if (lab)
		e.text[0] = '\0';
	if (write(tell, e.text, sizeof(e.text)) != sizeof(e.text) || !lab)
		_exit(1);
	wait_forever();
}

static int wait_for_word(int from, pid_t holder, struct ml_error *e)
{
	struct ml_error word = {{0}};
	ssize_t n;

	do {
		n = read(from, word.text, sizeof(word.text));
	} while (n < 0 && errno == EINTR);
	if (n == sizeof(word.text) && !word.text[0])
		return 0;
	while (waitpid(holder, NULL, 0) < 0 && errno == EINTR)
		;
	word.text[sizeof(word.text) - 1] = '\0';
	return ml_error_set(e, "%s", word.text[0] ? word.text : "the lab's namespace holder died");
}

int ml_ns_holder_start(const struct ml_options *options, struct ml_error *e)
{
	const char *name = options->name ? options->name : "lab";
	char path[PATH_BYTES];
	pid_t holder = find_holder(name, true, path, e);
	int ends[2], failed;

	if (holder < 0)
		return -1;
	if (holder)
		return ml_error_set(e, "lab %s is up already; mrc lab down %s removes it", name,
				    name);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return ml_error_set(e, "pipe: %s", strerror(errno));
	holder = fork();
	if (holder == 0) {
		close(ends[0]);
		run_holder(options, ends[1]);
	}
	close(ends[1]);
	failed = holder < 0 ? ml_error_set(e, "fork: %s", strerror(errno))
			    : wait_for_word(ends[0], holder, e);
	close(ends[0]);
	if (!failed && record_holder(path, holder, e)) {
		kill(holder, SIGKILL);
		failed = -1;
	}
	return failed;
}

/* ---- afterwards ---- */

int ml_ns_holder_join(const char *lab, struct ml_error *e)
{
	char path[PATH_BYTES];
	pid_t holder = find_holder(lab, false, path, e);

	if (holder <= 0)
		return holder;
	return join_namespaces(holder, e) ? -1 : 1;
}

/* In a child, for it is over there then: what it found comes back through a pipe. */
static int down_there(pid_t holder, const char *lab, struct ml_down *down, struct ml_error *e)
{
	int ends[2], failed = -1;
	ssize_t n = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return ml_error_set(e, "pipe: %s", strerror(errno));
	child = fork();
	if (child == 0) {
		failed = join_namespaces(holder, e) || ml_lab_down(lab, down, e);
		if (!failed)
			n = write(ends[1], down, sizeof(*down));
		_exit(failed || n != sizeof(*down));
	}
	close(ends[1]);
	if (child > 0) {
		failed = read(ends[0], down, sizeof(*down)) == sizeof(*down) ? 0 : -1;
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	return failed ? ml_error_set(e, "lab %s cannot be cleared from inside", lab) : 0;
}

int ml_ns_holder_stop(const char *lab, struct ml_down *down, struct ml_error *e)
{
	char path[PATH_BYTES];
	pid_t holder = find_holder(lab, false, path, e);
	int failed;

	if (holder <= 0)
		return holder;
	failed = down_there(holder, lab, down, e);
	/* Even then: without its namespace holder the lab has no way to stay. */
	kill(holder, SIGKILL);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path); /* unless it holds others */
	return failed ? -1 : 1;
}

void ml_ns_holder_list(void (*fn)(void *context, const char *name), void *context)
{
	char dir_name[DIR_BYTES], path[PATH_BYTES], name[ML_LAB_NAME_MAX];
	struct dirent *entry;
	struct ml_error e;
	DIR *dir = holder_folder(dir_name, false, &e) == FOLDER_OURS ? opendir(dir_name) : NULL;

	while (dir && (entry = readdir(dir))) {
		size_t len = strcspn(entry->d_name, ".");

		if (strcmp(entry->d_name + len, SUFFIX) != 0 || len >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len, entry->d_name);
		if (find_holder(name, false, path, &e) > 0)
			fn(context, name);
	}
	if (dir)
		closedir(dir);
}
