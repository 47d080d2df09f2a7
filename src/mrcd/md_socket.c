/* SPDX-License-Identifier: BSD-2-Clause */
/* md_socket.c - all connections of the socket: see md_serve.h. */
#include "mrcd/md_serve.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "mrcd/md_log.h"

#define DEAF_NS UINT64_C(200000000)
#define WAIT_FOR_TOKENS_MS 20

static int fail(struct md_config_error *error, const char *path, const char *what, int err)
{
	snprintf(error->text, sizeof(error->text), "%.199s: %s%s", path, what, strerror(err));
	return err;
}

/* Who may connect: everyone, or a group. */
static int set_access(const struct md_door *door, struct md_config_error *error)
{
	const char *name = door->node->config.group;
	const struct group *group;

	if (!name[0])
		return chmod(door->path, 0666) ? fail(error, door->path, "", errno) : 0;
	group = getgrnam(name);
	if (!group) {
		snprintf(error->text, sizeof(error->text), "access.group = %s: no such group",
			 name);
		return EINVAL;
	}
	if (chown(door->path, (uid_t)-1, group->gr_gid) || chmod(door->path, 0660))
		return fail(error, door->path, "", errno);
	return 0;
}

int md_door_open(struct md_door *door, struct md_node *node, struct md_config_error *error)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int err = 0;

	door->node = node;
	door->deaf_until_ns = 0;
	for (uint32_t i = 0; i < MD_CLIENTS; i++)
		door->client[i] = (struct md_client){.fd = -1};
	snprintf(door->path, sizeof(door->path), "%s/%s", node->config.dir, MD_SOCKET_NAME);
	door->fd = -1;
	if (strlen(door->path) >= sizeof(at.sun_path))
		return fail(error, door->path, "node.dir: ", ENAMETOOLONG);
	strcpy(at.sun_path, door->path);
	door->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (door->fd < 0)
		return fail(error, door->path, "", errno);
	unlink(door->path);
	/* Nobody connects before it is said who may. */
	fchmod(door->fd, 0);
	if (bind(door->fd, (struct sockaddr *)&at, sizeof(at)) || listen(door->fd, 64))
		err = fail(error, door->path, "", errno);
	if (!err)
		err = set_access(door, error);
	if (err)
		md_door_close(door);
	return err;
}

void md_door_close(struct md_door *door)
{
	for (uint32_t i = 0; i < MD_CLIENTS; i++)
		if (door->client[i].fd >= 0)
			md_client_fini(&door->client[i]);
	if (door->fd >= 0) {
		close(door->fd);
		unlink(door->path);
	}
	door->fd = -1;
}

int md_door_poll(const struct md_door *door, struct pollfd fds[MD_DOOR_POLLED], uint64_t now_ns)
{
	int wait = -1;

	for (uint32_t i = 0; i < MD_CLIENTS; i++) {
		const struct md_client *c = &door->client[i];

		fds[i] = (struct pollfd){.fd = c->fd};
		if (c->fd < 0)
			continue;
		fds[i].events = md_client_wants(c, now_ns);
		if (!fds[i].events || (c->got && fds[i].events & POLLIN))
			wait = WAIT_FOR_TOKENS_MS;
	}
	fds[MD_CLIENTS] = (struct pollfd){.fd = door->fd, .events = POLLIN};
	if (now_ns < door->deaf_until_ns) {
		fds[MD_CLIENTS].fd = -1;
		wait = WAIT_FOR_TOKENS_MS;
	}
	return wait;
}

/* A user alone cannot take all places. */
static struct md_client *find_place(struct md_door *door, const struct md_peer *peer)
{
	struct md_client *place = NULL;
	uint32_t same = 0;

	for (uint32_t i = 0; i < MD_CLIENTS; i++) {
		struct md_client *c = &door->client[i];

		if (c->fd < 0)
			place = place ? place : c;
		else
			same += c->peer.uid == peer->uid;
	}
	return same < MD_CLIENTS_OF_USER ? place : NULL;
}

static void take_client(struct md_door *door, uint64_t now_ns)
{
	static const char full[] =
		"{\"ok\":false,\"errno\":\"EAGAIN\",\"error\":\"too many connections\"}\n";
	int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct md_client *c;
	struct md_peer peer;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			door->deaf_until_ns = now_ns + DEAF_NS;
		return;
	}
	if (md_peer_find(fd, door->node->config.lab, &peer)) {
		close(fd);
		return;
	}
	c = find_place(door, &peer);
	if (!c || md_client_init(c, fd, &peer, now_ns)) {
		send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
		return;
	}
	door->node->counts.clients++;
}

static void tell_all(struct md_door *door, const json_t *said)
{
	const json_t *event;
	size_t i;

	json_array_foreach(said, i, event) md_door_tell(door, event, MD_NOBODY);
}

void md_door_serve(struct md_door *door, const struct pollfd fds[MD_DOOR_POLLED], uint64_t now_ns)
{
	json_t *said = json_array();

	for (uint32_t i = 0; i < MD_CLIENTS; i++) {
		struct md_client *c = &door->client[i];
		bool stays = true;

		if (c->fd < 0 || c->fd != fds[i].fd)
			continue;
		/* Lines that had to wait are answered without new input. */
		if (fds[i].revents & (POLLIN | POLLHUP | POLLERR) ||
		    (c->got && md_client_wants(c, now_ns) & POLLIN))
			stays = md_client_receive(c, door->node, now_ns, said);
		if (stays)
			stays = md_client_send(c);
		if (!stays) {
			md_client_fini(c);
			door->node->counts.clients--;
		}
	}
	if (fds[MD_CLIENTS].revents)
		take_client(door, now_ns);
	tell_all(door, said);
	json_decref(said);
}

void md_door_tell(struct md_door *door, const json_t *event, int64_t uid)
{
	for (uint32_t i = 0; i < MD_CLIENTS; i++) {
		struct md_client *c = &door->client[i];

		if (c->fd < 0 || !c->peer.follows)
			continue;
		if (uid != MD_NOBODY && !c->peer.may_change && (int64_t)c->peer.uid != uid)
			continue;
		if (md_client_tell(c, event))
			door->node->counts.events++;
		else
			door->node->counts.events_dropped++;
	}
}

bool md_door_is_followed(const struct md_door *door)
{
	for (uint32_t i = 0; i < MD_CLIENTS; i++)
		if (door->client[i].fd >= 0 && door->client[i].peer.follows)
			return true;
	return false;
}
