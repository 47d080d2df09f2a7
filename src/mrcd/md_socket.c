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

static int fail(struct md_config_error *error, const char *path, int err)
{
	snprintf(error->text, sizeof(error->text), "%.199s: %s", path, strerror(err));
	return err;
}

#define EVERYONE ((gid_t)-1)

/* Who may connect: everyone, or a group. */
static int find_group(const struct md_node *node, gid_t *gid, struct md_config_error *error)
{
	const char *name = node->config.group;
	const struct group *group = name[0] ? getgrnam(name) : NULL;

	*gid = group ? group->gr_gid : EVERYONE;
	return name[0] && !group
		       ? md_config_wrong(&node->config, node->config_path, "access.group", EINVAL,
					 error, "access.group = %s: no such group", name)
		       : 0;
}

static int set_access(const struct md_door *door, gid_t gid)
{
	if (gid == EVERYONE)
		return chmod(door->path, 0666) ? errno : 0;
	return chown(door->path, (uid_t)-1, gid) || chmod(door->path, 0660) ? errno : 0;
}

int md_door_open(struct md_door *door, struct md_node *node, struct md_config_error *error)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	gid_t gid;
	int err;

	door->node = node;
	md_subuid_init(&door->subuid, MD_SUBUID_FILE);
	door->deaf_until_ns = 0;
	for (uint32_t i = 0; i < MD_CLIENTS; i++)
		door->client[i] = (struct md_client){.fd = -1};
	snprintf(door->path, sizeof(door->path), "%s/%s", node->config.dir, STORE_SOCKET_NAME);
	door->fd = -1;
	err = find_group(node, &gid, error);
	if (err)
		return err;
	/* The configuration has a bound for it. */
	snprintf(at.sun_path, sizeof(at.sun_path), "%.*s", (int)sizeof(at.sun_path) - 1,
		 door->path);
	door->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (door->fd < 0)
		return fail(error, door->path, errno);
	unlink(door->path);
	/* Nobody connects before it is said who may. */
	fchmod(door->fd, 0);
	if (bind(door->fd, (struct sockaddr *)&at, sizeof(at)) || listen(door->fd, 64))
		err = errno;
	if (!err)
		err = set_access(door, gid);
	if (err)
		md_door_close(door);
	return err ? fail(error, door->path, err) : 0;
}

void md_door_close(struct md_door *door)
{
	for (uint32_t i = 0; i < MD_CLIENTS; i++)
		if (door->client[i].fd >= 0)
			md_client_fini(&door->client[i]);
	md_subuid_fini(&door->subuid);
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
		if (c->waits || (!fds[i].events && !c->heard_all))
			wait = WAIT_FOR_TOKENS_MS;
	}
	fds[MD_CLIENTS] = (struct pollfd){.fd = door->fd, .events = POLLIN};
	if (now_ns < door->deaf_until_ns) {
		fds[MD_CLIENTS].fd = -1;
		wait = WAIT_FOR_TOKENS_MS;
	}
	return wait;
}

/*
 * A user alone cannot take all places, and not with other users together: of a directory service's
 * subordinate numbers nobody knows whose they are. Root and CAP_NET_ADMIN find places that nobody
 * else takes.
 */
static struct md_client *find_place(struct md_door *door, const struct md_peer *peer,
				    uint64_t account)
{
	struct md_client *place = NULL;
	uint32_t same = 0, others = 0;

	for (uint32_t i = 0; i < MD_CLIENTS; i++) {
		struct md_client *c = &door->client[i];

		if (c->fd < 0) {
			place = place ? place : c;
			continue;
		}
		same += c->account == account;
		others += !c->peer.is_privileged;
	}
	if (same >= MD_CLIENTS_OF_USER)
		return NULL;
	return peer->is_privileged || others < MD_CLIENTS - MD_CLIENTS_KEPT ? place : NULL;
}

static void take_client(struct md_door *door, uint64_t now_ns)
{
	static const char full[] =
		"{\"ok\":false,\"errno\":\"EAGAIN\",\"error\":\"too many connections\"}\n";
	int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct md_client *c;
	struct md_peer peer;
	uint64_t account;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			door->deaf_until_ns = now_ns + DEAF_NS;
		return;
	}
	if (md_peer_find(fd, &peer)) {
		close(fd);
		return;
	}
	account = md_subuid_account(&door->subuid, peer.uid);
	c = find_place(door, &peer, account);
	if (!c || md_client_init(c, fd, &peer, now_ns)) {
		send(fd, full, sizeof(full) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
		return;
	}
	c->account = account;
	door->node->counts.clients++;
}

static void tell_all(struct md_door *door, const json_t *said)
{
	const json_t *event;
	size_t i;

	json_array_foreach(said, i, event) md_door_tell(door, event, MD_NOBODY);
}

/* false: it is to be ended. */
static bool serve_client(struct md_door *door, struct md_client *c, short revents, uint64_t now_ns,
			 json_t *said)
{
	/* Lines that had to wait are answered without new input. */
	if (revents & (POLLIN | POLLHUP | POLLERR) || (c->waits && md_client_may_ask(c, now_ns)))
		if (!md_client_receive(c, door->node, now_ns, said))
			return false;
	/* Who says nothing more may listen on; who does neither is gone. */
	return md_client_send(c) && !md_client_is_done(c) && !(c->heard_all && revents & POLLHUP);
}

void md_door_serve(struct md_door *door, const struct pollfd fds[MD_DOOR_POLLED], uint64_t now_ns)
{
	json_t *said = json_array();

	for (uint32_t i = 0; i < MD_CLIENTS; i++) {
		struct md_client *c = &door->client[i];

		if (c->fd < 0 || c->fd != fds[i].fd)
			continue;
		if (!serve_client(door, c, fds[i].revents, now_ns, said)) {
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
		if (uid != MD_NOBODY && !md_node_lets(door->node, &c->peer) &&
		    (int64_t)c->peer.uid != uid)
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
