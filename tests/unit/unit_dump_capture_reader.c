/* SPDX-License-Identifier: BSD-2-Clause */
/* Capture files of every form, and files that are none. */
#include "cli/dump/dump.h"

#include "base/bytes.h"
#include "base/pcapng.h"
#include "support/test.h"

#include <string.h>

#define FILE_MAX 512u

static uint8_t file[FILE_MAX];
static size_t file_len;
static struct dump_reader reader;
static FILE *from;

static int reader_setup(void **state)
{
	(void)state;
	file_len = 0;
	return 0;
}

static int reader_teardown(void **state)
{
	(void)state;
	dump_reader_close(&reader);
	if (from)
		fclose(from);
	from = NULL;
	return 0;
}

#define READER_TEST(name) TEST_WITH(reader_setup, reader_teardown, dump_reader_next, name)

static void put(const void *bytes, size_t n)
{
	assert_true(file_len + n <= sizeof(file));
	memcpy(file + file_len, bytes, n);
	file_len += n;
}

static void put_be32(uint32_t v)
{
	uint8_t bytes[4];

	mb_store_be32(bytes, v);
	put(bytes, sizeof(bytes));
}

static bool open_file(void)
{
	from = fmemopen(file, file_len, "rb");
	assert_non_null(from);
	return dump_reader_open(&reader, from);
}

static const char *interface_name = "plane0";

/* Our own section, interface and one packet of `len` bytes. */
static void put_ng(uint64_t time_ns, const uint8_t *packet, uint32_t len)
{
	uint8_t bytes[MB_PCAPNG_INTERFACE_MAX], head[MB_PCAPNG_HEAD_BYTES],
		tail[MB_PCAPNG_TAIL_MAX];
	size_t n;

	put(bytes, mb_pcapng_section(bytes));
	put(bytes, mb_pcapng_interface(interface_name, bytes));
	n = mb_pcapng_packet(0, time_ns, len, len, MB_PCAPNG_INBOUND, head, tail);
	put(head, sizeof(head));
	put(packet, len);
	put(tail, n);
}

READER_TEST(what_softmrc_writes)
{
	static const uint8_t packet[5] = {0x45, 1, 2, 3, 4};
	struct dump_frame frame;

	put_ng(UINT64_C(1700000000123456789), packet, sizeof(packet));
	assert_true(open_file());
	assert_true(dump_reader_next(&reader, &frame));
	assert_u_eq(frame.time_ns, UINT64_C(1700000000123456789));
	assert_string_equal(frame.interface, "plane0");
	assert_u_eq(frame.len, sizeof(packet));
	assert_bytes_eq(frame.ip, packet, sizeof(packet));
	assert_false(dump_reader_next(&reader, &frame));
	assert_string_equal(reader.error, "");
}

/* The name goes to a terminal, and into JSON, which is UTF-8. */
READER_TEST(hostile_name_of_an_interface)
{
	static const uint8_t packet[1] = {0x45};
	struct dump_frame frame;

	interface_name = "e0\033[2J\r\n\007\177\x9b\xc2\x9b";
	put_ng(1, packet, sizeof(packet));
	interface_name = "plane0";
	assert_true(open_file());
	assert_true(dump_reader_next(&reader, &frame));
	assert_string_equal(frame.interface, "e0?[2J???????");
}

/* pcap of microseconds, big-endian whatever this machine is, Ethernet with and without a tag. */
READER_TEST(pcap_of_ethernet)
{
	static const uint8_t plain[15] = {[12] = 0x86, 0xDD, 0x60};
	static const uint8_t tagged[19] = {[12] = 0x81, 0, 0, 7, 0x08, 0, 0x45};
	static const uint8_t arp[20] = {[12] = 0x08, 0x06};
	static const struct {
		const uint8_t *bytes;
		uint32_t len;
	} packets[] = {{plain, sizeof(plain)}, {tagged, sizeof(tagged)}, {arp, sizeof(arp)}};
	struct dump_frame frame;

	put_be32(0xA1B2C3D4);
	for (uint32_t i = 0; i < 4; i++)
		put_be32(0);
	put_be32(1);
	for (uint32_t i = 0; i < 3; i++) {
		put_be32(10 + i);
		put_be32(999999);
		put_be32(packets[i].len);
		put_be32(packets[i].len);
		put(packets[i].bytes, packets[i].len);
	}
	assert_true(open_file());
	assert_true(dump_reader_next(&reader, &frame));
	assert_u_eq(frame.time_ns, UINT64_C(10999999000));
	assert_u_eq(frame.len, 1);
	assert_u_eq(frame.ip[0], 0x60);
	assert_true(dump_reader_next(&reader, &frame));
	assert_u_eq(frame.ip[0], 0x45);
	assert_true(dump_reader_next(&reader, &frame));
	assert_null(frame.ip);
	assert_false(dump_reader_next(&reader, &frame));
	assert_string_equal(reader.error, "");
}

READER_TEST(cut_at_any_byte)
{
	static const uint8_t packet[6] = {0x45};
	struct dump_frame frame;
	size_t whole, read = 0;

	put_ng(1, packet, sizeof(packet));
	whole = file_len;
	for (file_len = 1; file_len < whole; file_len++) {
		if (open_file() && dump_reader_next(&reader, &frame))
			read++;
		else
			assert_true(reader.error[0] != '\0' ||
				    file_len == MB_PCAPNG_SECTION_BYTES ||
				    file_len > MB_PCAPNG_SECTION_BYTES + 20);
		reader_teardown(NULL);
	}
	assert_u_eq(read, 0);
}

READER_TEST(any_bytes_after_the_section)
{
	for (size_t round = 0; round < test_rounds(2000); round++) {
		struct dump_frame frame;

		file_len = 0;
		put_ng(1, (const uint8_t[8]){0}, 8);
		for (uint32_t i = 0; i < 4; i++)
			file[MB_PCAPNG_SECTION_BYTES +
			     test_rand_below(file_len - MB_PCAPNG_SECTION_BYTES)] =
				(uint8_t)test_rand();
		if (open_file())
			while (dump_reader_next(&reader, &frame))
				assert_true(!frame.ip || frame.len <= file_len);
		reader_teardown(NULL);
	}
}

TEST_WITH(reader_setup, reader_teardown, dump_reader_open, what_is_no_capture)
{
	put("hello, world", 12);
	assert_false(open_file());
	assert_string_equal(reader.error, "byte 4: neither pcap nor pcapng");
}
