/* SPDX-License-Identifier: BSD-2-Clause */
/* unit_log.c - messages: their levels, how lines look, a program's function, threads and forks. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/nic.h"
#include "host/platform/platform.h"
#include "host/state/nic_context.h"
#include "host/stats/stats.h"
#include "host/verbs/verbs.h"

static int log_reset(void **state)
{
	(void)state;
	mh_log_configure(MRC_LOG_WARNING, MH_LOG_PLAIN);
	return mrc_log_set(MRC_LOG_CONFIGURED, NULL, NULL);
}

#define LOG_TEST(function, name) TEST_WITH(log_reset, log_reset, function, name)

/* ---- what stderr gets ---- */

static char said[4096];
static int said_fd = -1, stderr_fd = -1;

static void listen_to_stderr(void)
{
	said_fd = memfd_create("said", MFD_CLOEXEC);
	stderr_fd = dup(STDERR_FILENO);
	assert_true(said_fd >= 0 && stderr_fd >= 0);
	assert_true(dup2(said_fd, STDERR_FILENO) >= 0);
}

static const char *what_stderr_got(void)
{
	ssize_t n = pread(said_fd, said, sizeof(said) - 1, 0);

	assert_true(dup2(stderr_fd, STDERR_FILENO) >= 0);
	close(stderr_fd);
	close(said_fd);
	said[n > 0 ? n : 0] = '\0';
	return said;
}

static void one_of_each(void)
{
	mh_log(MRC_LOG_ERROR, "an error");
	mh_log(MRC_LOG_WARNING, "a warning");
	mh_log(MRC_LOG_INFO, "news");
	mh_log(MRC_LOG_DEBUG, "detail");
}

LOG_TEST(mh_log, says_nothing_below_warnings_unless_asked)
{
	listen_to_stderr();
	one_of_each();
	assert_string_equal(what_stderr_got(), "softmrc: an error\nsoftmrc: a warning\n");
}

LOG_TEST(mh_log, follows_the_level_of_the_settings)
{
	static const char all[] = "softmrc: an error\nsoftmrc: a warning\nsoftmrc: news\n"
				  "softmrc: detail\n";
	size_t until = 0;

	for (int level = MRC_LOG_OFF; level <= MRC_LOG_DEBUG; level++) {
		mh_log_configure((enum mrc_log_level)level, MH_LOG_PLAIN);
		listen_to_stderr();
		one_of_each();
		assert_u_eq(strlen(what_stderr_got()), until);
		assert_memory_equal(said, all, until);
		assert_int_equal(mh_log_wants(MRC_LOG_DEBUG), level == MRC_LOG_DEBUG);
		until += level < MRC_LOG_DEBUG ? strcspn(all + until, "\n") + 1 : 0;
	}
}

LOG_TEST(mh_log, writes_time_process_and_level_when_asked)
{
	int year, month, day, hour, minute, pid;
	double second;
	char rest[100];

	mh_log_configure(MRC_LOG_INFO, MH_LOG_TIME);
	listen_to_stderr();
	mh_log(MRC_LOG_INFO, "port %u is up", 3u);
	assert_int_equal(sscanf(what_stderr_got(), "%4d-%2d-%2dT%2d:%2d:%9lfZ softmrc[%d] %99[^\n]",
				&year, &month, &day, &hour, &minute, &second, &pid, rest),
			 8);
	assert_true(year >= 2026 && month >= 1 && month <= 12 && day >= 1 && day <= 31);
	assert_int_equal(pid, getpid());
	assert_string_equal(rest, "info: port 3 is up");
}

/* The numbers are those of syslog(3), which sd-daemon(3) takes over. */
LOG_TEST(mh_log, writes_the_levels_of_the_journal_when_asked)
{
	mh_log_configure(MRC_LOG_DEBUG, MH_LOG_JOURNALD);
	listen_to_stderr();
	one_of_each();
	assert_string_equal(what_stderr_got(), "<3>softmrc: an error\n<4>softmrc: a warning\n"
					       "<6>softmrc: news\n<7>softmrc: detail\n");
}

LOG_TEST(mh_log, makes_one_printable_line_of_hostile_text)
{
	listen_to_stderr();
	mh_log(MRC_LOG_ERROR, "%s is down", "eth0\n<0>kernel: \x1b[2J\xff\r\t%n");
	assert_string_equal(what_stderr_got(), "softmrc: eth0?<0>kernel: ?[2J???%n is down\n");
}

LOG_TEST(mh_log, cuts_what_is_too_long)
{
	char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	listen_to_stderr();
	mh_log(MRC_LOG_ERROR, "%s", text);
	assert_u_eq(strlen(what_stderr_got()), strlen("softmrc: ") + 1279 + 1);
}

LOG_TEST(mh_log, leaves_errno_alone)
{
	mh_log_configure(MRC_LOG_DEBUG, MH_LOG_TIME);
	listen_to_stderr();
	close(STDERR_FILENO);
	errno = ERANGE;
	mh_log(MRC_LOG_DEBUG, "nobody hears this");
	assert_int_equal(errno, ERANGE);
	what_stderr_got();
}

/* ---- a program's function ---- */

struct heard {
	uint32_t n;
	enum mrc_log_level level;
	char text[200];
};

static void hear(void *context, enum mrc_log_level level, const char *text)
{
	struct heard *heard = context;

	heard->n++;
	heard->level = level;
	snprintf(heard->text, sizeof(heard->text), "%s", text);
}

LOG_TEST(mrc_log_set, gives_messages_to_a_function_and_none_to_stderr)
{
	struct heard heard = {.n = 0};

	assert_int_equal(mrc_log_set(MRC_LOG_CONFIGURED, hear, &heard), 0);
	listen_to_stderr();
	one_of_each();
	assert_string_equal(what_stderr_got(), "");
	assert_u_eq(heard.n, 2);
	assert_int_equal(heard.level, MRC_LOG_WARNING);
	assert_string_equal(heard.text, "a warning");
}

LOG_TEST(mrc_log_set, goes_before_the_settings)
{
	struct heard heard = {.n = 0};

	assert_int_equal(mrc_log_set(MRC_LOG_INFO, hear, &heard), 0);
	mh_log_configure(MRC_LOG_ERROR, MH_LOG_PLAIN);
	one_of_each();
	assert_u_eq(heard.n, 3);
	assert_int_equal(mrc_log_set(MRC_LOG_CONFIGURED, hear, &heard), 0);
	one_of_each();
	assert_u_eq(heard.n, 4);
	assert_int_equal(mrc_log_set(MRC_LOG_OFF, hear, &heard), 0);
	one_of_each();
	assert_u_eq(heard.n, 4);
}

LOG_TEST(mrc_log_set, refuses_levels_that_there_are_not)
{
	struct heard heard = {.n = 0};

	assert_int_equal(mrc_log_set(MRC_LOG_DEBUG, hear, &heard), 0);
	assert_int_equal(mrc_log_set((enum mrc_log_level)(MRC_LOG_DEBUG + 1), NULL, NULL), EINVAL);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(mrc_log_set((enum mrc_log_level) - 2, NULL, NULL), EINVAL);
	one_of_each();
	assert_u_eq(heard.n, 4);
}

static void log_again(void *context, enum mrc_log_level level, const char *text)
{
	(*(uint32_t *)context)++;
	mh_log(level, "again: %s", text);
}

LOG_TEST(mrc_log_set, says_on_stderr_what_the_function_itself_causes)
{
	uint32_t n = 0;

	assert_int_equal(mrc_log_set(MRC_LOG_CONFIGURED, log_again, &n), 0);
	listen_to_stderr();
	mh_log(MRC_LOG_ERROR, "one");
	assert_string_equal(what_stderr_got(), "softmrc: again: one\n");
	assert_u_eq(n, 1);
}

/* A thread that is cancelled in it would leave the lock taken. */
static int state_of_cancellation(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	pthread_setcancelstate(state, NULL);
	return state;
}

static void hear_uncancelled(void *context, enum mrc_log_level level, const char *text)
{
	(void)level;
	(void)text;
	*(int *)context = state_of_cancellation();
}

LOG_TEST(mrc_log_set, to_a_function_that_is_not_cancelled)
{
	int within = PTHREAD_CANCEL_ENABLE;

	assert_int_equal(mrc_log_set(MRC_LOG_CONFIGURED, hear_uncancelled, &within), 0);
	mh_log(MRC_LOG_ERROR, "one");
	assert_int_equal(within, PTHREAD_CANCEL_DISABLE);
	assert_int_equal(state_of_cancellation(), PTHREAD_CANCEL_ENABLE);
}

/* ---- threads and forks ---- */

#define TALKERS 4u
#define WORDS 500u

/* Counted without atomics: calls come one at a time. */
struct counted {
	uint32_t calls;
	bool over;
};

static void count(void *context, enum mrc_log_level level, const char *text)
{
	struct counted *counted = context;

	(void)level;
	assert_false(counted->over);
	counted->calls += strcmp(text, "a word") == 0;
}

static void *talk(void *ctx)
{
	(void)ctx;
	for (uint32_t i = 0; i < WORDS; i++)
		mh_log(MRC_LOG_WARNING, "a %s", "word");
	return NULL;
}

static void start_talkers(pthread_t threads[TALKERS], void *(*fn)(void *))
{
	for (uint32_t i = 0; i < TALKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fn, NULL), 0);
}

static void join_talkers(pthread_t threads[TALKERS])
{
	for (uint32_t i = 0; i < TALKERS; i++)
		pthread_join(threads[i], NULL);
}

/* Functions follow each other: each message is heard by one, and by none that was replaced. */
LOG_TEST(mrc_log_set, by_threads_loses_no_message)
{
	static struct counted counted[200];
	pthread_t threads[TALKERS];
	uint32_t calls = 0;

	memset(counted, 0, sizeof(counted));
	assert_int_equal(mrc_log_set(MRC_LOG_CONFIGURED, count, &counted[0]), 0);
	start_talkers(threads, talk);
	for (uint32_t i = 1; i < 200; i++) {
		assert_int_equal(mrc_log_set(MRC_LOG_CONFIGURED, count, &counted[i]), 0);
		counted[i - 1].over = true;
	}
	join_talkers(threads);
	for (uint32_t i = 0; i < 200; i++)
		calls += counted[i].calls;
	assert_u_eq(calls, TALKERS * WORDS);
}

static atomic_bool quiet;

static void *talk_until_quiet(void *ctx)
{
	(void)ctx;
	while (!atomic_load(&quiet))
		mh_log(MRC_LOG_WARNING, "a word");
	return NULL;
}

/* A child of a process whose other threads are in the middle of messages can speak itself. */
LOG_TEST(mh_log, works_in_a_forked_child)
{
	struct counted counted = {.calls = 0};
	pthread_t threads[TALKERS];
	int status;

	mh_fork_watch();
	atomic_store(&quiet, false);
	assert_int_equal(mrc_log_set(MRC_LOG_CONFIGURED, count, &counted), 0);
	start_talkers(threads, talk_until_quiet);
	for (uint32_t i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(10);
			mh_log(MRC_LOG_WARNING, "of a child");
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	atomic_store(&quiet, true);
	join_talkers(threads);
}

/* ---- what is said of EVs ---- */

static struct mt_event ev_event(void)
{
	struct mt_event event = {.type = MT_EVENT_EV,
				 .ev = {.value = 0xC003, .port = 1},
				 .ev_state = MT_EV_ASSUMED_BAD,
				 .ev_cause = MT_EV_BY_LOSS};

	mh_addr_from_ip(0x0A000002, event.peer.b);
	return event;
}

LOG_TEST(mh_event_log, names_ev_port_peer_state_and_cause)
{
	struct mt_event event = ev_event();
	struct heard heard = {.n = 0};

	assert_int_equal(mrc_log_set(MRC_LOG_INFO, hear, &heard), 0);
	mh_event_log(&event);
	assert_u_eq(heard.n, 0);
	assert_int_equal(mrc_log_set(MRC_LOG_DEBUG, hear, &heard), 0);
	mh_event_log(&event);
	assert_int_equal(heard.level, MRC_LOG_DEBUG);
	assert_string_equal(heard.text, "EV 0xc003 of port 1 to 10.0.0.2 is ASSUMED_BAD: loss");
}

LOG_TEST(mh_event_log, names_ports_of_peers_only)
{
	struct mt_event event = ev_event();
	struct heard heard = {.n = 0};

	event.type = MT_EVENT_PORT;
	assert_int_equal(mrc_log_set(MRC_LOG_DEBUG, hear, &heard), 0);
	mh_event_log(&event);
	assert_u_eq(heard.n, 0);
	event.port_of_peer = true;
	mh_event_log(&event);
	assert_string_equal(heard.text, "port 1 of 10.0.0.2 is down");
}
