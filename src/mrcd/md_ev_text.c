/* SPDX-License-Identifier: BSD-2-Clause */
/* md_ev_text.c - EVs as people write them: see md_args.h. */
#include "mrcd/md_args.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_bytes(const char *text, uint8_t val[MW_EV_BYTES])
{
	size_t n = strlen(text);

	if (n < 2 || n % 2 || n / 2 > MW_EV_BYTES)
		return false;
	for (size_t i = 0; i < n; i += 2) {
		int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);

		if (high < 0 || low < 0)
			return false;
		val[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* A number without sign and blanks, decimal or 0x. */
static bool read_number(const char *text, uint64_t max, uint64_t *out)
{
	bool hex = text[0] == '0' && text[1] == 'x';
	const char *digits = hex ? "0123456789abcdef" : "0123456789";
	size_t skip = hex ? 2 : 0, n = strspn(text + skip, digits);

	if (n < 1 || n > 10 || text[skip + n])
		return false;
	*out = strtoull(text, NULL, hex ? 16 : 10);
	return *out <= max;
}

static bool read_value(const char *text, uint8_t val[MW_EV_BYTES])
{
	uint64_t number;
	uint32_t value;

	if (text[0] == 'x')
		return read_bytes(text + 1, val);
	if (strchr(text, ':'))
		return inet_pton(AF_INET6, text, val) == 1;
	if (!read_number(text, UINT32_MAX, &number))
		return false;
	value = (uint32_t)number;
	memcpy(val, &value, sizeof(value));
	return true;
}

bool md_ev_read(const char *text, struct mn_ev *ev)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	char port[4];
	uint64_t number;

	if (len < 1 || len >= sizeof(port))
		return false;
	memcpy(port, text, len);
	port[len] = '\0';
	*ev = (struct mn_ev){0};
	if (!read_number(port, MN_PORTS_MAX, &number) || !read_value(colon + 1, ev->val))
		return false;
	ev->port = (uint8_t)number;
	return true;
}

char *md_ev_write(const struct mn_ev *ev, char out[MD_EV_TEXT])
{
	size_t n = MW_EV_BYTES, len = (size_t)snprintf(out, MD_EV_TEXT, "%u:", ev->port);
	uint32_t number;

	while (n > sizeof(number) && !ev->val[n - 1])
		n--;
	memcpy(&number, ev->val, sizeof(number));
	if (n <= sizeof(number)) {
		snprintf(out + len, MD_EV_TEXT - len, number > UINT16_MAX ? "0x%08x" : "%u",
			 number);
		return out;
	}
	len += (size_t)snprintf(out + len, MD_EV_TEXT - len, "x");
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(out + len, MD_EV_TEXT - len, "%02x", ev->val[i]);
	return out;
}
