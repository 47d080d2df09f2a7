/* SPDX-License-Identifier: BSD-2-Clause */
/* Named network namespaces: see netns.h. */
#include "lab/netns.h"
#include "base/printable.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MAX_BYTES 320
#define GRACE_MS 300
#define NAMESPACES_MAX 4096u

static char *path_of(const char *name, char out[PATH_MAX_BYTES])
{
	snprintf(out, PATH_MAX_BYTES, "%s/%s", ML_NETNS_DIR, name);
	return out;
}

int ml_netns_open(const char *name, struct ml_error *e)
{
	char path[PATH_MAX_BYTES];
	/* No link is followed, and of what is no namespace nothing is awaited. */
	int fd = open(path_of(name, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		ml_error_set(e, "%s: %s", path, strerror(errno));
	return fd;
}

int ml_netns_enter(const char *name, struct ml_error *e)
{
	int fd = ml_netns_open(name, e);
	int failed;

	if (fd < 0)
		return -1;
	failed = setns(fd, CLONE_NEWNET);
	if (failed)
		ml_error_set(e, "entering network namespace %s: %s", name, strerror(errno));
	close(fd);
	return failed ? -1 : 0;
}

size_t ml_netns_list(const char *prefix, void (*fn)(void *context, const char *name), void *context)
{
	DIR *dir = opendir(ML_NETNS_DIR);
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
			n++;
			fn(context, entry->d_name);
		}
	if (dir)
		closedir(dir);
	return n;
}

/* ---- clearing ---- */

struct clearing {
	struct ml_list names; /* each with its NUL: any other byte may be in one */
	struct stat ns[NAMESPACES_MAX];
	size_t n;
};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* That of process 1, which can have a second name: all of the machine would end with it. */
static bool is_machines(const struct stat *st)
{
	struct stat machine;

	return stat("/proc/1/ns/net", &machine) == 0 && same_file(st, &machine);
}

/* What a link leads to is not ours, only the link is. */
static void note_name(void *context, const char *name)
{
	struct clearing *c = context;
	char path[PATH_MAX_BYTES];
	struct stat st;

	fwrite(name, 1, strlen(name) + 1, c->names.to);
	if (c->n < NAMESPACES_MAX && lstat(path_of(name, path), &st) == 0 && !is_machines(&st))
		c->ns[c->n++] = st;
}

static bool lives_there(const struct clearing *c, const char *pid)
{
	char path[PATH_MAX_BYTES];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	if (stat(path, &st) != 0)
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (same_file(&c->ns[i], &st))
			return true;
	return false;
}

/* Sends a signal to every process in the namespaces but ourselves; how many got it. */
static size_t signal_all(const struct clearing *c, int number)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && lives_there(c, entry->d_name) &&
		    kill(pid, number) == 0)
			n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

static size_t end_processes(const struct clearing *c)
{
	size_t n = signal_all(c, SIGTERM);

	for (int waited = 0; n && waited < GRACE_MS; waited += 20) {
		if (signal_all(c, 0) == 0)
			return n;
		poll(NULL, 0, 20);
	}
	if (n)
		signal_all(c, SIGKILL);
	return n;
}

/*
 * As `ip netns del`, but that unmounts what a link leads to; and in a list for ip(8) one name could
 * be two. EINVAL: nothing is mounted there, for the machine began anew or it never was a namespace.
 */
static int delete_name(const char *name, struct ml_error *e)
{
	char path[PATH_MAX_BYTES];
	int err = 0;

	path_of(name, path);
	if ((umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && errno != EINVAL) ||
	    remove(path) != 0)
		err = errno;
	if (!err || err == ENOENT)
		return 0;
	return ml_error_set(e, "removing %s: %s", mb_printable(path, sizeof(path)), strerror(err));
}

/* All that can be; -1 with what is wrong with one that cannot. */
static int delete_all(struct clearing *c, struct ml_error *e)
{
	const char *end, *name = ml_list_text(&c->names);
	int failed = 0;

	for (end = name + c->names.len; name < end; name += strlen(name) + 1)
		if (delete_name(name, e))
			failed = -1;
	return failed;
}

int ml_netns_clear(const char *prefix, size_t *processes, struct ml_error *e)
{
	struct clearing *c = calloc(1, sizeof(*c));
	int failed = 0;

	if (!c)
		return ml_error_set(e, "no memory");
	ml_list_open(&c->names);
	if (ml_netns_list(prefix, note_name, c)) {
		*processes += end_processes(c);
		failed = delete_all(c, e);
	}
	ml_list_close(&c->names);
	free(c);
	return failed;
}

/* ---- inside ---- */

int ml_netns_sysctl(const char *name, const char *value, struct ml_error *e)
{
	char path[PATH_MAX_BYTES];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	if (!ok)
		ml_error_set(e, "writing %s to %s: %s", value, path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok ? 0 : -1;
}

int ml_netns_plain_port(const char *ifname, struct ml_error *e)
{
	static const uint32_t commands[] = {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO,
					    ETHTOOL_STXCSUM};
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int failed = fd < 0 ? -1 : 0;

	for (size_t i = 0; !failed && i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct ethtool_value value = {.cmd = commands[i]};
		struct ifreq request = {.ifr_data = (void *)&value};

		snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ifname);
		failed = ioctl(fd, SIOCETHTOOL, &request);
	}
	if (failed)
		ml_error_set(e, "turning the offloads of %s off: %s", ifname, strerror(errno));
	if (fd >= 0)
		close(fd);
	return failed ? -1 : 0;
}
