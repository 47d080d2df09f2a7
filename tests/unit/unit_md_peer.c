/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may change anything: src/mrcd/md_serve.h. */
#include "mrcd/md_serve.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#define STATUS(uids, caps) \
	"Name:\tx\nUmask:\t0022\nUid:\t" uids "\nGid:\t0\t0\t0\t0\nCapInh:\t0\nCapEff:\t" caps "\n"

TEST(md_peer_caps_allow, wants_net_admin_of_that_user)
{
	const char *status = STATUS("1000\t1000\t1000\t1000", "0000000000001000");

	assert_true(md_peer_caps_allow(status, 1000));
	assert_false(md_peer_caps_allow(status, 1001));
	status = STATUS("1000\t1000\t1000\t1000", "000001ffffffefff");
	assert_false(md_peer_caps_allow(status, 1000));
	status = STATUS("1000\t0\t0\t0", "0000000000001000");
	assert_false(md_peer_caps_allow(status, 1000));
}

/* The name of a program may be anything that prctl(2) takes. */
TEST(md_peer_caps_allow, reads_whole_lines_alone)
{
	assert_false(md_peer_caps_allow("Name:\tCapEff: ffffffff\nUid:\t7\t7\t7\t7\n", 7));
	assert_false(md_peer_caps_allow("", 0));
	assert_false(md_peer_caps_allow("Uid:\t0\nCapEff:\n", 0));
}

TEST(md_peer_find, knows_this_process)
{
	struct md_peer peer;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(md_peer_find(fd[0], &peer), 0);
	assert_u_eq(peer.uid, geteuid());
	assert_u_eq(peer.pid, (uint32_t)getpid());
	assert_int_equal(peer.is_privileged, geteuid() == 0);
	assert_false(peer.follows);
	close(fd[0]);
	close(fd[1]);
}

/*
 * In a child: becomes another user with CAP_NET_ADMIN. Linux makes files in /proc root's then, as
 * it does for a program that has capabilities by its file; `dumpable` makes them the user's.
 */
static void become_admin(int dumpable)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{.effective = 1u << CAP_NET_ADMIN, .permitted = 1u << CAP_NET_ADMIN}};

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || syscall(SYS_setresuid, 65534, 65534, 65534) ||
	    syscall(SYS_capset, &head, data) || prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0))
		_exit(1);
}

/* Whether a process counts that connects as another user with CAP_NET_ADMIN. */
static bool is_privileged_as_admin(int dumpable)
{
	struct md_peer peer;
	int fds[2], status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		become_admin(dumpable);
		/* Who makes the pair is at its other end. */
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) || md_peer_find(fds[0], &peer))
			_exit(1);
		_exit(peer.is_privileged ? 2 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) >= 2);
	return WEXITSTATUS(status) == 2;
}

/* dumpcap, say, has CAP_NET_ADMIN by its file: whoever may start it may not change all ports. */
TEST(md_peer_find, believes_no_capability_of_a_file)
{
	if (geteuid() != 0)
		test_skip("needs root");
	assert_true(is_privileged_as_admin(1));
	assert_false(is_privileged_as_admin(0));
}
