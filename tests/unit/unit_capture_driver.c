/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_pcap.c - the capture holds what went through the port, and the port does not notice. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/drivers.h"
#include "support/fake_driver.h"
#include "wire/ip_udp.h"

#define OFFSET_NS UINT64_C(1000000000000)

static const struct mio_addr pcap_a = {.ip = {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 1},
				       .udp_port = 4791};
static const struct mio_addr pcap_b = {.ip = {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 2},
				       .udp_port = 4792};

struct pcap_fixture {
	char path[64];
	struct mio_capture *capture;
	struct mio_port *port, *far;
	uint8_t file[4096];
	size_t size;
};

static int pcap_setup(void **state)
{
	struct pcap_fixture *fixture = calloc(1, sizeof(*fixture));
	struct mio_port *ends[2];
	struct mio_error error;

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/unit_pcap.%d.pcapng", (int)getpid());
	if (fake_driver_open(&pcap_a, &pcap_b, ends) ||
	    mio_capture_open(fixture->path, OFFSET_NS, &fixture->capture, &error) ||
	    mio_pcap_open(fixture->capture, "plane0", &pcap_a, NULL, true, ends[0], &fixture->port))
		return -1;
	fixture->far = ends[1];
	*state = fixture;
	return 0;
}

static int pcap_teardown(void **state)
{
	struct pcap_fixture *fixture = *state;

	mio_port_close(fixture->port);
	mio_port_close(fixture->far);
	unlink(fixture->path);
	free(fixture);
	return 0;
}

static void pcap_send(struct mio_port *port, const struct mio_addr *dst, const char *text)
{
	struct iovec iov[2] = {{(void *)(uintptr_t)text, 1}, {(void *)(uintptr_t)(text + 1), 0}};
	struct mio_tx frame = {.iov = iov,
			       .n_iov = 2,
			       .len = (uint32_t)strlen(text),
			       .sport = 50000,
			       .dst = *dst,
			       .tos = 0x12};

	iov[1].iov_len = frame.len - 1;
	mio_port_tx(port, 77, &frame, 1);
}

/* Ends the capture and reads the file. */
static void pcap_finish(struct pcap_fixture *fixture)
{
	FILE *f;

	assert_i_eq(mio_capture_close(fixture->capture), 0);
	f = fopen(fixture->path, "rb");
	assert_non_null(f);
	fixture->size = fread(fixture->file, 1, sizeof(fixture->file), f);
	fclose(f);
}

#define PCAP_INTERFACE 1u
#define PCAP_PACKET 6u

/* The i-th block of a kind: what follows its first seven words, and these. */
static const uint8_t *pcap_block_of(const struct pcap_fixture *fixture, uint32_t kind, unsigned i,
				    uint32_t words[7])
{
	for (size_t at = 0; at + 28 <= fixture->size; at += words[1]) {
		memcpy(words, fixture->file + at, 28);
		assert_true(words[1] >= 12 && at + words[1] <= fixture->size);
		if (words[0] == kind && i-- == 0)
			return fixture->file + at + 28;
	}
	return NULL;
}

/* The i-th packet block of the file: its packet, and what the block says. */
static const uint8_t *pcap_block(const struct pcap_fixture *fixture, unsigned i, uint32_t words[7])
{
	return pcap_block_of(fixture, PCAP_PACKET, i, words);
}

/* No packet can be read without the description of its interface before it. */
static void pcap_expect_interface(const struct pcap_fixture *fixture)
{
	uint32_t words[7], first[7];
	const uint8_t *block = pcap_block_of(fixture, PCAP_INTERFACE, 0, words);

	assert_non_null(block);
	assert_non_null(memmem(block - sizeof(words), words[1], "plane0", 6));
	assert_true(block < pcap_block(fixture, 0, first));
	assert_null(pcap_block_of(fixture, PCAP_INTERFACE, 1, words));
}

TEST_WITH(pcap_setup, pcap_teardown, mio_pcap_open, sent_and_received_frames_are_written)
{
	struct pcap_fixture *fixture = *state;
	struct mio_rx got[2];
	struct mw_ip_udp h;
	uint32_t words[7];
	const uint8_t *packet;
	size_t headers;

	pcap_send(fixture->port, &pcap_b, "hello");
	pcap_send(fixture->far, &pcap_a, "back");
	assert_u_eq(mio_port_rx(fixture->port, 99, got, 2), 1);
	assert_u_eq(mio_port_rx(fixture->far, 99, got, 2), 1);
	pcap_finish(fixture);
	pcap_expect_interface(fixture);
	packet = pcap_block(fixture, 0, words);
	assert_non_null(packet);
	assert_u_eq(words[2], 0);
	assert_u_eq((uint64_t)words[3] << 32 | words[4], OFFSET_NS + 77);
	assert_true(mw_ip_udp_read(packet, words[5], &h, &headers));
	assert_u_eq(h.sport, 50000);
	assert_u_eq(h.dport, 4792);
	assert_u_eq(h.tos, 0x12);
	assert_bytes_eq(h.dst, pcap_b.ip, 16);
	assert_bytes_eq(packet + headers, "hello", 5);
	assert_true(packet[headers - 2] != 0 || packet[headers - 1] != 0);
	assert_true(mw_ip_udp_is_sound(packet, &h, headers, true));
	packet = pcap_block(fixture, 1, words);
	assert_true(mw_ip_udp_read(packet, words[5], &h, &headers));
	assert_bytes_eq(packet + headers, "back", 4);
	assert_bytes_eq(h.src, pcap_b.ip, 16);
	assert_null(pcap_block(fixture, 2, words));
}

/* What a driver wraps is written as it leaves: the outer header to where it goes first. */
TEST_WITH(pcap_setup, pcap_teardown, mio_pcap_open, wrapped_frames_have_both_headers)
{
	static const struct mio_addr local = {.ip = {0xfd, [15] = 1}, .udp_port = 4791};
	static const uint8_t gid[16] = {0xfd, 1, [15] = 1}, peer[16] = {0xfd, 1, [15] = 2};
	struct iovec iov = {(void *)(uintptr_t) "hello", 5};
	struct mio_tx frame = {.iov = &iov,
			       .n_iov = 1,
			       .len = 5,
			       .sport = 7,
			       .flow_label = 9,
			       .dst = {.ip = {0xfc, 0xbb}, .udp_port = 4791},
			       .tos = 0x12};
	struct pcap_fixture *fixture = *state;
	struct mio_port *ends[2], *wrapped;
	struct mw_ip_udp h;
	uint32_t words[7];
	const uint8_t *packet;
	size_t headers;

	memcpy(frame.dst_gid, peer, 16);
	assert_i_eq(fake_driver_open(&local, &frame.dst, ends), 0);
	assert_i_eq(mio_pcap_open(fixture->capture, "raw", &local, gid, false, ends[0], &wrapped),
		    0);
	mio_port_tx(wrapped, 77, &frame, 1);
	mio_port_close(wrapped);
	mio_port_close(ends[1]);
	pcap_finish(fixture);
	packet = pcap_block(fixture, 0, words);
	assert_non_null(packet);
	assert_u_eq(words[5], 40 + 48 + 5);
	assert_u_eq(packet[6], 41);
	assert_bytes_eq(packet + 8, local.ip, 16);
	assert_bytes_eq(packet + 24, frame.dst.ip, 16);
	assert_true(mw_ip_udp_read(packet + 40, words[5] - 40, &h, &headers));
	assert_bytes_eq(h.src, gid, 16);
	assert_bytes_eq(h.dst, peer, 16);
	assert_u_eq(h.flow_label, 9);
	assert_true(packet[40 + headers - 2] == 0 && packet[40 + headers - 1] == 0);
	assert_bytes_eq(packet + 40 + headers, "hello", 5);
}

/* No header can hold addresses of two families; what comes next is written all the same. */
TEST_WITH(pcap_setup, pcap_teardown, mio_pcap_open, a_source_of_the_other_family_is_left_out)
{
	static const struct mio_addr ipv6 = {.ip = {0xfd, [15] = 1}, .udp_port = 4791};
	struct pcap_fixture *fixture = *state;
	struct mio_port *ends[2], *port;
	struct mio_rx got[2];
	uint32_t words[7];

	assert_i_eq(fake_driver_open(&pcap_a, &ipv6, ends), 0);
	assert_i_eq(mio_pcap_open(fixture->capture, "p", &pcap_a, NULL, true, ends[0], &port), 0);
	pcap_send(ends[1], &pcap_a, "strange");
	assert_u_eq(mio_port_rx(port, 99, got, 2), 1);
	pcap_send(fixture->port, &pcap_b, "plain");
	mio_port_close(port);
	mio_port_close(ends[1]);
	pcap_finish(fixture);
	assert_non_null(pcap_block(fixture, 0, words));
	assert_null(pcap_block(fixture, 1, words));
}

TEST_WITH(pcap_setup, pcap_teardown, mio_pcap_open, shows_the_state_of_the_port_below)
{
	struct pcap_fixture *fixture = *state;

	pcap_send(fixture->port, &pcap_b, "x");
	assert_u_eq(fixture->port->status->tx_frames, 1);
	assert_u_eq(mio_port_deadline(fixture->port), MIO_NEVER);
	mio_port_tick(fixture->port, 5);
	pcap_finish(fixture);
}

TEST(mio_capture_open, names_a_file_that_cannot_be_made)
{
	struct mio_capture *capture;
	struct mio_error error;

	assert_i_eq(mio_capture_open("/nowhere/x.pcapng", 0, &capture, &error), ENOENT);
	assert_string_equal(error.text,
			    "capture file /nowhere/x.pcapng: No such file or directory");
}

/* Makes a name that nobody has. */
static void free_name(char path[64])
{
	snprintf(path, 64, "/tmp/unit_pcap_file.%d", (int)getpid());
	unlink(path);
}

TEST(mio_capture_open, the_file_is_for_its_user_alone)
{
	struct mio_capture *capture;
	struct mio_error error;
	char path[64];
	struct stat st;
	int fd;

	free_name(path);
	fd = open(path, O_CREAT | O_WRONLY, 0666);
	assert_i_eq(fchmod(fd, 0666), 0);
	close(fd);
	assert_i_eq(mio_capture_open(path, 0, &capture, &error), 0);
	assert_i_eq(stat(path, &st), 0);
	assert_u_eq(st.st_mode & 0777, 0600);
	assert_i_eq(mio_capture_close(capture), 0);
	unlink(path);
	assert_i_eq(mio_capture_open(path, 0, &capture, &error), 0);
	assert_i_eq(stat(path, &st), 0);
	assert_u_eq(st.st_mode & 0777, 0600);
	assert_i_eq(mio_capture_close(capture), 0);
	unlink(path);
}

TEST(mio_capture_open, follows_no_link)
{
	struct mio_capture *capture;
	struct mio_error error;
	char path[64], target[80];

	free_name(path);
	snprintf(target, sizeof(target), "%s.target", path);
	assert_i_eq(symlink(target, path), 0);
	assert_i_eq(mio_capture_open(path, 0, &capture, &error), ELOOP);
	assert_i_eq(access(target, F_OK), -1);
	unlink(path);
}

TEST(mio_capture_open, leaves_the_file_of_another_user)
{
	struct mio_capture *capture;
	struct mio_error error;
	/* In a folder of ours: in /tmp the kernel may refuse it (fs.protected_regular). */
	char folder[] = "/tmp/unit_pcap.XXXXXX", path[64];
	struct stat st;
	int fd;

	if (geteuid() != 0)
		test_skip("only root can make a file of another user");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/theirs", folder);
	fd = open(path, O_CREAT | O_WRONLY, 0666);
	assert_i_eq(write(fd, "theirs", 6), 6);
	assert_i_eq(fchown(fd, 65534, 65534), 0);
	close(fd);
	assert_i_eq(mio_capture_open(path, 0, &capture, &error), EPERM);
	assert_i_eq(dup(STDERR_FILENO), fd);
	close(fd);
	assert_i_eq(stat(path, &st), 0);
	assert_i_eq(st.st_size, 6);
	unlink(path);
	rmdir(folder);
}

/* What its parent had not written yet would be in the file twice. */
TEST_WITH(pcap_setup, pcap_teardown, mio_capture_close_inherited, a_forked_child_writes_nothing)
{
	struct pcap_fixture *fixture = *state;
	uint32_t words[7];
	int status;
	pid_t child;

	pcap_send(fixture->port, &pcap_b, "once");
	fflush(stdout);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		mio_capture_close_inherited(fixture->capture);
		_exit(fflush(NULL)); /* as exit(3) does */
	}
	assert_i_eq(waitpid(child, &status, 0), child);
	assert_i_eq(status, 0);
	pcap_finish(fixture);
	assert_non_null(pcap_block(fixture, 0, words));
	assert_null(pcap_block(fixture, 1, words));
}

TEST(mio_capture_close, says_that_the_disk_is_full)
{
	struct mio_capture *capture;
	struct mio_error error;

	assert_i_eq(mio_capture_open("/dev/full", 0, &capture, &error), 0);
	assert_i_eq(mio_capture_close(capture), ENOSPC);
}
