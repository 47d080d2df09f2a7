/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may change anything: src/mrcd/md_serve.h. */
#include "mrcd/md_serve.h"

#include <sys/socket.h>
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
