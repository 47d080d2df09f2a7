/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_hostile.c - what others leave in the way of `mrc lab`: folders in /tmp, namespaces that a
 * crash left, state files that are damaged, names that lead elsewhere.
 *
 * /tmp is the test's own. Commands run as root, which needs no folder there unless it is asked for
 * a lab in a user namespace.
 */
#include "lab/lab.h"
#include "lab/lab_command.h"
#include "lab/lab_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER "/tmp/softmrc-lab-0"
#define NOBODY 65534
#define STATE "/run/softmrc/lab/h1.json"

static int lab(const char *words)
{
	return command_run("lab %s", words);
}

/* Runs `mrc lab <words>`, which is to end with a status and to say a text. */
static void lab_says(const char *words, int status, const char *text)
{
	command_want(lab(words), status, text);
}

static int hostile_setup(void **state)
{
	(void)state;
	if (geteuid() != 0)
		test_skip("needs root, who can make folders of other users");
	if (strncmp(test_arg(0), "/tmp/", 5) == 0)
		test_skip("the program is in /tmp, which is hidden here");
	fixture_able();
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777") != 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, "mode=755") != 0 || mkdir("/run/netns", 0755) != 0)
		test_skip("a /tmp and a /run of its own cannot be had");
	unsetenv("XDG_RUNTIME_DIR");
	return 0;
}

#define HOSTILE_TEST(name) TEST_WITH(hostile_setup, NULL, mrc_lab, name)

/* ---- /tmp/softmrc-lab-UID ---- */

/* Makes the folder of namespace holders as somebody else would have. */
static void squat(uid_t owner, mode_t mode)
{
	assert_i_eq(mkdir(FOLDER, 0700), 0);
	assert_i_eq(chown(FOLDER, owner, owner), 0);
	assert_i_eq(chmod(FOLDER, mode), 0);
}

/* Root's labs need no namespace holder, so that nobody can keep root from using them. */
HOSTILE_TEST(folder_of_another_user_keeps_nobody_from_own_labs)
{
	squat(NOBODY, 0700);
	if (lab("up tiny --name h1") != 0)
		test_skip(command_said);
	lab_says("status h1", 0, "h1");
	assert_i_eq(lab("fault h1 plane0.t1-0 stall"), 0);
	lab_says("status", 0, "h1");
	lab_says("down h1", 0, "12 namespaces removed");
	lab_says("down h1", 0, "nothing was there");
	assert_i_eq(rmdir(FOLDER), 0);
}

/* Whoever has one lab need not name it, whatever others have. */
HOSTILE_TEST(labs_of_others_are_not_asked_about)
{
	static const char nobody[] = "setpriv --reuid 65534 --regid 65534 --clear-groups";

	if (shell_run("%s %s lab up tiny --name hn", nobody, test_arg(0)) != 0 ||
	    lab("up tiny --name h1") != 0)
		test_skip(command_said);
	lab_says("status --names", 0, "h1\n");
	assert_null(strstr(command_said, "hn"));
	command_run("map check --for 200ms"); /* whatever a busy machine makes of it */
	assert_non_null(strstr(command_said, "lab h1: "));
	command_want(shell_run("%s %s lab status", nobody, test_arg(0)), 0, "lab hn (tiny)");
	command_want(shell_run("%s %s lab down", nobody, test_arg(0)), 0, "lab hn is down");
	lab_says("down", 0, "lab h1 is down");
}

HOSTILE_TEST(folder_of_another_user_is_not_written_to)
{
	squat(NOBODY, 0700);
	lab_says("up tiny --name h1 --rootless", 1,
		 FOLDER ": belongs to user 65534, not to user 0");
	assert_non_null(strstr(command_said, "XDG_RUNTIME_DIR"));
	assert_i_eq(rmdir(FOLDER), 0); /* it is empty */
}

/* What is behind a link may be anybody's, also of the user that it is laid for. */
HOSTILE_TEST(link_instead_of_a_folder_is_not_followed)
{
	assert_i_eq(mkdir("/tmp/victim", 0700), 0);
	assert_i_eq(symlink("/tmp/victim", FOLDER), 0);
	lab_says("up tiny --name h1 --rootless", 1, FOLDER ": is no folder");
	lab_says("status h1", 1, "lab h1 is not up");
	assert_i_eq(rmdir("/tmp/victim"), 0);
	assert_i_eq(lchown(FOLDER, NOBODY, NOBODY), 0);
	lab_says("up tiny --name h1 --rootless", 1, FOLDER ": is no folder");
	assert_i_eq(unlink(FOLDER), 0);
}

/* Our own, which others may write to: labs may be in it, so that no command goes past it. */
HOSTILE_TEST(folder_that_others_may_write_to_is_refused)
{
	squat(0, 0770);
	lab_says("up tiny --name h1 --rootless", 1, FOLDER ": mode 0770 lets others write");
	lab_says("down h1", 1, "chmod 700 " FOLDER);
	assert_i_eq(chmod(FOLDER, 0702), 0);
	lab_says("status h1", 1, FOLDER ": mode 0702 lets others write");
	assert_i_eq(rmdir(FOLDER), 0);
}

/* A number that another process has by now is no namespace holder: it is not killed. */
HOSTILE_TEST(file_of_a_namespace_holder_that_names_another_process)
{
	static const char *const texts[] = {"%d 1\n", "%d\n", "%d 99999999999999999999999999\n",
					    "-1 1\n", "",     "\033[2J"};
	pid_t bystander = fork();
	char text[80];
	FILE *f;

	if (bystander == 0)
		for (;;)
			pause();
	assert_i_eq(mkdir(FOLDER, 0700), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		f = fopen(FOLDER "/h1.holder", "we");
		assert_non_null(f);
		snprintf(text, sizeof(text), texts[i], (int)bystander);
		fputs(text, f);
		assert_i_eq(fclose(f), 0);
		lab_says("down h1", 0, "nothing was there");
		assert_i_eq(access(FOLDER "/h1.holder", F_OK), -1);
	}
	assert_i_eq(waitpid(bystander, NULL, WNOHANG), 0);
	assert_i_eq(kill(bystander, SIGKILL), 0);
	assert_i_eq(waitpid(bystander, NULL, 0), bystander);
	assert_i_eq(rmdir(FOLDER), 0);
}

/* ---- what crashes leave ---- */

HOSTILE_TEST(namespaces_that_a_crash_left_are_removed)
{
	assert_i_eq(shell_run("ip netns add mrc-h1-host0 && ip netns add mrc-h1-gone && "
			      "ip netns add mrc-h12-host0 && ip netns add other"),
		    0);
	lab_says("status", 1, "which lab? There are h");
	lab_says("status h1", 1, "lab h1 is not up");
	if (lab("up tiny --name h1") != 0)
		test_skip(command_said);
	assert_i_eq(shell_run("ip netns list"), 0);
	assert_null(strstr(command_said, "mrc-h1-gone"));
	assert_non_null(strstr(command_said, "mrc-h12-host0"));
	assert_i_eq(unlink(STATE), 0); /* and the file is lost */
	lab_says("down h1", 0, "12 namespaces removed");
	lab_says("down h12", 0, "1 namespaces removed");
	assert_i_eq(shell_run("ip netns list"), 0);
	assert_string_equal(command_said, "other\n");
	assert_i_eq(shell_run("ip netns del other"), 0);
}

/* A name that no lab can have is no lab's: it is neither listed nor removed, nor printed. */
HOSTILE_TEST(namespaces_of_impossible_names_are_not_ours)
{
	static const char *const names[] = {"/run/netns/mrc-\033[2J-host0",
					    "/run/netns/mrc-Lab-host0", "/run/netns/mrc--host0",
					    "/run/netns/mrc-a.b-host0"};

	for (size_t i = 0; i < 4; i++)
		close(open(names[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_i_eq(lab("status --names"), 0);
	assert_string_equal(command_said, "");
	assert_i_eq(lab("down --all"), 0);
	assert_string_equal(command_said, "");
	for (size_t i = 0; i < 4; i++)
		assert_i_eq(unlink(names[i]), 0);
}

/* ---- namespaces ---- */

static pid_t start_in(const char *netns)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where the test fails */
		execlp("ip", "ip", "netns", "exec", netns, "sleep", "1000", (char *)NULL);
		_exit(127);
	}
	/* It is there when its namespace is no longer ours. */
	for (int i = 0;
	     i < 3000 && shell_run("ip netns identify %d | grep -qx %s", (int)pid, netns); i++)
		poll(NULL, 0, 20);
	return pid;
}

static bool lives(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

static void end(pid_t pid)
{
	assert_i_eq(kill(pid, SIGKILL), 0);
	assert_i_eq(waitpid(pid, NULL, 0), pid);
}

/* What runs in a namespace of this name ends; what runs in those of names like it does not. */
HOSTILE_TEST(processes_end_where_the_lab_left_them_only)
{
	pid_t of_lab, of_other, of_longer;

	assert_i_eq(shell_run("ip netns add mrc-h1-host0 && ip netns add mrc-h12-host0 && "
			      "ip netns add other && ln -s other /run/netns/mrc-h1-host1"),
		    0);
	of_lab = start_in("mrc-h1-host0");
	of_longer = start_in("mrc-h12-host0");
	of_other = start_in("other");
	lab_says("down h1", 0, "2 namespaces removed, 1 processes ended");
	assert_i_eq(waitpid(of_lab, NULL, 0), of_lab);
	assert_true(lives(of_longer));
	assert_true(lives(of_other));
	assert_i_eq(shell_run("ip netns exec other true"),
		    0); /* the link is gone, not what it led to */
	end(of_longer);
	end(of_other);
	assert_i_eq(shell_run("ip netns del other; ip netns del mrc-h12-host0; ls /run/netns"), 0);
	assert_string_equal(command_said, "");
}

/*
 * Process 1 of a process namespace, whose network namespace has a second name: without care `down`
 * would end every process of the machine.
 */
HOSTILE_TEST(second_name_of_the_machines_own_namespace_is_only_a_name)
{
	int status = shell_run("unshare --net --mount --pid --fork --mount-proc sh -c '"
			       "ip netns attach mrc-h1-host0 $$ && { sleep 1000 & } && "
			       "%s lab down h1 && kill $! && ls /run/netns'",
			       test_arg(0));

	assert_i_eq(status, 0);
	assert_string_equal(command_said, "lab h1 is down: 1 namespaces removed\n");
	assert_i_eq(access("/run/netns/mrc-h1-host0", F_OK), -1);
}

/* Files, pipes, folders, mounts and links, and a name that is two commands to ip -batch. */
HOSTILE_TEST(namespaces_that_are_none_go_and_nothing_behind_them)
{
	static const char two[] = "/run/netns/mrc-h1-a\nnetns del other";

	int status = shell_run(
		"mkdir /tmp/kept && mount -t tmpfs none /tmp/kept && echo x >/tmp/kept/file && "
		"ip netns add other && cd /run/netns && ln -s /tmp/kept mrc-h1-link && "
		"ln -s /nowhere mrc-h1-nowhere && mkfifo mrc-h1-pipe && mkdir mrc-h1-dir && "
		"touch mrc-h1-file mrc-h1-bound && mount --bind /tmp/kept/file mrc-h1-bound && "
		"mkdir mrc-h1-bounddir && mount --bind /tmp/kept mrc-h1-bounddir");

	assert_i_eq(status, 0);
	assert_i_eq(close(open(two, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
	lab_says("down h1", 0, "8 namespaces removed\n");
	assert_i_eq(shell_run("ls /run/netns && mountpoint -q /tmp/kept && cat /tmp/kept/file"), 0);
	assert_string_equal(command_said, "other\nx\n");
	assert_i_eq(shell_run("umount /tmp/kept && rmdir /tmp/kept && ip netns del other"), 0);
}

/* A folder with something in it is not emptied: `down` names it, after all else is removed. */
HOSTILE_TEST(namespace_that_cannot_be_removed_is_named)
{
	assert_i_eq(shell_run("ip netns add mrc-h1-host0 && mkdir /run/netns/mrc-h1-a && "
			      "touch /run/netns/mrc-h1-a/kept"),
		    0);
	lab_says("down h1", 1, "removing /run/netns/mrc-h1-a: Directory not empty");
	lab_says("up tiny --name h1", 1, "removing /run/netns/mrc-h1-a: Directory not empty");
	assert_i_eq(shell_run("ls /run/netns"), 0);
	assert_string_equal(command_said, "mrc-h1-a\n");
	assert_i_eq(shell_run("rm -r /run/netns/mrc-h1-a"), 0);
	lab_says("down h1", 0, "nothing was there");
}

/* In a lab that is up. Commands that go to the node say so, and do not wait nor act elsewhere. */
static void node_is_refused(const char *instead, const char *why)
{
	assert_i_eq(shell_run("cd /run/netns && umount mrc-h1-host0 2>&1; rm mrc-h1-host0 && %s",
			      instead),
		    0);
	assert_i_eq(shell_run("timeout 30 %s lab status h1", test_arg(0)), 1);
	assert_non_null(strstr(command_said, why));
	assert_i_eq(shell_run("timeout 30 %s lab shell h1 host0 -- touch /tmp/ran", test_arg(0)),
		    1);
	assert_i_eq(access("/tmp/ran", F_OK), -1);
}

HOSTILE_TEST(node_of_a_lab_that_is_up_is_something_else_by_now)
{
	if (lab("up tiny --name h1") != 0)
		test_skip(command_said);
	assert_i_eq(shell_run("ip netns add other"), 0);
	node_is_refused("mkfifo mrc-h1-host0", "mrc-h1-host0: Invalid argument");
	node_is_refused("ln -s other mrc-h1-host0", "mrc-h1-host0: Too many levels of symbolic");
	node_is_refused("touch mrc-h1-host0", "mrc-h1-host0: Invalid argument");
	node_is_refused("touch mrc-h1-host0 && mount --bind /proc/self/ns/uts mrc-h1-host0",
			"mrc-h1-host0: Invalid argument");
	lab_says("down h1", 0, "12 namespaces removed");
	assert_i_eq(shell_run("ip netns del other"), 0);
}

/* ---- names ---- */

HOSTILE_TEST(names_that_lead_elsewhere)
{
	static const char *const names[] = {"../../../etc/passwd",
					    "a/b",
					    "a.b",
					    "A",
					    "abcdefghijklmnopq",
					    "'a b'",
					    "a-b",
					    "'a\nb'",
					    "\303\251"};
	static const char *const verbs[] = {"up tiny --name %s",
					    "up tiny --rootless --name %s",
					    "down %s",
					    "status %s",
					    "shell %s host0 -- true",
					    "fault %s",
					    "reboot %s plane0.t0-0"};
	char words[80];

	for (size_t v = 0; v < sizeof(verbs) / sizeof(verbs[0]); v++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			snprintf(words, sizeof(words), verbs[v], names[i]);
			lab_says(words, 1, "no name of a lab; 1 to");
		}
	lab_says("down ''", 1, "no name of a lab; 1 to");
	assert_i_eq(access(FOLDER, F_OK), -1);
}

/* ---- the folder of state files ---- */

static void folders_are_refused(const char *which)
{
	char why[128];

	snprintf(why, sizeof(why), "%s: must be a folder of root", which);
	lab_says("up tiny --name h1", 1, why);
	lab_says("status h1", 1, why);
	lab_says("shell h1 host0 -- true", 1, why);
	lab_says("fault h1 plane0.t1-0 stall", 1, why);
	lab_says("down h1", 1, why);
}

/* Who owns a folder could change any file in it at any time, also by links. */
HOSTILE_TEST(state_folders_that_others_can_write_to_are_refused)
{
	assert_i_eq(shell_run("mkdir -p /run/softmrc/lab /tmp/victim && chown 65534 /run/softmrc"),
		    0);
	folders_are_refused("/run/softmrc");
	assert_i_eq(shell_run("chown 0 /run/softmrc && chmod 775 /run/softmrc"), 0);
	folders_are_refused("/run/softmrc");
	assert_i_eq(shell_run("chmod 755 /run/softmrc && chmod 757 /run/softmrc/lab"), 0);
	folders_are_refused("/run/softmrc/lab");
	assert_i_eq(shell_run("rmdir /run/softmrc/lab && ln -s /tmp/victim /run/softmrc/lab"), 0);
	folders_are_refused("/run/softmrc/lab");
	assert_i_eq(shell_run("rm /run/softmrc/lab && touch /run/softmrc/lab"), 0);
	folders_are_refused("/run/softmrc/lab");
	assert_i_eq(shell_run("rm /run/softmrc/lab && rmdir /tmp/victim && rmdir /run/softmrc"), 0);
}

/* Links in the places of a lab's files are removed; what they lead to is not. */
HOSTILE_TEST(links_in_place_of_a_labs_files_are_not_followed)
{
	static const char lay[] =
		"mkdir -p /run/softmrc/lab /tmp/victim && cd /run/softmrc/lab && "
		"echo kept >/tmp/victim/file && ln -s /tmp/victim h1 && "
		"ln -s /tmp/victim/file h1.part && ln -s /tmp/victim/file h1.json";

	assert_i_eq(shell_run("%s", lay), 0);
	lab_says("status h1", 1, STATE ": ");
	lab_says("down h1", 0, "nothing was there");
	assert_i_eq(shell_run("ls /run/softmrc/lab && cat /tmp/victim/*"), 0);
	assert_string_equal(command_said, "kept\n");
	assert_i_eq(shell_run("%s", lay), 0);
	if (lab("up tiny --name h1") != 0)
		test_skip(command_said);
	lab_says("shell h1 host0 -- true", 0, "");
	assert_i_eq(shell_run("ls /tmp/victim && cat /tmp/victim/*"), 0);
	assert_string_equal(command_said, "file\nkept\n");
	lab_says("down h1", 0, "12 namespaces removed");
	assert_i_eq(shell_run("rm -r /tmp/victim"), 0);
}

/* ---- state files ---- */

static void state_is(const char *text)
{
	FILE *f = fopen(STATE, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_i_eq(fclose(f), 0);
}

/* Each file is named, with the command that gets rid of it, and nothing is done by it. */
static void state_is_refused(void)
{
	lab_says("status h1", 1, STATE ": ");
	assert_non_null(strstr(command_said, "mrc lab down h1 removes the lab"));
	lab_says("shell h1 host0 -- true", 1, STATE ": ");
	lab_says("fault h1 plane0.t1-0 stall", 1, STATE ": ");
}

HOSTILE_TEST(state_files_that_are_none)
{
	static char deep[5000];

	memset(deep, '[', sizeof(deep) - 1);
	assert_i_eq(shell_run("mkdir -p /run/softmrc/lab"), 0);
	state_is("");
	state_is_refused();
	state_is("[]");
	state_is_refused();
	state_is("{\"version\": 2, \"name\": \"h1\"");
	state_is_refused();
	state_is("{\"version\": 2, \"name\": \"\\u001b[2J\"}");
	state_is_refused();
	state_is(deep);
	state_is_refused();
	assert_i_eq(unlink(STATE), 0);
	assert_i_eq(mkdir(STATE, 0755), 0);
	state_is_refused();
	assert_i_eq(rmdir(STATE), 0);
}

/* The file of a lab that is up, with one value changed. */
HOSTILE_TEST(state_files_with_a_wrong_value)
{
	static const struct {
		const char *key, *value;
	} wrong[] = {
		{"version", "99"},
		{"id", "\"\""},
		{"id", "\"0000000000000000z\""},
		{"id", "\"000000000000000g\""},
		{"sid_device", "\"bridge\""},
		{"sid_device", "\"x\\nlink\""},
		{"name", "\"h2\""},
		{"topology", "\"/nowhere.toml\""},
		{"topology", "\"nosuch\""},
		{"text", "\"[fabric]\\nhosts = 4000000000\\n\""},
		{"mtu", "0"},
		{"mtu", "2147483647"},
		{"pace", "-1"},
		{"program", "4294967296"},
		{"off", "[4000000000]"},
		{"off", "[-1]"},
		{"off", "[\"plane0\"]"},
		{"off", "7"},
		{"faults", "[7]"},
		{"faults", "{}"},
		{"faults", "[{\"target\": \"nosuch\", \"kind\": 0, \"direction\": 0, \"value\": 0, "
			   "\"other\": \"\"}]"},
		{"faults", "[{\"target\": \"plane0.t1-0\", \"kind\": 99, \"direction\": 0, "
			   "\"value\": 0, \"other\": \"\"}]"},
		{"faults", "[{\"target\": \"plane0.t1-0\", \"kind\": 0, \"direction\": -1, "
			   "\"value\": 0, \"other\": \"\"}]"},
	};
	json_t *good;
	char *text;

	if (lab("up tiny --name h1") != 0)
		test_skip(command_said);
	good = json_load_file(STATE, 0, NULL);
	assert_non_null(good);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *bad = json_deep_copy(good);

		json_object_set_new(bad, wrong[i].key,
				    json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
		text = json_dumps(bad, 0);
		state_is(text);
		if (lab("status h1") != 1)
			fail_msg("%s = %s was taken: %s", wrong[i].key, wrong[i].value,
				 command_said);
		state_is_refused();
		free(text);
		json_decref(bad);
	}
	/* One that is not there, or another's. */
	json_object_set_new(good, "program", json_integer(UINT32_MAX));
	text = json_dumps(good, 0);
	state_is(text);
	lab_says("status h1", 1, "lab h1: its switch program: BPF program 4294967295: ");
	free(text);
	json_decref(good);
	lab_says("down h1", 0, "12 namespaces removed");
}
