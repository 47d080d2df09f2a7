/* SPDX-License-Identifier: BSD-2-Clause */
/* mrc dump - the MRC packets of a capture file, one line each. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli_verbs.h"
#include "cli/dump/dump.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

#define UDP_PORT 4791u

struct dump {
	const char *dscp_text;
	struct mw_dscp_map dscp;
	uint32_t udp_port;
	uint64_t count; /* 0: all */
	bool json;
	uint64_t seen, others;
};

static void print_packet(const struct dump *d, const struct dump_packet *p)
{
	struct ui_text line = {0};
	json_t *json;

	if (d->json) {
		json = dump_packet_json(p, &d->dscp);
		ui_json_print(json, JSON_COMPACT);
		return;
	}
	dump_packet_line(p, &d->dscp, &line);
	ui_text_print(&line, stdout);
}

/* Prints the packets of a file; false: it is broken, reader->error says how. */
static bool print_packets(struct dump *d, struct dump_reader *reader, FILE *from)
{
	struct dump_packet packet;
	struct dump_frame frame;

	if (!dump_reader_open(reader, from))
		return false;
	while ((d->count == 0 || d->seen < d->count) && dump_reader_next(reader, &frame)) {
		if (!dump_packet_read(&frame, d->udp_port, &d->dscp, &packet)) {
			d->others++;
			continue;
		}
		d->seen++;
		print_packet(d, &packet);
	}
	return reader->error[0] == '\0';
}

static int dump_file(struct dump *d, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *from = is_stdin ? stdin : fopen(path, "rbe");
	struct dump_reader reader;
	bool good;

	if (!from) {
		fprintf(stderr, "mrc dump: %s: %s\n", path, strerror(errno));
		return EXIT_FAILED;
	}
	good = print_packets(d, &reader, from);
	dump_reader_close(&reader);
	if (!is_stdin)
		fclose(from);
	if (!good)
		fprintf(stderr, "mrc dump: %s: %s\n", path, reader.error);
	if (d->others > 0)
		fprintf(stderr,
			"mrc dump: %s: %llu packets are not of MRC: no UDP to ports from %u\n",
			path, (unsigned long long)d->others, d->udp_port);
	return good ? EXIT_GOOD : EXIT_FAILED;
}

static const struct ui_flag flags[] = {
	{"--count", UI_FLAG_U64, "N", "stop after N packets (0: all)", offsetof(struct dump, count),
	 0, UINT64_MAX},
	{"--udp-port", UI_FLAG_U32, "PORT", "the first of the 1024 UDP ports of MRC (4791)",
	 offsetof(struct dump, udp_port), 1024, 64512},
	UI_TEXT("--dscp", dump, dscp_text, "MAP",
		"the numbers of the six classes, as MRC_DSCP and topology.dscp (0,4,8,12,16,46)"),
	UI_SWITCH("--json", dump, json, "each packet as a JSON object in a line"),
};

static int cli_dump_main(int argc, char **argv)
{
	struct dump d = {.udp_port = UDP_PORT, .dscp = mw_dscp_map_default()};
	char why[MW_DSCP_ERROR_BYTES];
	const char *path;
	int status;
	size_t n;

	status = ui_verb_parse(&cli_dump_verb, &d, argc, argv, &path, 1, &n);
	if (status != UI_FLAGS_OK)
		return status;
	if (n == 0) {
		fprintf(stderr, "mrc dump: want a capture FILE, or - for standard input "
				"(mrc dump --help tells more)\n");
		return UI_FLAGS_ERROR;
	}
	if (d.dscp_text && !mw_dscp_map_read(d.dscp_text, &d.dscp, why)) {
		fprintf(stderr, "mrc dump: --dscp %s: %s\n", d.dscp_text, why);
		return UI_FLAGS_ERROR;
	}
	return dump_file(&d, path);
}

const struct ui_verb cli_dump_verb = {
	.name = "mrc dump",
	.summary = "the MRC packets of a capture file, one line each",
	.usage = "FILE|- [FLAG...]",
	.about =
		"Reads a capture file, pcap or pcapng, such as MRC_CAPTURE, a run of the simulator "
		"or tcpdump write it, and prints a line for each packet: time, interface, "
		"addresses, EV, traffic class, and the headers of MRC with QP number, PSN and SACK "
		"bitmap. Of packets in a tunnel of SRv6 the uSIDs that are left are printed too. A "
		"packet that was trimmed by a switch is read as far as it goes.",
	.examples = "mrc dump capture.pcapng\n"
		    "tcpdump -i eth0 -w - udp | mrc dump - --json",
	.exits = "0 good, 1 the file cannot be read, 2 wrong usage",
	.operands = "FILE",
	.flags = flags,
	.n_flags = UI_COUNT(flags),
	.run = cli_dump_main,
};
