/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * topology_toml.h - topologies from files. docs/fabric.md lists every key.
 *
 *	[topology]
 *	base = "lab"		a preset; what the file does not say is as there
 *	t1s = 4
 *
 *	[links.t0_t1]
 *	speed = "200M"
 *
 * A file of another kind may hold these tables among its own: its reader hands each item to
 * mf_topology_file_item, and builds what they say at its end with mf_topology_file_build.
 */
#ifndef SOFTMRC_FABRIC_TOPOLOGY_TOML_H
#define SOFTMRC_FABRIC_TOPOLOGY_TOML_H

#include <stddef.h>

#include "base/named_text.h"
#include "base/toml.h"
#include "fabric/topology.h"

#define MF_TOML_ERROR_BYTES 512u
#define MF_TOML_KEYS_MAX 32u

/*
 * mf_topology_read makes a fabric of the text of a topology file. `file` is its name in messages;
 * without a key `name` the fabric is called after it. False: the text is no TOML, a key is unknown,
 * given twice or has a bad value, or no fabric can be built of it; *t is as it was and error says
 * "FILE:LINE: key = value: what is wrong and what is allowed". REQ(topo.file)
 */
bool mf_topology_read(const char *file, const char *text, struct mf_topology *t,
		      char error[MF_TOML_ERROR_BYTES]);

/*
 * mf_topology_open makes a fabric of `what`: the name of a preset, or a path of a topology file
 * (something with a slash or a dot in it). Errors as mf_topology_read, an unreadable file and an
 * unknown preset among them. Blocks on the file only.
 */
bool mf_topology_open(const char *what, struct mf_topology *t, char error[MF_TOML_ERROR_BYTES]);

/*
 * mf_presets are the files of src/fabric/presets, smaller fabrics first; look in them by
 * mb_named_text_find.
 * mf_preset_cfg returns what one of them says, to be changed and then handed to mf_topology_init;
 * its name must be one of theirs (asserted).
 */
extern const struct mb_named_text mf_presets[];
struct mf_topology_cfg mf_preset_cfg(const char *name);

/* A file that is being read. */
struct mf_topology_file {
	const char *file;
	struct mf_topology_cfg cfg;
	uint32_t lines[MF_TOML_KEYS_MAX]; /* where a key was given; 0: it was not */
	uint32_t first_line;		  /* of any key of ours */
	uint32_t over_down, over_up;	  /* oversubscription as given */
	char error[MF_TOML_ERROR_BYTES];
};

/* What became of an item. */
enum mf_item {
	MF_ITEM_TAKEN = 0,
	MF_ITEM_WRONG,	/* f->error says why */
	MF_ITEM_FOREIGN /* in a table other than [topology], [links...] and [usid] */
};

/* mf_topology_file_begin begins with a fabric of which nothing is known; keeps `file`, a name. */
void mf_topology_file_begin(struct mf_topology_file *f, const char *file);

/* mf_topology_file_item takes one item of the file. */
enum mf_item mf_topology_file_item(struct mf_topology_file *f, const struct mb_toml_item *item);

/* mf_topology_file_build makes the fabric. False: f->error says why not, and *t is as it was. */
bool mf_topology_file_build(struct mf_topology_file *f, struct mf_topology *t);

#endif
