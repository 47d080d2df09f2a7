/* SPDX-License-Identifier: BSD-2-Clause */
/* Named network namespaces: see netns.h. */
#include "lab/netns.h"

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
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_MAX_BYTES 320
#define GRACE_MS 300
#define INODES_MAX 4096u

int ml_netns_open(const char *name, struct ml_error *e)
{
	char path[PATH_MAX_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", ML_NETNS_DIR, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
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
	struct ml_list list;
	ino_t inode[INODES_MAX];
	size_t inodes;
};

static void note_name(void *context, const char *name)
{
	struct clearing *c = context;
	char path[PATH_MAX_BYTES];
	struct stat st;

	fprintf(c->list.to, "netns del %s\n", name);
	snprintf(path, sizeof(path), "%s/%s", ML_NETNS_DIR, name);
	if (c->inodes < INODES_MAX && stat(path, &st) == 0)
		c->inode[c->inodes++] = st.st_ino;
}

static bool lives_there(const struct clearing *c, const char *pid)
{
	char path[PATH_MAX_BYTES];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	if (stat(path, &st) != 0)
		return false;
	for (size_t i = 0; i < c->inodes; i++)
		if (c->inode[i] == st.st_ino)
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

int ml_netns_clear(const char *prefix, size_t *processes, struct ml_error *e)
{
	struct clearing *c = calloc(1, sizeof(*c));
	int failed = 0;

	if (!c)
		return ml_error_set(e, "no memory");
	ml_list_open(&c->list);
	if (ml_netns_list(prefix, note_name, c)) {
		*processes += end_processes(c);
		failed = ml_proc_batch("ip", ml_list_text(&c->list), true, e);
	}
	ml_list_close(&c->list);
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
