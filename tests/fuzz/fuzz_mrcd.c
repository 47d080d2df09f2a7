/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the input is mrcd's configuration file, and behind a byte 0 lines of a client, who
 * may change anything where the first of these is even. What is refused leaves the state as it was
 * and says why; what is not leaves one that a store takes; every line has an answer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "mrcd/md_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char plain[] = "[device]\nports = 3\nevs = 4\n";
static struct mn_state before;

static int keep(struct md_node *node, struct store_error *error)
{
	const char *why;

	error->text[0] = '\0';
	mb_assert(mn_state_check(node->next, &why));
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
	at = strlen(text) + 1;
	node.config.lab = false;
	peer.is_privileged = at < size && text[at] % 2 == 0;
	for (at++; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t len = end ? (size_t)(end - text) - at : size - at;

		ask(&node, &peer, text + at, len);
		at += len + 1;
	}
	md_node_destroy(&node);
	free(text);
	return 0;
}
