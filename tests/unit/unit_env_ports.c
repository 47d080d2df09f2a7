/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unit_env_ports.c - which ports and which MTU a device has on a host whose interfaces are the
 * test's, and what is read of the environment where that counts or does not.
 */
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/config/env.h"
#include "wire/packet.h"

#define IFACES 40u
/* What an IPv4 packet has around its payload. */
#define AROUND (20 + 8 + MW_HEADERS_MAX + 4)

static struct {
	struct {
		char name[MH_IFNAME_MAX];
		uint8_t ip[16]; /* zeros: none that a peer could use */
		uint32_t mtu;
	} iface[IFACES];
	uint32_t n;
	const char *default_route; /* NULL: none */
	bool secure;		   /* the program has rights that its user lacks */
	bool no_memory;
} host;

static const uint8_t none[16];

static uint32_t find(const char *name)
{
	uint32_t i = 0;

	while (i < host.n && strcmp(host.iface[i].name, name) != 0)
		i++;
	return i;
}

__typeof__(mh_iface_index) __real_mh_iface_index, __wrap_mh_iface_index;
uint32_t __wrap_mh_iface_index(const char *name)
{
	uint32_t i = find(name);

	return i < host.n ? i + 1 : 0;
}

/* Of an interface with nothing but an address of its link, that is what is left behind. */
__typeof__(mh_iface_address) __real_mh_iface_address, __wrap_mh_iface_address;
bool __wrap_mh_iface_address(const char *name, uint8_t ip[16])
{
	uint32_t i = find(name);

	memset(ip, 0xFE, 16);
	if (i == host.n || memcmp(host.iface[i].ip, none, 16) == 0)
		return false;
	memcpy(ip, host.iface[i].ip, 16);
	return true;
}

__typeof__(mh_iface_default) __real_mh_iface_default, __wrap_mh_iface_default;
bool __wrap_mh_iface_default(char name[IF_NAMESIZE])
{
	strcpy(name, host.default_route ? host.default_route : "");
	return host.default_route;
}

__typeof__(mh_iface_with_address) __real_mh_iface_with_address, __wrap_mh_iface_with_address;
int __wrap_mh_iface_with_address(const uint8_t ip[16], char name[IF_NAMESIZE])
{
	for (uint32_t i = 0; i < host.n; i++)
		if (memcmp(host.iface[i].ip, ip, 16) == 0) {
			strcpy(name, host.iface[i].name);
			return 0;
		}
	return EADDRNOTAVAIL;
}

__typeof__(mh_iface_mtu) __real_mh_iface_mtu, __wrap_mh_iface_mtu;
uint32_t __wrap_mh_iface_mtu(const char *name)
{
	uint32_t i = find(name);

	return i < host.n ? host.iface[i].mtu : 0;
}

char *__real_secure_getenv(const char *name);
char *__wrap_secure_getenv(const char *name);
char *__wrap_secure_getenv(const char *name)
{
	return host.secure ? NULL : getenv(name);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return host.no_memory && size == sizeof(struct mh_settings) ? NULL : __real_malloc(size);
}

/* ---- a host ---- */

static const char *const names[] = {"MRC_PORTS",    "MRC_MTU",	     "MRC_DEVICES",
				    "MRC_DRIVER",   "MRC_SHARDS",    "MRC_CAPTURE",
				    "MRC_CONFIG",   "MRC_EVS",	     "MRC_REAL_IBVERBS",
				    "MRC_SRV6_GID", "MRC_SRV6_ROWS", "MRC_SRV6_UPLINKS"};

static int setup(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("MRC_CONFIG", "/dev/null", 1);
	return 0;
}

#define PORTS_TEST(name) TEST_WITH(setup, setup, mh_env_read, name)

static void add(const char *name, const char *ip, uint32_t mtu)
{
	struct in_addr in;

	assert_true(host.n < IFACES);
	snprintf(host.iface[host.n].name, sizeof(host.iface[0].name), "%s", name);
	host.iface[host.n].mtu = mtu;
	if (ip && inet_pton(AF_INET, ip, &in) == 1)
		mh_addr_from_ip(ntohl(in.s_addr), host.iface[host.n].ip);
	else if (ip)
		assert_i_eq(inet_pton(AF_INET6, ip, host.iface[host.n].ip), 1);
	host.n++;
}

static struct mh_env good_of(uint32_t device)
{
	struct mh_env_error error = {""};
	struct mh_env env;

	if (mh_env_read(&env, device, &error))
		fail_msg("%s", error.text);
	return env;
}

static struct mh_env good(const char *ports)
{
	setenv("MRC_PORTS", ports, 1);
	return good_of(0);
}

static void bad(const char *ports, const char *why)
{
	struct mh_env_error error = {""};
	struct mh_env env;

	setenv("MRC_PORTS", ports, 1);
	assert_i_eq(mh_env_read(&env, 0, &error), EINVAL);
	if (!strstr(error.text, why))
		fail_msg("\"%s\" does not say \"%s\"", error.text, why);
}

static void assert_ip(const uint8_t ip[16], const char *want)
{
	char text[MH_ADDR_TEXT_MAX];

	assert_string_equal(mh_addr_text(ip, text), want);
}

/* ---- which ports ---- */

PORTS_TEST(an_interface_stands_for_its_address)
{
	struct mh_env env;

	add("a", "10.0.0.7", 1500);
	add("b", NULL, 1500);
	env = good("b,a");
	/* One address for both: their interfaces distinguish them. */
	assert_ip(env.port[0].ip, "10.0.0.7");
	assert_ip(env.port[1].ip, "10.0.0.7");
	assert_string_equal(env.port[0].ifname, "b");
	assert_string_equal(env.port[1].ifname, "a");
	env = good("a");
	assert_string_equal(env.port[0].ifname, "");
	bad("b", "names no interface that has an address");
}

PORTS_TEST(as_many_ports_as_there_can_be)
{
	char list[8 * MT_PORTS_MAX] = "";
	struct mh_env env;

	for (uint32_t i = 0; i < MT_PORTS_MAX; i++) {
		char name[8], ip[16];

		snprintf(name, sizeof(name), "p%u", i);
		snprintf(ip, sizeof(ip), "10.0.%u.7", i);
		add(name, ip, 1500);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? "," : "",
			 name);
	}
	env = good(list);
	assert_u_eq(env.n_ports, MT_PORTS_MAX);
	assert_string_equal(env.port[MT_PORTS_MAX - 1].ifname, "");
	strcat(list, ",p0");
	bad(list, "lists more than 32 ports");
}

PORTS_TEST(a_list_that_no_buffer_holds)
{
	static char list[1025];

	memset(list, 'x', sizeof(list) - 1);
	bad(list, "is longer than 1023 characters");
	list[1023] = '\0';
	bad(list, "1 to 15 characters");
}

PORTS_TEST(the_default_route_or_this_host)
{
	assert_ip(good_of(0).port[0].ip, "127.0.0.1");
	add("a", "10.0.0.7", 1500);
	add("b", NULL, 1500);
	assert_ip(good_of(0).port[0].ip, "127.0.0.1");
	host.default_route = "a";
	assert_ip(good_of(0).port[0].ip, "10.0.0.7");
	host.default_route = "b";
	assert_ip(good_of(0).port[0].ip, "127.0.0.1");
}

PORTS_TEST(a_device_has_its_part)
{
	struct mh_env env;

	add("a", "10.0.0.7", 1500);
	setenv("MRC_DEVICES", "2", 1);
	setenv("MRC_PORTS", "10.0.0.7,10.0.1.7,10.0.2.7,10.0.3.7", 1);
	env = good_of(1);
	assert_u_eq(env.n_ports, 2);
	assert_ip(env.port[0].ip, "10.0.2.7");
	assert_ip(env.port[1].ip, "10.0.3.7");
	for (uint32_t i = 2; i < MT_PORTS_MAX; i++)
		assert_bytes_eq(env.port[i].ip, none, 16);
}

static void set_srv6(void)
{
	setenv("MRC_DRIVER", "raw41", 1);
	setenv("MRC_SRV6_GID", "fd4d:5243::3", 1);
	setenv("MRC_SRV6_ROWS", "fd4d:5243::1/64 = fcbbbb00+plane a000 1000+host:4", 1);
	setenv("MRC_SRV6_UPLINKS", "4", 1);
}

PORTS_TEST(as_many_planes_as_an_ev_names)
{
	char list[8 * 17] = "";
	struct mh_env env;

	for (uint32_t i = 0; i < 17; i++) {
		char name[8];

		snprintf(name, sizeof(name), "p%u", i);
		add(name, NULL, 9000);
	}
	set_srv6();
	for (uint32_t i = 0; i < 16; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%sp%u", i ? "," : "",
			 i);
	env = good(list);
	assert_u_eq(env.n_ports, 16);
	assert_ip(env.port[15].ip, "fd4d:5243::3");
	assert_bytes_eq(env.port[16].ip, none, 16);
	strcat(list, ",p16");
	bad(list, "more than the 16 planes");
}

/* ---- which MTU ---- */

static uint32_t mtu_of(uint32_t ip_mtu)
{
	struct mh_env env = {.driver = MH_DRIVER_UDP};

	mh_addr_from_ip(0x0A000007, env.port[0].ip);
	return mh_env_mtu_of(&env, ip_mtu);
}

TEST(mh_env_mtu_of, is_the_largest_that_fits)
{
	struct mh_env env = {.driver = MH_DRIVER_RAW41};

	assert_u_eq(mtu_of(4096 + AROUND), 4096);
	assert_u_eq(mtu_of(4096 + AROUND - 1), 2048);
	assert_u_eq(mtu_of(256 + AROUND), 256);
	assert_u_eq(mtu_of(256 + AROUND - 1), 0);
	/* A header around another. */
	env.port[0].ip[0] = 0xFD;
	assert_u_eq(mh_env_mtu_of(&env, 1024 + AROUND + 20 + 40), 1024);
	assert_u_eq(mh_env_mtu_of(&env, 1024 + AROUND + 20 + 39), 512);
	env.driver = MH_DRIVER_UDP;
	assert_u_eq(mh_env_mtu_of(&env, 1024 + AROUND + 20), 1024);
}

PORTS_TEST(the_mtu_that_all_ports_hold)
{
	add("a", "10.0.0.7", 2048 + AROUND);
	add("b", "10.0.1.7", 1024 + AROUND);
	add("c", "10.0.2.7", 1024 + AROUND + 1);
	assert_u_eq(good("10.0.0.7").mtu, 2048);
	assert_u_eq(good("10.0.0.7,10.0.1.7,10.0.2.7").mtu, 1024);
	/* One whose interface is not known yet is not asked, nor one that does not say. */
	assert_u_eq(good("10.0.0.7,10.0.9.7").mtu, 2048);
	host.iface[1].mtu = 0;
	assert_u_eq(good("10.0.0.7,10.0.1.7").mtu, 2048);
	assert_u_eq(good("10.0.0.7%c").mtu, 1024);
}

PORTS_TEST(the_mtu_that_was_asked_for)
{
	add("a", "10.0.0.7", 9000);
	add("b", "10.0.1.7", 1024 + AROUND);
	add("c", "10.0.2.7", 1024 + AROUND);
	add("d", "10.0.3.7", 100);
	setenv("MRC_MTU", "4096", 1);
	assert_u_eq(good("10.0.0.7").mtu, 4096);
	setenv("MRC_MTU", "256", 1);
	assert_u_eq(good("10.0.0.7").mtu, 256);
	setenv("MRC_MTU", "1024", 1);
	assert_u_eq(good("10.0.0.7,10.0.1.7").mtu, 1024);
	setenv("MRC_MTU", "2048", 1);
	bad("10.0.0.7,10.0.1.7,10.0.2.7",
	    "MRC_MTU=2048: interface b has an MTU of 1104, which holds 1024 at most");
	unsetenv("MRC_MTU");
	bad("10.0.3.7", "MRC_PORTS=10.0.3.7: interface d has an MTU of 100, which holds 0 at most");
}

/* ---- texts as long as there is room for ---- */

static const char *path_of(size_t len)
{
	static char path[MH_PATH_MAX + 8];

	memset(path, '/', sizeof(path));
	path[len] = '\0';
	return path;
}

PORTS_TEST(a_capture_of_shards_has_room_for_their_names)
{
	setenv("MRC_SHARDS", "1", 1);
	setenv("MRC_CAPTURE", path_of(MH_PATH_MAX - 1), 1);
	assert_u_eq(strlen(good("127.0.0.1").capture), MH_PATH_MAX - 1);
	setenv("MRC_SHARDS", "2", 1);
	setenv("MRC_CAPTURE", path_of(MH_PATH_MAX - 3), 1);
	assert_u_eq(strlen(good("127.0.0.1").capture), MH_PATH_MAX - 3);
	setenv("MRC_CAPTURE", path_of(MH_PATH_MAX - 2), 1);
	bad("127.0.0.1", "names of further devices and shards are appended");
}

PORTS_TEST(a_path_has_its_room)
{
	setenv("MRC_CAPTURE", path_of(MH_PATH_MAX), 1);
	bad("127.0.0.1", "must be a path of at most 255 bytes");
}

PORTS_TEST(a_path_of_the_real_library_has_its_room)
{
	setenv("MRC_REAL_IBVERBS", path_of(MH_PATH_MAX - 1), 1);
	assert_u_eq(strlen(good("127.0.0.1").real_ibverbs), MH_PATH_MAX - 1);
	setenv("MRC_REAL_IBVERBS", path_of(MH_PATH_MAX), 1);
	bad("127.0.0.1", "at most 255 bytes");
}

PORTS_TEST(says_that_there_is_no_memory)
{
	struct mh_env_error error = {""};
	struct mh_env env;

	host.no_memory = true;
	assert_i_eq(mh_env_read(&env, 0, &error), ENOMEM);
	assert_string_equal(error.text, "no memory to read the configuration");
}

/* ---- programs with rights that their users lack ---- */

PORTS_TEST(names_what_does_not_count)
{
	struct mh_env env;

	if (access(MB_CONFIG_FILE, F_OK) == 0)
		test_skip(MB_CONFIG_FILE " is there");
	setenv("MRC_PORTS", "10.0.0.7", 1);
	setenv("MRC_EVS", "", 1);
	assert_string_equal(good_of(0).ignored, "");
	host.secure = true;
	env = good_of(0);
	assert_ip(env.port[0].ip, "127.0.0.1");
	assert_string_equal(
		env.ignored,
		"this program has rights that its user lacks, so that only " MB_CONFIG_FILE
		" counts; ignored: MRC_CONFIG, MRC_PORTS");
}
