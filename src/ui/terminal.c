/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal and the signals: see terminal.h. */
#include "ui/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define WIDTH_MIN 80u
#define HEIGHT_MIN 16u

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

void ui_term_catch(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	/* A reader of stdout that goes away must not leave children behind. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

int ui_term_caught(void)
{
	return caught;
}

void ui_term_size(uint32_t *width, uint32_t *height)
{
	struct winsize size = {0};

	*width = WIDTH_MIN;
	*height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	*width = size.ws_col;
	*height = size.ws_row;
}

bool ui_term_fits(void)
{
	const char *kind = getenv("TERM");
	uint32_t width, height;

	if (!isatty(STDOUT_FILENO) || !kind || !*kind || strcmp(kind, "dumb") == 0)
		return false;
	ui_term_size(&width, &height);
	return width >= WIDTH_MIN && height >= HEIGHT_MIN;
}

bool ui_term_utf8(void)
{
	setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool ui_term_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return !no || !*no;
}

/* All of it, or as much as a terminal that goes away takes. */
static void write_bytes(const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(STDOUT_FILENO, bytes, n);

		if (done <= 0)
			return;
		bytes += done;
		n -= (size_t)done;
	}
}

static void put_text(const char *text)
{
	write_bytes(text, strlen(text));
}

void ui_term_enter(struct ui_term *t)
{
	struct termios quiet;

	t->modes_saved = tcgetattr(STDIN_FILENO, &t->modes) == 0;
	if (t->modes_saved) {
		quiet = t->modes;
		quiet.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
		tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
	}
	put_text("\033[?1049h\033[?25l\033[2J");
	t->entered = true;
}

void ui_term_leave(struct ui_term *t)
{
	if (!t->entered)
		return;
	put_text("\033[0m\033[?25h\033[?1049l");
	if (t->modes_saved) {
		tcflush(STDIN_FILENO, TCIFLUSH);
		tcsetattr(STDIN_FILENO, TCSANOW, &t->modes);
	}
	t->entered = false;
}

void ui_term_show(const struct ui_text *picture)
{
	struct ui_text out = {0};

	ui_text_add(&out, "\033[H");
	for (const char *line = picture->data; line && *line;) {
		size_t n = strcspn(line, "\n");

		/* Clear behind each line and below all: the picture may have shrunk. */
		ui_text_add(&out, "%.*s\033[K\r\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	ui_text_add(&out, "\033[J");
	write_bytes(out.data, out.len);
	ui_text_fini(&out);
}

void ui_raise_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}
