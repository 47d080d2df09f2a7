/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tc_attach.c - the program at the clsact egress hook of an interface, by netlink.
 *
 * A netlink socket belongs to the namespace in which it is made, so the calling thread enters the
 * namespace for that moment.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "switchq/switchq_handle.h"

#define MESSAGE_BYTES 8192u
/* Our filter's place among those of the hook: the first, and always the same, so that attaching
 * again replaces it. */
#define PRIORITY 1u
#define HANDLE 1u

static struct mnl_socket *open_netlink(void)
{
	struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

	if (s && mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0) {
		int code = errno;

		mnl_socket_close(s);
		errno = code;
		return NULL;
	}
	return s;
}

static struct mnl_socket *open_netlink_in(int netns_fd)
{
	struct mnl_socket *s = NULL;
	int home, code;

	if (netns_fd < 0)
		return open_netlink();
	home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0)
		return NULL;
	if (setns(netns_fd, CLONE_NEWNET) == 0) {
		s = open_netlink();
		code = errno;
		/* We came from there; being refused would leave the thread astray. */
		if (setns(home, CLONE_NEWNET) != 0) {
			code = errno;
			if (s)
				mnl_socket_close(s);
			s = NULL;
		}
		errno = code;
	}
	code = errno;
	close(home);
	errno = code;
	return s;
}

static struct nlmsghdr *begin_request(void *buffer, uint16_t type, uint16_t flags, uint32_t ifindex,
				      uint32_t handle, uint32_t parent, const char *kind)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct tcmsg *tc;

	message->nlmsg_type = type;
	message->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	tc = mnl_nlmsg_put_extra_header(message, sizeof(*tc));
	tc->tcm_family = AF_UNSPEC;
	tc->tcm_ifindex = (int)ifindex;
	tc->tcm_handle = handle;
	tc->tcm_parent = parent;
	mnl_attr_put_strz(message, TCA_KIND, kind);
	return message;
}

/* Sends a request and waits for its acknowledgement. */
static int send_request(struct mnl_socket *s, struct nlmsghdr *request)
{
	uint8_t answer[MESSAGE_BYTES];
	ssize_t len;

	request->nlmsg_seq = 1;
	if (mnl_socket_sendto(s, request, request->nlmsg_len) < 0)
		return errno;
	len = mnl_socket_recvfrom(s, answer, sizeof(answer));
	if (len < 0 || mnl_cb_run(answer, (size_t)len, 1, mnl_socket_get_portid(s), NULL, NULL) < 0)
		return errno;
	return 0;
}

static int add_hook(struct mnl_socket *s, uint32_t ifindex)
{
	uint8_t buffer[MESSAGE_BYTES];
	int code = send_request(s, begin_request(buffer, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL,
						 ifindex, TC_H_MAKE(TC_H_CLSACT, 0), TC_H_CLSACT,
						 "clsact"));

	return code == EEXIST ? 0 : code;
}

static int add_filter(struct mnl_socket *s, uint32_t ifindex, int prog)
{
	uint8_t buffer[MESSAGE_BYTES];
	struct nlmsghdr *message =
		begin_request(buffer, RTM_NEWTFILTER, NLM_F_CREATE, ifindex, HANDLE,
			      TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), "bpf");
	struct tcmsg *tc = mnl_nlmsg_get_payload(message);
	struct nlattr *options;

	tc->tcm_info = TC_H_MAKE(PRIORITY << 16, htons(ETH_P_ALL));
	options = mnl_attr_nest_start(message, TCA_OPTIONS);
	mnl_attr_put_u32(message, TCA_BPF_FD, (uint32_t)prog);
	mnl_attr_put_strz(message, TCA_BPF_NAME, MSWQ_PROGRAM);
	mnl_attr_put_u32(message, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
	mnl_attr_nest_end(message, options);
	return send_request(s, message);
}

int mswq_attach(const struct mswq *swq, int netns_fd, uint32_t ifindex, struct mswq_error *error)
{
	struct mnl_socket *s = open_netlink_in(netns_fd);
	const char *what = "clsact";
	int code;

	if (!s)
		return mswq_fail(error, errno, "netlink socket in the network namespace: %s",
				 strerror(errno));
	code = add_hook(s, ifindex);
	if (!code) {
		what = "egress program";
		code = add_filter(s, ifindex, swq->prog);
	}
	mnl_socket_close(s);
	if (code)
		return mswq_fail(error, code, "interface number %u: %s: %s", ifindex, what,
				 strerror(code));
	return 0;
}
