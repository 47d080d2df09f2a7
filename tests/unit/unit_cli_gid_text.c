/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses for people: src/cli/gid_text.h. */
#include "cli/gid_text.h"

#include "support/test.h"

TEST(cli_address_write, mapped_and_other)
{
	uint8_t address[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 7};
	char out[CLI_ADDRESS_MAX];

	assert_string_equal(cli_address_write(out, address), "10.0.0.7");
	address[0] = 0x20;
	address[10] = 0;
	assert_string_equal(cli_address_write(out, address), "2000::ff:a00:7");
}

TEST(cli_address_port, with_the_interface_it_is_bound_to)
{
	const uint8_t address[16] = {0xfd, [15] = 7};
	char out[CLI_PORT_MAX];

	assert_string_equal(cli_address_port(out, address, ""), "fd00::7");
	assert_string_equal(cli_address_port(out, address, "e0"), "fd00::7%e0");
}

TEST(cli_address_find, numbers)
{
	const uint8_t want[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
	char error[100];
	uint8_t got[16];

	assert_i_eq(cli_address_find("127.0.0.1", false, got, error, sizeof(error)), 0);
	assert_bytes_eq(got, want, 16);
}

TEST(cli_address_find, ipv6)
{
	const uint8_t want[16] = {[0] = 0xfd, [15] = 7};
	char error[100];
	uint8_t got[16];

	assert_i_eq(cli_address_find("fd00::7", true, got, error, sizeof(error)), 0);
	assert_bytes_eq(got, want, 16);
	assert_false(cli_address_is_ipv4(got));
	assert_i_eq(cli_address_find("fd00::7", false, got, error, sizeof(error)), -1);
}

TEST(cli_address_is_loopback, both_families)
{
	static const struct {
		const char *name;
		bool ipv6, loopback;
	} rows[] = {{"127.0.0.1", false, true}, {"127.9.8.7", false, true},
		    {"10.0.0.1", false, false}, {"::1", true, true},
		    {"fd00::1", true, false},	{"::", true, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char error[100];
		uint8_t got[16];

		assert_i_eq(cli_address_find(rows[i].name, rows[i].ipv6, got, error, sizeof(error)),
			    0);
		assert_i_eq(cli_address_is_loopback(got), rows[i].loopback);
	}
}

TEST(cli_address_find, says_what_is_wrong)
{
	char error[100] = "";
	uint8_t got[16];

	assert_i_eq(cli_address_find("no such host", false, got, error, sizeof(error)), -1);
	assert_true(error[0] != '\0');
}
