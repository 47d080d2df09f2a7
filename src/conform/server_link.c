/* SPDX-License-Identifier: BSD-2-Clause */
/* server_link.c - see server_link.h. Answers are not trusted: what does not fit ends the run. */
#include "conform/server_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/printable.h"
#include "conform/serve.h"

#define ANSWER_MAX 9000u
#define PATIENCE_S 10
#define HOST_MAX 256u
#define QP_WORDS 7u

/* ---- the numbers of a QP ---- */

int cf_gid_read(const char *text, uint8_t gid[16], uint32_t *scope)
{
	const char *interface = strchr(text, '%');
	char address[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "%");
	struct in6_addr ipv6;

	*scope = interface ? if_nametoindex(interface + 1) : 0;
	if ((interface && *scope == 0) || len >= sizeof(address))
		return -1;
	snprintf(address, sizeof(address), "%.*s", (int)len, text);
	if (inet_pton(AF_INET6, address, &ipv6) == 1) {
		memcpy(gid, &ipv6, sizeof(ipv6));
		return !interface || IN6_IS_ADDR_LINKLOCAL(&ipv6) ? 0 : -1;
	}
	memset(gid, 0, 16);
	gid[10] = gid[11] = 0xFF;
	return !interface && inet_pton(AF_INET, address, gid + 12) == 1 ? 0 : -1;
}

static int read_number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return *text == '-' || end == text || *end || errno || *value > most ? -1 : 0;
}

/* Cases write some bytes into the region before any asks how long it is. */
#define LENGTH_LEAST 64u

/* Reads one of the words; *seen gets its bit. Returns 0, or -1 and perhaps *why, what it may be. */
static int read_word(const char *name, const char *value, struct cf_qp *qp, unsigned *seen,
		     char why[CF_SAY_MAX])
{
	static const struct {
		const char *name;
		uint64_t least, most;
	} word[QP_WORDS] = {{"qpn", 0, 0xFFFFFF},     {"psn", 0, 0xFFFFFF},
			    {"rkey", 0, UINT32_MAX},  {"mtu", 256, 4096},
			    {"va", 0, UINT64_MAX},    {"length", LENGTH_LEAST, UINT64_MAX},
			    {"peer_psn", 0, 0xFFFFFF}};
	uint32_t *const small[] = {&qp->qpn, &qp->psn, &qp->rkey, &qp->mtu};
	uint64_t *const large[] = {&qp->va, &qp->length};
	uint64_t number;

	if (strcmp(name, "gid") == 0) {
		*seen |= 1u << QP_WORDS;
		return cf_gid_read(value, qp->gid, &qp->scope);
	}
	for (unsigned i = 0; i < QP_WORDS; i++) {
		if (strcmp(name, word[i].name) != 0)
			continue;
		*seen |= 1u << i;
		if (read_number(value, word[i].most, &number) || number < word[i].least) {
			snprintf(why, CF_SAY_MAX,
				 "%s %.40s: must be a whole number, %" PRIu64 " to %" PRIu64, name,
				 value, word[i].least, word[i].most);
			return -1;
		}
		if (i < 4)
			*small[i] = (uint32_t)number;
		else if (i < 6)
			*large[i - 4] = number;
		else
			qp->next_psn = (uint32_t)number;
		return 0;
	}
	return -1;
}

int cf_qp_read(const char *text, struct cf_qp *qp, char why[CF_SAY_MAX])
{
	char copy[512], *save;
	unsigned seen = 0;

	*qp = (struct cf_qp){.mtu = 1024, .next_psn = 1000};
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *name = strtok_r(copy, " \t\r\n", &save); name;
	     name = strtok_r(NULL, " \t\r\n", &save)) {
		const char *value = strtok_r(NULL, " \t\r\n", &save);

		why[0] = '\0';
		if (value && read_word(name, value, qp, &seen, why) == 0)
			continue;
		if (!why[0])
			snprintf(why, CF_SAY_MAX,
				 "%.20s %.40s: want gid ADDR qpn N psn N rkey N va N length N "
				 "[mtu N] [peer_psn N]",
				 name, value ? value : "(nothing)");
		mb_printable(why, CF_SAY_MAX);
		return -1;
	}
	/* All but mtu and peer_psn. */
	if ((seen & 0xB7u) == 0xB7u)
		return 0;
	snprintf(why, CF_SAY_MAX, "want gid, qpn, psn, rkey, va and length of the target's QP");
	return -1;
}

/* ---- questions ---- */

/* Says a line and reads the answer. Returns 0, or with a message 1: it refuses, or -1. */
static int ask(struct cf_server_link *l, const char *question, char answer[ANSWER_MAX],
	       char why[CF_SAY_MAX])
{
	errno = 0;
	if (fprintf(l->out, "%s\n", question) < 0 || fflush(l->out) ||
	    !fgets(answer, ANSWER_MAX, l->in)) {
		snprintf(why, CF_SAY_MAX,
			 "the program beside the target is gone, silent or serves another kit (%s)",
			 errno ? strerror(errno) : "it ended");
		return -1;
	}
	answer[strcspn(answer, "\r\n")] = '\0';
	if (strncmp(answer, "error ", 6) != 0)
		return 0;
	snprintf(why, CF_SAY_MAX, "%.*s", (int)CF_SAY_MAX - 1, answer + 6);
	mb_printable(why, CF_SAY_MAX);
	return 1;
}

static int make_qp(void *context, const struct cf_qp_wish *w, struct cf_qp *qp,
		   char why[CF_SAY_MAX])
{
	char question[256], answer[ANSWER_MAX], gid[INET6_ADDRSTRLEN];
	int n, err;

	inet_ntop(AF_INET6, w->gid, gid, sizeof(gid));
	n = snprintf(question, sizeof(question), "qp gid %s qpn %u psn %u mtu %u timeout %u", gid,
		     w->qpn, w->psn, w->mtu, w->timeout);
	if (w->peer_psn != UINT32_MAX)
		snprintf(question + n, sizeof(question) - (size_t)n, " peer_psn %u", w->peer_psn);
	err = ask(context, question, answer, why);
	return err ? err : cf_qp_read(answer, qp, why);
}

static int ask_ok(void *context, const char *question, char why[CF_SAY_MAX])
{
	char answer[ANSWER_MAX];

	return ask(context, question, answer, why);
}

static int post_write(void *context, uint32_t bytes, bool has_imm, uint32_t imm,
		      char why[CF_SAY_MAX])
{
	char question[64];

	snprintf(question, sizeof(question), has_imm ? "write %u %u" : "write %u", bytes, imm);
	return ask_ok(context, question, why);
}

static int post_recv(void *context, uint32_t n, char why[CF_SAY_MAX])
{
	char question[64];

	snprintf(question, sizeof(question), "recv %u", n);
	return ask_ok(context, question, why);
}

static int ask_status(void *context, const char *what, uint32_t wait_ms, int *status, uint32_t *imm,
		      char why[CF_SAY_MAX])
{
	char question[64], answer[ANSWER_MAX];
	int err;

	snprintf(question, sizeof(question), "%s %u", what, wait_ms);
	err = ask(context, question, answer, why);
	if (err)
		return err;
	*status = strncmp(answer, "success", 7) == 0 ? 0 : strcmp(answer, "none") == 0 ? 2 : 1;
	if (imm && *status == 0)
		*imm = (uint32_t)strtoul(answer + 7, NULL, 0);
	return 0;
}

static int completion(void *context, uint32_t wait_ms, int *status, char why[CF_SAY_MAX])
{
	return ask_status(context, "completion", wait_ms, status, NULL, why);
}

static int received(void *context, uint32_t wait_ms, int *status, uint32_t *imm,
		    char why[CF_SAY_MAX])
{
	return ask_status(context, "received", wait_ms, status, imm, why);
}

static int memory(void *context, uint64_t offset, uint32_t len, uint8_t *bytes,
		  char why[CF_SAY_MAX])
{
	char question[64], answer[ANSWER_MAX];
	int err;

	snprintf(question, sizeof(question), "memory %llu %u", (unsigned long long)offset, len);
	err = ask(context, question, answer, why);
	if (err)
		return err;
	for (uint32_t i = 0; i < len && strlen(answer) == 2 * (size_t)len; i++) {
		char digits[3] = {answer[2 * (size_t)i], answer[2 * (size_t)i + 1]}, *end;

		bytes[i] = (uint8_t)strtoul(digits, &end, 16);
		if (*end)
			break;
		if (i + 1 == len)
			return 0;
	}
	snprintf(why, CF_SAY_MAX, "the program beside the target shows no memory");
	return -1;
}

/* ---- the connection ---- */

/* "[ADDR]:PORT", "NAME:PORT", "NAME" or an address. */
static void split(const char *host, char name[HOST_MAX], char port[16])
{
	const char *colon = strrchr(host, ':');
	bool bare = colon && strchr(host, ':') != colon && *host != '[';

	snprintf(name, HOST_MAX, "%s", host);
	snprintf(port, 16, "%u", CONFORM_PORT);
	if (colon && !bare && (*host != '[' || colon[-1] == ']')) {
		name[colon - host] = '\0';
		snprintf(port, 16, "%s", colon + 1);
	}
	if (*name == '[') {
		memmove(name, name + 1, strlen(name));
		name[strcspn(name, "]")] = '\0';
	}
}

static int connect_to(const struct addrinfo *at)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	/* Linux takes the time to send for that to connect, too. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
	    connect(fd, at->ai_addr, at->ai_addrlen) == 0)
		return fd;
	close(fd);
	return -1;
}

/* An address of ours as a GID. */
static void note_ours(struct cf_server_link *l, int fd)
{
	struct sockaddr_storage at = {0};
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
	socklen_t len = sizeof(at);

	(void)getsockname(fd, (struct sockaddr *)&at, &len);
	memcpy(&in4, &at, sizeof(in4));
	memcpy(&in6, &at, sizeof(in6));
	if (at.ss_family == AF_INET6) {
		memcpy(l->ours, &in6.sin6_addr, 16);
		l->scope = in6.sin6_scope_id;
		return;
	}
	l->ours[10] = l->ours[11] = 0xFF;
	memcpy(l->ours + 12, &in4.sin_addr, 4);
}

/* One to read from and one to write to; takes the descriptor over. Returns 0 or -1. */
static int open_streams(struct cf_server_link *l, int fd)
{
	int other = dup(fd);

	note_ours(l, fd);
	l->in = fdopen(fd, "r");
	if (!l->in)
		close(fd);
	l->out = other >= 0 ? fdopen(other, "w") : NULL;
	if (!l->out && other >= 0)
		close(other);
	return l->in && l->out ? 0 : -1;
}

void cf_server_link_init(struct cf_server_link *l)
{
	*l = (struct cf_server_link){
		.server = {l, make_qp, post_write, post_recv, completion, received, memory}};
}

int cf_server_link_open(struct cf_server_link *l, const char *host, char why[CF_SAY_MAX])
{
	char name[HOST_MAX], port[16];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	int fd = -1, err;

	cf_server_link_init(l);
	if (strlen(host) >= HOST_MAX) {
		snprintf(why, CF_SAY_MAX, "%.40s...: at most %u characters", host, HOST_MAX - 1);
		return -1;
	}
	split(host, name, port);
	err = getaddrinfo(name, port, &hints, &list);
	if (err) {
		snprintf(why, CF_SAY_MAX, "%.80s: %.60s", host, gai_strerror(err));
		return -1;
	}
	for (const struct addrinfo *at = list; at && fd < 0; at = at->ai_next)
		fd = connect_to(at);
	freeaddrinfo(list);
	if (fd >= 0 && open_streams(l, fd) == 0)
		return 0;
	snprintf(why, CF_SAY_MAX, "%.60s, TCP port %s: %s; mrc conform --serve has to run there",
		 name, port, strerror(errno));
	cf_server_link_close(l);
	return -1;
}

void cf_server_link_close(struct cf_server_link *l)
{
	if (l->in)
		fclose(l->in);
	if (l->out)
		fclose(l->out);
	l->in = l->out = NULL;
}
