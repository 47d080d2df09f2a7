/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration file of mrcd: src/mrcd/md_config.h. */
#include "mrcd/md_config.h"

#include <errno.h>

#include "support/test.h"

static struct md_config config;
static struct md_config_error error;
static struct mn_state st;

#define TWENTY "01234567890123456789"
#define HUNDRED TWENTY TWENTY TWENTY TWENTY TWENTY

static void expect_wrong(const char *text, const char *says)
{
	assert_int_equal(md_config_parse(&config, "x.toml", text, &error), EINVAL);
	if (!strstr(error.text, says))
		fail_msg("no <%s> in <%s>", says, error.text);
}

TEST(md_config_parse, reads_options)
{
	static const char text[] = "[node]\ndir = \"/run/x\"\ndevice = \"mrc1\"\n"
				   "[device]\nports = 4\nev_format = \"stev\"\nevs = 16\n"
				   "[access]\ngroup = \"mrc\"\nlab = true\n"
				   "[metrics]\nlisten = \":9891\"\nprocesses = 10\n"
				   "[log]\nlevel = \"debug\"\n";
	struct mn_device d;

	assert_int_equal(md_config_parse(&config, "x.toml", text, &error), 0);
	assert_string_equal(config.dir, "/run/x");
	assert_string_equal(config.device, "mrc1");
	assert_string_equal(config.group, "mrc");
	assert_true(config.lab);
	assert_string_equal(config.listen, ":9891");
	assert_u_eq(config.processes, 10);
	assert_u_eq(config.level, 3);
	md_config_device(&config, 7, &d);
	assert_u_eq(d.n_ports, 4);
	assert_u_eq(d.n_evs, 64);
	assert_u_eq(d.formats, MN_FORMAT_STEV);
	assert_u_eq(d.user, 7);
	md_config_free(&config);
}

#define MAP "[device]\nports = 1\n[map]\nfabric = \"tiny\"\nhost = 3\n"

TEST(md_config_parse, reads_what_is_probed)
{
	static const char text[] = MAP "interfaces = [\"e0\", \"e1\"]\nshare = 2\n"
				       "rate = \"5M\"\nport = 77\n";

	assert_int_equal(md_config_parse(&config, "x.toml", text, &error), 0);
	assert_string_equal(config.map.fabric, "tiny");
	assert_u_eq(config.map.host, 3);
	assert_u_eq(config.map.interfaces, 2);
	assert_string_equal(config.map.interface[1], "e1");
	assert_u_eq(config.map.share, 2);
	assert_u_eq(config.map.rate_bit_s, 5000000);
	assert_u_eq(config.map.port, 77);
	md_config_free(&config);
	expect_wrong(MAP, "map.interfaces: is missing");
	expect_wrong(MAP "interfaces = [1, 2]\n", "one for each plane");
	expect_wrong(MAP "interfaces = [\"a-name-that-is-too-long\"]\n", "one for each plane");
	expect_wrong(MAP "interfaces = [\"e0\"]\nshare = 17\n", "x.toml:7: map.share = 17");
	expect_wrong(MAP "interfaces = [\"e0\"]\nrate = \"99k\"\n", "\"100k\" to \"1G\"");
	expect_wrong(MAP "interfaces = [\"e0\"]\nport = 0\n", "map.port = 0");
	expect_wrong("[device]\nports = 1\n[map]\nshare = 2\n", "map.fabric: is missing");
	expect_wrong("[device]\nports = 1\n[map]\nfabric = \"tiny\"\n", "map.host: is missing");
}

TEST(md_config_parse, reads_what_is_done_about_it)
{
	static const char text[] = MAP "interfaces = [\"e0\"]\npolicy = \"act\"\ndeny_after = "
				       "\"2s\"\nreturn_after = \"5m\"\ndeny_share = 10\n";

	assert_int_equal(md_config_parse(&config, "x.toml", MAP "interfaces = [\"e0\"]\n", &error),
			 0);
	assert_u_eq(config.map.policy, MD_MAP_ADVISE);
	md_config_free(&config);
	assert_int_equal(md_config_parse(&config, "x.toml", text, &error), 0);
	assert_u_eq(config.map.policy, MD_MAP_ACT);
	assert_u_eq(config.map.deny_after_ns, UINT64_C(2000000000));
	assert_u_eq(config.map.return_after_ns, UINT64_C(300000000000));
	assert_u_eq(config.map.deny_share, 10);
	md_config_free(&config);
	expect_wrong(MAP "interfaces = [\"e0\"]\npolicy = \"do\"\n",
		     "x.toml:7: map.policy = \"do\": must be one of off advise act");
	expect_wrong(MAP "interfaces = [\"e0\"]\ndeny_after = \"1ms\"\n",
		     "x.toml:7: map.deny_after = \"1ms\": must be a time, \"100ms\" to \"1h\"");
	expect_wrong(MAP "interfaces = [\"e0\"]\nreturn_after = 5\n", "map.return_after = 5");
	expect_wrong(MAP "interfaces = [\"e0\"]\ndeny_share = 51\n", "map.deny_share = 51");
	expect_wrong("[device]\nports = 1\n[map]\npolicy = \"act\"\n", "map.fabric: is missing");
}

TEST(md_config_parse, has_defaults)
{
	assert_int_equal(md_config_parse(&config, "x.toml", "[device]\nports = 1\n", &error), 0);
	assert_string_equal(config.dir, "/run/softmrc/node");
	assert_string_equal(config.device, "mrc0");
	assert_false(config.lab);
	assert_string_equal(config.listen, "");
	assert_string_equal(config.map.fabric, "");
	md_config_free(&config);
}

TEST(md_config_parse, names_file_line_key_value_and_what_is_allowed)
{
	expect_wrong("", "x.toml:1: device.ports: is missing");
	expect_wrong("[device]\nports = 0\n",
		     "x.toml:2: device.ports = 0: must be a whole number, 1 to 32");
	expect_wrong("[device]\nports = \"2\"\n", "x.toml:2: device.ports = \"2\"");
	expect_wrong("[device]\nports = 1\nprots = 2\n",
		     "x.toml:3: device.prots: no key of mrcd; did you mean device.ports?");
	expect_wrong("[device]\nports = 1\n\nports = 2\n",
		     "x.toml:4: device.ports: was given before");
	expect_wrong("[device]\nports = 1\nev_format = \"srv6\"\n", "must be one of stev udp");
	expect_wrong("[device]\nports = 1\n[node]\ndir = \"x\"\n",
		     "x.toml:4: node.dir = \"x\": must be a path that begins with /");
	expect_wrong("[device]\nports = 1\n[log]\nlevel = \"loud\"\n",
		     "must be one of error warning info debug");
	expect_wrong("[device]\nports = 1\n[access]\nlab = 1\n", "must be true or false");
	expect_wrong("[device]\nports = 1\n[node]\ndevice = \"a/b\"\n",
		     "x.toml:4: node.device = \"a/b\": must be 1 to 15 letters and digits");
	expect_wrong("[device]\nports = 1\n[node]\ndevice = \"\"\n", "1 to 15 letters and digits");
	expect_wrong("[device]\nports = 1\n[node]\ndir = \"/" HUNDRED "\"\n", "x.toml:4: node.dir");
	expect_wrong("[device\n", "x.toml:1: ");
	expect_wrong("[[prot]]\n", "no table of this name: format, ev, cc or port");
}

/* What shows when it is used has its place in the file, too. */
TEST(md_config_wrong, names_file_and_line)
{
	static const char text[] = "[device]\nports = 1\n[metrics]\nlisten = \":1\"\n";

	assert_int_equal(md_config_parse(&config, "x.toml", text, &error), 0);
	assert_int_equal(md_config_wrong(&config, "x.toml", "metrics.listen", EINVAL, &error,
					 "metrics.listen = %s: %s", config.listen, "is taken"),
			 EINVAL);
	assert_string_equal(error.text, "x.toml:4: metrics.listen = :1: is taken");
	assert_int_equal(md_config_wrong(&config, "x.toml", "node.dir", EBUSY, &error, "%s", "y"),
			 EBUSY);
	assert_string_equal(error.text, "x.toml: y");
	md_config_free(&config);
}

static int applied(const char *text)
{
	struct mn_device d;
	int err;

	assert_int_equal(md_config_parse(&config, "x.toml", text, &error), 0);
	md_config_device(&config, 0, &d);
	err = md_config_apply(&config, "x.toml", &d, &st, &error);
	md_config_free(&config);
	return err;
}

#define HEAD "[device]\nports = 2\n"
#define FORMAT "[[format]]\nprofile = 1\nmode = \"udp\"\nfields = [8, 8]\n"
#define EV "[[ev]]\nprofile = 1\nmode = \"explicit\"\nformat = 1\nevs = [\"1:1\", \"2:2\"]\n"

/* Tables may stand in any order. */
TEST(md_config_apply, makes_what_the_rows_say)
{
	mn_state_init(&st);
	assert_int_equal(applied(HEAD EV FORMAT "[[port]]\nport = 2\nadmin = \"suspended\"\n"
						"[[cc]]\nprofile = 3\nalgorithm = \"none\"\n"),
			 0);
	assert_u_eq(st.port_admin[1], MN_PORT_SUSPENDED);
	assert_u_eq(st.fmt[1].state, MN_ONLINE);
	assert_u_eq(st.ev[1].n_evs, 2);
	assert_u_eq(st.cc[3].state, MN_ONLINE);
}

TEST(md_config_apply, leaves_what_is_as_the_file_says)
{
	static struct mn_state before;
	struct mn_ev_op deny = {.ev = {.val = {1}, .port = 1}, .denied = true};
	struct mn_device d = {.n_ports = 2, .formats = MN_FORMAT_UDP, .n_evs = 16};

	mn_state_init(&st);
	assert_int_equal(applied(HEAD FORMAT EV), 0);
	assert_int_equal(mn_ev_modify(&st, &d, 1, &deny), 0);
	mn_state_copy(&before, &st);
	assert_int_equal(applied(HEAD FORMAT EV), 0);
	assert_int_equal(memcmp(&before, &st, mn_state_bytes(&before)), 0);
	/* What no row names stays. */
	assert_int_equal(applied(HEAD), 0);
	assert_int_equal(memcmp(&before, &st, mn_state_bytes(&before)), 0);
}

TEST(md_config_apply, changes_no_profile_that_is_online)
{
	static struct mn_state before;

	mn_state_init(&st);
	assert_int_equal(applied(HEAD FORMAT EV), 0);
	mn_state_copy(&before, &st);
	assert_int_equal(applied(HEAD "[[port]]\nport = 1\nadmin = \"down\"\n" FORMAT
				      "[[ev]]\nprofile = 1\nmode = \"auto\"\n"),
			 EBUSY);
	assert_non_null(strstr(error.text, "x.toml:11: profile = 1: is online with another"));
	assert_int_equal(memcmp(&before, &st, mn_state_bytes(&before)), 0);
}

TEST(md_config_apply, changes_parameters_of_congestion_control)
{
	mn_state_init(&st);
	assert_int_equal(applied(HEAD "[[cc]]\nprofile = 1\nalgorithm = \"uet-1.0-nscc\"\n"), 0);
	assert_int_equal(applied(HEAD "[[cc]]\nprofile = 1\nalgorithm = \"uet-1.0-nscc\"\n"
				      "gamma = 0.5\n"),
			 0);
	assert_true(st.cc[1].nscc.gamma == 0.5f);
}

TEST(md_config_apply, names_the_line_of_the_key)
{
	mn_state_init(&st);
	assert_int_equal(applied(HEAD "[[port]]\nport = 1\nadmin = \"off\"\n"), EINVAL);
	assert_non_null(strstr(error.text, "x.toml:5: admin = \"off\": must be one of"));
	assert_int_equal(applied(HEAD "[[port]]\nadmin = \"down\"\n"), EINVAL);
	assert_non_null(strstr(error.text, "x.toml:3: port: is missing"));
	assert_int_equal(applied(HEAD FORMAT "[[ev]]\nprofile = 1\nmode = \"explicit\"\n"
					     "format = 1\nevs = [\"1:1\", \"9:2\"]\n"),
			 EINVAL);
	assert_non_null(strstr(error.text, "x.toml:11: 9:2: the device has ports 1 to 2"));
	assert_u_eq(st.fmt[1].state, MN_INIT);
}
