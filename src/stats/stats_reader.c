/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading statistics segments: see stats_reader.h. */
#include "stats/stats_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char *stats_dir(void)
{
	const char *dir = getenv("MRC_STATS_DIR");

	return dir && *dir ? dir : MRC_STATS_DEFAULT_DIR;
}

void stats_reader_open(struct stats_reader *s, const char *dir, uint32_t only_pid)
{
	*s = (struct stats_reader){.dir = dir, .only_pid = only_pid};
}

static void close_process(struct stats_process *p)
{
	munmap((void *)(uintptr_t)p->map, sizeof(*p->map));
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

/* The numbers in "1234.mrcstats" or "1234.1.mrcstats"; 0 for another name. */
static uint32_t pid_of_name(const char *name, uint32_t *device)
{
	size_t digits = strspn(name, "0123456789");
	const char *rest = name + digits;

	*device = 0;
	if (rest[0] == '.' && rest[1] >= '1' && rest[1] <= '9') {
		*device = (uint32_t)(rest[1] - '0');
		rest += 2;
	}

	if (!digits || digits > 9 || strcmp(rest, MRC_STATS_SUFFIX) != 0)
		return 0;
	return (uint32_t)strtoul(name, NULL, 10);
}

static bool is_known(const struct stats_reader *s, uint32_t pid, uint32_t device)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->process[i].pid == pid && s->process[i].device == device)
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
	/* The name of a process must not move the cursor. */
	for (char *c = p->command; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static const struct mrc_stats_segment *map_file(int fd)
{
	const struct mrc_stats_segment *map;
	struct stat st;

	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(*map))
		return NULL;
	map = mmap(NULL, sizeof(*map), PROT_READ, MAP_SHARED, fd, 0);
	return map == MAP_FAILED ? NULL : map;
}

/* The magic is stored last: without it the process is still at work on the rest. */
static bool is_ready(const struct mrc_stats_segment *map)
{
	return memcmp(map->magic, MRC_STATS_MAGIC, sizeof(map->magic)) == 0;
}

static void add_mapped(struct stats_reader *s, uint32_t pid, uint32_t device,
		       const struct mrc_stats_segment *map)
{
	struct stats_process *p = &s->process[s->n++];

	*p = (struct stats_process){.pid = pid, .device = device, .map = map};
	read_command(p);
}

/*
 * Opens a file of the folder, in which others may have put anything: -1 for what is no regular
 * file, and neither a FIFO nor a lease makes us wait.
 */
static int open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

static void add_file(struct stats_reader *s, int dir, const char *name, uint32_t pid,
		     uint32_t device)
{
	int fd = open_file(dir, name);
	const struct mrc_stats_segment *map;

	if (fd < 0) {
		s->unreadable += errno == EACCES;
		return;
	}
	map = s->with_ended || is_alive(fd) ? map_file(fd) : NULL;
	close(fd);
	if (!map)
		return;
	if (is_ready(map) && map->version == MRC_STATS_VERSION) {
		add_mapped(s, pid, device, map);
		return;
	}
	s->other_version += is_ready(map);
	munmap((void *)(uintptr_t)map, sizeof(*map));
}

int stats_reader_find(struct stats_reader *s)
{
	DIR *dir = opendir(s->dir);
	const struct dirent *entry;

	if (!dir)
		return errno == ENOENT ? 0 : errno;
	s->unreadable = 0;
	s->other_version = 0;
	while (s->n < STATS_PROCESSES_MAX && (entry = readdir(dir))) {
		uint32_t device, pid = pid_of_name(entry->d_name, &device);

		if (pid && (!s->only_pid || pid == s->only_pid) && !is_known(s, pid, device))
			add_file(s, dirfd(dir), entry->d_name, pid, device);
	}
	closedir(dir);
	return 0;
}

/* Whether the file that is mapped is still there and locked. */
static bool is_still_there(const struct stats_reader *s, const struct stats_process *p)
{
	char path[4096], own[16] = "";
	bool alive;
	int fd;

	if (p->device > 0)
		snprintf(own, sizeof(own), ".%u", p->device);
	if (snprintf(path, sizeof(path), "%s/%u%s" MRC_STATS_SUFFIX, s->dir, p->pid, own) >=
	    (int)sizeof(path))
		return false;
	fd = open_file(AT_FDCWD, path);
	if (fd < 0)
		return false;
	alive = is_alive(fd);
	close(fd);
	return alive;
}

/* Bounds of what another process wrote are checked once, here. False: no memory. */
static bool take_reading(struct stats_process *p, uint64_t now_ns)
{
	struct mrc_stats_segment *s;

	if (!p->now)
		p->now = calloc(1, sizeof(*p->now));
	if (!p->before)
		p->before = calloc(1, sizeof(*p->before));
	if (!p->now || !p->before)
		return false;
	s = p->before;
	p->before = p->now;
	p->now = s;
	p->read_before_ns = p->read_ns;
	p->read_ns = now_ns;
	memcpy(s, p->map, sizeof(*s));
	if (s->ports > MRC_STATS_PORTS)
		s->ports = MRC_STATS_PORTS;
	for (uint32_t i = 0; i < MRC_STATS_COUNTERS; i++)
		s->counter[i].name[sizeof(s->counter[i].name) - 1] = '\0';
	for (uint32_t i = 0; i < MRC_STATS_QPS; i++) {
		struct mrc_stats_qp *qp = &s->qp[i];

		qp->state[sizeof(qp->state) - 1] = '\0';
		if (qp->evs > MRC_STATS_EVS)
			qp->evs = MRC_STATS_EVS;
	}
	return true;
}

int stats_reader_read(struct stats_reader *s, uint64_t now_ns)
{
	int err;

	forget_gone(s);
	err = stats_reader_find(s);
	for (uint32_t i = 0; i < s->n; i++) {
		struct stats_process *p = &s->process[i];

		p->gone = !is_still_there(s, p);
		if (!take_reading(p, now_ns))
			return ENOMEM;
	}
	return err;
}

_Static_assert(sizeof(struct mrc_stats_event) % sizeof(uint64_t) == 0, "copied word by word");

/*
 * False: the event was overwritten before or while it was copied. Each word is loaded with acquire,
 * so that the count behind them is read last.
 */
static bool copy_event(const struct mrc_stats_segment *s, uint64_t number,
		       struct mrc_stats_event *event)
{
	const uint64_t *from = (const void *)&s->event[number % MRC_STATS_EVENTS];
	uint64_t words[sizeof(*event) / sizeof(uint64_t)];

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
	memcpy(event, words, sizeof(words));
	return __atomic_load_n(&s->events, __ATOMIC_RELAXED) - number < MRC_STATS_EVENTS;
}

uint64_t stats_reader_events(struct stats_reader *s, stats_event_fn fn, void *context)
{
	struct mrc_stats_event event;
	uint64_t missed = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		struct stats_process *p = &s->process[i];
		uint64_t end = __atomic_load_n(&p->map->events, __ATOMIC_ACQUIRE);

		for (; p->events < end; p->events++)
			if (copy_event(p->map, p->events, &event))
				fn(context, &event);
			else
				missed++;
	}
	return missed;
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

	return c ? __atomic_load_n(&c->value, __ATOMIC_RELAXED) : 0;
}

double stats_per_second(const struct stats_process *p, uint64_t now, uint64_t before)
{
	uint64_t ns = p->read_ns - p->read_before_ns;

	if (!p->read_before_ns || !ns || now < before)
		return 0;
	return (double)(now - before) * 1e9 / (double)ns;
}
