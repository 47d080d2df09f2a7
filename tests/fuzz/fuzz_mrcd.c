/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is mrcd's configuration file, and behind a byte 0 lines of a client, who
 * may change anything where the first of these is even. A line that begins with OFFER hands over
 * a descriptor of the state that is in force with some bytes changed. What is refused leaves the
 * state as it was and says why; what is not leaves one that a store takes, and of those that are
 * offered one that the device can be; every line has an answer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "mrcd/md_node.h"
#include "store/store_format.h"
#include "support/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OFFER '!'

static const char plain[] = "[device]\nports = 3\nevs = 4\n";
static struct mn_state before, offered;

static struct mn_device device;
static bool is_offer;

static int keep(struct md_node *node, struct store_error *error)
{
	const char *why;

	error->text[0] = '\0';
	mb_assert(mn_state_check(node->next, &why));
	if (is_offer)
		mb_assert(mn_state_is_of(node->next, &device, &why));
	node->generation++;
	return 0;
}

static void read_config(const char *text, struct md_config *c)
{
	struct md_config_error error = {""};
	struct mn_device d;

	if (md_config_parse(c, "x", text, &error)) {
		mb_assert(error.text[0]);
		mb_assert(md_config_parse(c, "x", plain, &error) == 0);
		return;
	}
	mn_state_init(&before);
	md_config_device(c, 0, &d);
	mb_assert(md_config_apply(c, "x", &d, &before, &error) == 0 || error.text[0]);
}

static void ask(struct md_node *node, struct md_peer *peer, const char *line, size_t len)
{
	json_t *said, *answer, *ok;
	uint64_t generation = node->generation;

	mn_state_copy(&before, node->now);
	answer = md_request(node, peer, line, len, &said);
	ok = json_object_get(answer, "ok");
	mb_assert(json_is_boolean(ok));
	if (json_is_false(ok)) {
		mb_assert(json_string_length(json_object_get(answer, "error")) > 0);
		mb_assert(!said && generation == node->generation);
	}
	if (generation == node->generation)
		mb_assert(memcmp(&before, node->now, mn_state_bytes(&before)) == 0);
	else
		mb_assert(peer->is_privileged && said);
	json_decref(answer);
	json_decref(said);
}

/*
 * make_offer changes bytes of the state that is in force, three bytes of the input each: where, and
 * what is added. An odd first byte: the header stays that of the state without the changes.
 */
static int make_offer(const struct md_node *node, struct fuzz_input *in)
{
	struct store_info info = {.generation = node->generation, .by = "fuzz"};
	bool is_damaged = fuzz_u8(in) & 1;
	struct store_header h;
	int fd = memfd_create("offer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t bytes;

	mb_assert(fd >= 0);
	mn_state_copy(&offered, node->now);
	bytes = mn_state_bytes(&offered);
	store_header_make(&h, &offered, &info);
	while (in->left > 0) {
		size_t at = fuzz_u16(in) % bytes;

		((uint8_t *)&offered)[at] += fuzz_u8(in);
	}
	if (!is_damaged) {
		/* Longer than its file is what fuzz_store tries. */
		if (offered.n_evs > MN_EVS_MAX)
			offered.n_evs = MN_EVS_MAX;
		store_header_make(&h, &offered, &info);
	}
	mb_assert(store_put(fd, &h, &offered) == 0);
	return fd;
}

static void offer(struct md_node *node, struct md_peer *peer, const char *line, size_t len)
{
	struct fuzz_input in = {(const uint8_t *)line, len};
	char request[80];

	peer->passed_fd = make_offer(node, &in);
	snprintf(request, sizeof(request), "{\"do\": \"state.put\", \"generation\": %llu}",
		 (unsigned long long)node->generation);
	is_offer = true;
	ask(node, peer, request, strlen(request));
	is_offer = false;
	close(peer->passed_fd);
	peer->passed_fd = -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct md_peer peer = {.uid = 5, .passed_fd = -1};
	struct md_config config;
	struct md_node node;
	size_t at;

	mb_assert(text);
	memcpy(text, data, size);
	text[size] = '\0';
	read_config(text, &config);
	mb_assert(md_node_create(&node, "/nowhere/x", &config) == 0);
	node.commit = keep;
	md_config_device(&config, peer.uid, &device);
	at = strlen(text) + 1;
	node.config.lab = false;
	peer.is_privileged = at < size && text[at] % 2 == 0;
	for (at++; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t len = end ? (size_t)(end - text) - at : size - at;

		if (len > 0 && text[at] == OFFER)
			offer(&node, &peer, text + at + 1, len - 1);
		else
			ask(&node, &peer, text + at, len);
		at += len + 1;
	}
	md_node_destroy(&node);
	free(text);
	return 0;
}
