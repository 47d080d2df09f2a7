/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding and reading statistics segments: see stats_reader.h. */
#include "stats/stats_reader.h"

#include "base/printable.h"
#include "stats/stats_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

void stats_reader_open(struct stats_reader *s, const char *dir, uint32_t only_pid)
{
	const char *named = secure_getenv("MRC_STATS_DIR");

	*s = (struct stats_reader){.only_pid = only_pid, .prefix = MRC_STATS_DIR_PREFIX};
	s->dir = dir ? dir : named && *named ? named : NULL;
	if (!s->dir) {
		s->config_err = stats_config_dir(s->config_dir, s->error);
		s->dir = s->config_dir[0] ? s->config_dir : stats_dir_default(s->default_dir);
	}
	if (geteuid() == 0)
		stats_reader_open_others(s);
}

void stats_reader_open_others(struct stats_reader *s)
{
	s->others = true;
	s->all = s->dir == s->default_dir;
}

void stats_reader_open_own(struct stats_reader *s)
{
	stats_reader_open(s, NULL, (uint32_t)getpid());
	s->others = false;
	s->all = false;
}

static void close_process(struct stats_process *p)
{
	close(p->fd);
	free(p->now);
	free(p->before);
	*p = (struct stats_process){0};
}

void stats_reader_close(struct stats_reader *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		close_process(&s->process[i]);
	s->n = 0;
}

static void forget_gone(struct stats_reader *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->process[i].gone)
			close_process(&s->process[i]);
		else
			s->process[kept++] = s->process[i];
	}
	s->n = kept;
}

/* ---- finding ---- */

/* In a folder of one user its owner is known, in one for all the name says it. */
static bool is_known(const struct stats_reader *s, const struct stats_process *p)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->process[i].pid == p->pid && s->process[i].device == p->device &&
		    (p->uid == STATS_ANY_OWNER || s->process[i].uid == p->uid))
			return true;
	return false;
}

/* A process holds an exclusive lock on its file as long as it lives. */
static bool is_alive(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return true;
	flock(fd, LOCK_UN);
	return false;
}

static void read_command(struct stats_process *p)
{
	char path[32];
	FILE *f;

	snprintf(p->command, sizeof(p->command), "?");
	snprintf(path, sizeof(path), "/proc/%u/comm", p->pid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(p->command, sizeof(p->command), f))
		p->command[strcspn(p->command, "\n")] = '\0';
	fclose(f);
	mb_printable(p->command, sizeof(p->command));
}

static void add_process(struct stats_reader *s, struct stats_process *p)
{
	enum stats_kind kind = s->with_ended || is_alive(p->fd) ? stats_kind_of(p->fd) : STATS_NONE;

	s->other_version += kind == STATS_OTHER_VERSION;
	if (kind != STATS_SEGMENT) {
		close(p->fd);
		return;
	}
	read_command(p);
	s->process[s->n++] = *p;
}

static void add_file(struct stats_reader *s, int dir, const char *name, struct stats_process *p)
{
	p->fd = stats_file_open(dir, name, &p->uid);
	if (p->fd >= 0) {
		add_process(s, p);
		return;
	}
	s->unreadable += errno == EACCES;
	s->unseen += errno == EMFILE || errno == ENFILE;
	s->refused += errno == EPERM || errno == ELOOP;
}

static uint32_t count_of(const struct stats_reader *s, uid_t owner)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->process[i].uid == owner;
	return n;
}

/* Takes over the descriptor of a folder, whose files are to be of this owner. */
static void find_in(struct stats_reader *s, int fd, uid_t owner)
{
	uint32_t others = s->n - count_of(s, owner);
	uint32_t most = s->all ? STATS_PROCESSES_OF_USER_MAX : STATS_PROCESSES_MAX;
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;

	if (!dir)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		struct stats_process p = {.uid = owner};

		if (!stats_file_name(entry->d_name, &p.pid, &p.device) ||
		    (s->only_pid && p.pid != s->only_pid) || is_known(s, &p))
			continue;
		if (s->n == STATS_PROCESSES_MAX || s->n - others >= most)
			s->unseen++;
		else
			add_file(s, dirfd(dir), entry->d_name, &p);
	}
	if (dir)
		closedir(dir);
}

/* The number in a name is for people: whose folder it is, the file system says. */
static void find_of_all(struct stats_reader *s, int base, const char *prefix)
{
	int copy = fcntl(base, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	size_t len = strlen(prefix);
	const struct dirent *entry;
	uid_t owner;

	while (dir && (entry = readdir(dir))) {
		const char *number = entry->d_name + len;
		int fd;

		if (strncmp(entry->d_name, prefix, len) != 0 || !*number ||
		    number[strspn(number, "0123456789")])
			continue;
		fd = stats_dir_open(base, entry->d_name, &owner);
		if (fd >= 0)
			find_in(s, fd, owner);
		else if (errno == EACCES)
			s->unreadable++;
		else
			s->refused++;
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

/* The folder above those of users. 0, or an errno value. */
static int find_all(struct stats_reader *s)
{
	const char *name = strrchr(s->prefix, '/') + 1;
	char base[256];
	int fd;

	snprintf(base, sizeof(base), "%.*s", (int)(name - s->prefix), s->prefix);
	fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	find_of_all(s, fd, name);
	close(fd);
	return 0;
}

static int find_one(struct stats_reader *s)
{
	uid_t owner = s->others ? STATS_ANY_OWNER : geteuid();
	bool is_default = s->dir == s->default_dir;
	uid_t of_dir = owner;
	int fd = is_default ? stats_dir_open(AT_FDCWD, s->dir, &of_dir)
			    : open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	if (of_dir != owner) {
		close(fd);
		return EPERM;
	}
	find_in(s, fd, owner);
	return 0;
}

int stats_reader_find(struct stats_reader *s)
{
	int err;

	s->unreadable = 0;
	s->refused = 0;
	s->unseen = 0;
	s->other_version = 0;
	if (s->config_err)
		return s->config_err;
	err = s->all ? find_all(s) : find_one(s);
	return err == ENOENT ? 0 : err;
}

/* ---- reading ---- */

/* A file that is no segment any more leaves the numbers as they were. False: no memory. */
static bool take_reading(struct stats_process *p, uint64_t now_ns)
{
	struct mrc_stats_segment *s;

	if (!p->now)
		p->now = calloc(1, sizeof(*p->now));
	if (!p->before)
		p->before = calloc(1, sizeof(*p->before));
	if (!p->now || !p->before)
		return false;
	if (!stats_copy(p->fd, p->before)) {
		*p->before = *p->now;
		p->gone = true;
		return true;
	}
	s = p->before;
	p->before = p->now;
	p->now = s;
	p->read_before_ns = p->read_ns;
	p->read_ns = now_ns;
	return true;
}

int stats_reader_copy(struct stats_reader *s, uint64_t now_ns)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!take_reading(&s->process[i], now_ns))
			return ENOMEM;
	return 0;
}

int stats_reader_read(struct stats_reader *s, uint64_t now_ns)
{
	int err;

	forget_gone(s);
	err = stats_reader_find(s);
	for (uint32_t i = 0; i < s->n; i++)
		s->process[i].gone = !is_alive(s->process[i].fd);
	return stats_reader_copy(s, now_ns) ? ENOMEM : err;
}

/* One that ends after it was looked at is read once more the next time. */
int stats_reader_follow(struct stats_reader *s, stats_event_fn fn, void *context, uint64_t *missed)
{
	int err;

	forget_gone(s);
	err = stats_reader_find(s);
	for (uint32_t i = 0; i < s->n; i++)
		s->process[i].gone = !is_alive(s->process[i].fd);
	*missed += stats_reader_events(s, fn, context);
	return err;
}

static void add_used(uint32_t profiles, const struct stats_process *p, uint32_t *all,
		     struct stats_owner by[STATS_PROFILES])
{
	*all |= profiles;
	for (uint32_t i = 0; i < STATS_PROFILES; i++)
		if (profiles >> i & 1)
			by[i] = (struct stats_owner){p->pid, p->uid};
}

void stats_reader_profiles(struct stats_reader *s, uint32_t device, const struct stats_owner *but,
			   struct stats_profiles *used)
{
	*used = (struct stats_profiles){0};
	stats_reader_find(s);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct stats_process *p = &s->process[i];
		struct mrc_stats_qps qps;

		if (p->device != device || (but && p->pid == but->pid && p->uid == but->uid) ||
		    !is_alive(p->fd) || !stats_copy_qps(p->fd, &qps))
			continue;
		add_used(qps.ev_profiles, p, &used->ev, used->ev_owner);
		add_used(qps.cc_profiles, p, &used->cc, used->cc_owner);
	}
}

const struct mrc_stats_counter *stats_counter_find(const struct mrc_stats_segment *s,
						   const char *name)
{
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS && s->counter[i].name[0]; i++)
		if (strncmp(s->counter[i].name, name, sizeof(s->counter[i].name)) == 0)
			return &s->counter[i];
	return NULL;
}

uint64_t stats_counter(const struct mrc_stats_segment *s, const char *name)
{
	const struct mrc_stats_counter *c = stats_counter_find(s, name);

	return c ? c->value : 0;
}

double stats_per_second(const struct stats_process *p, uint64_t now, uint64_t before)
{
	uint64_t ns = p->read_ns - p->read_before_ns;

	if (!p->read_before_ns || !ns || now < before)
		return 0;
	return (double)(now - before) * 1e9 / (double)ns;
}
