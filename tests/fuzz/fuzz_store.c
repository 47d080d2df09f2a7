/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input changes the file of a store while a reader follows it, as its writer could
 * who went mad, or another program with its rights. What the reader takes is a sound state; what it
 * refuses it has words for; and what it has taken stays as it was.
 *
 * Each change is two bytes of offset and two that go there; the first byte of the input says where
 * the file ends, and the second whether the checksum is made right, so that what is behind it is
 * reached as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "store/store_format.h"
#include "wire/icrc.h"

#define CHANGE_BYTES 4u
#define DEVICE "mrc0"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	struct store_header h;
	struct mn_state s;
} file;

static char dir[] = "/tmp/mrc-fuzz-store-XXXXXX", path[64];
/* One for all inputs: to close inotify takes the kernel 20 ms. */
static struct store_watch watch;
static struct mn_state got;

static void remove_all(void)
{
	store_watch_close(&watch);
	unlink(path);
	rmdir(dir);
}

static void begin(void)
{
	struct store_error error;

	mb_assert(mkdtemp(dir));
	mb_assert(store_watch_open(&watch, dir, DEVICE, &error) == 0);
	snprintf(path, sizeof(path), "%s/" DEVICE ".state", dir);
	atexit(remove_all);
}

/* Three EVs are denied in a profile of the device's own, and one is listed. */
static size_t make_file(void)
{
	static struct store_info info = {.by = "fuzz"};

	info.generation++;
	mn_state_init(&file.s);
	file.s.n_evs = 4;
	for (uint32_t i = 0; i < file.s.n_evs; i++)
		file.s.evs[i] = (struct mn_ev){.val = {(uint8_t)i}, .port = 1, .denied = i < 3};
	file.s.ev[0].n_evs = 3;
	for (uint32_t id = 1; id < MN_EV_PROFILES; id++)
		file.s.ev[id].first = id == 1 ? 3 : 4;
	file.s.ev[1].n_evs = file.s.ev[1].count = 1;
	file.s.ev[1].state = MN_ONLINE;
	file.s.ev[1].mode = MN_MODE_EXPLICIT;
	store_header_make(&file.h, &file.s, &info);
	return sizeof(file.h) + mn_state_bytes(&file.s);
}

static void change(const uint8_t *data, size_t size, size_t bytes)
{
	uint8_t *at = (uint8_t *)&file;

	for (; size >= CHANGE_BYTES; data += CHANGE_BYTES, size -= CHANGE_BYTES)
		memcpy(at + ((size_t)data[0] << 8 | data[1]) % (bytes - 1), data + 2, 2);
}

static void seal(void)
{
	uint32_t state = file.h.state_bytes < sizeof(file.s) ? file.h.state_bytes : sizeof(file.s);

	file.h.crc = mw_crc32_update(UINT32_MAX, &file.h, offsetof(struct store_header, crc));
	file.h.crc = mw_crc32_update(file.h.crc, &file.s, state);
}

/* In place: some file systems sync what was emptied first, or is new. */
static void put(size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	mb_assert(fd >= 0 && write(fd, &file, bytes) == (ssize_t)bytes);
	mb_assert(ftruncate(fd, (off_t)bytes) == 0);
	close(fd);
}

static void look(void)
{
	struct store_error error = {""};
	struct store_info info;
	const char *why;
	int err = store_watch_look(&watch, &got, &info, &error);

	if (err == 0) {
		mb_assert(mn_state_check(&got, &why) && got.n_evs <= MN_EVS_MAX);
		mb_assert(strlen(info.by) < sizeof(info.by));
	} else {
		mb_assert(err == EAGAIN || strncmp(error.text, dir, strlen(dir)) == 0);
	}
	/* The same again is nothing new. */
	mb_assert(store_watch_look(&watch, &got, &info, &error) == EAGAIN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes;

	if (size < 2)
		return 0;
	if (!path[0])
		begin();
	bytes = make_file();
	put(bytes);
	look();
	change(data + 2, size - 2, bytes);
	if (data[1] & 1)
		seal();
	put(bytes / 255 * (255u - data[0]) + (data[0] ? 0 : bytes % 255));
	look();
	return 0;
}
