/* SPDX-License-Identifier: BSD-2-Clause */
/* demo.h - `mrc demo`: its command line, the size of a demo, and the script of faults. */
#ifndef SOFTMRC_DEMO_DEMO_H
#define SOFTMRC_DEMO_DEMO_H

#include "fabric/fault.h"
#include "lab/lab.h"
#include "ui/verb.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- the command line ---- */

/* Where the demo runs. */
enum demo_on { DEMO_ON_BEST, DEMO_ON_LAB, DEMO_ON_ROOTLESS, DEMO_ON_LOOPBACK };

struct demo_options {
	enum demo_on on;
	const char *place; /* the word that `on` was read from, or NULL */
	uint32_t ranks;	   /* 0: as the machine carries */
	uint32_t planes;
	uint32_t paths;	   /* of a plane, between two neighbours; 0: as many as is usual there */
	uint32_t steps;	   /* 0: as the script needs */
	uint64_t pace_bps; /* of a port; 0: as the machine carries */
	uint64_t seed;
	const char *data;   /* NULL: train's default */
	const char *out;    /* where result.json goes */
	const char *script; /* names of faults with commas between; NULL: all */
	bool no_tcp, plain, json;
};

/* The verb `mrc demo`, for the table of verbs. */
extern const struct ui_verb demo_verb;

/* demo_main is what runs `mrc demo`. */
int demo_main(int argc, char **argv);

/* demo_options_parse fills in defaults and reads argv; prints help and errors itself. */
enum ui_flags_result demo_options_parse(struct demo_options *o, int argc, char **argv);

/*
 * ---- the script: which faults strike, where, and at which training steps ----
 *
 * Faults strike and clear by step, not by time, so that a slow machine too gets whole steps before,
 * during and after each. How many steps that is follows from how long a step should take.
 */

#define DEMO_FAULTS_MAX 16u
#define DEMO_TARGETS_MAX 8u

/* The network and the job, as far as arithmetic needs them. */
struct demo_shape {
	uint32_t ranks, planes, paths;
	uint64_t pace_bps;     /* of a port */
	uint64_t vector_bytes; /* summed over all ranks in each step */
	bool trims;	       /* switches trim and mark */
};

/* What must be seen of a fault, or the demo has failed. */
enum demo_signs {
	DEMO_SIGN_LOST = 1u << 0,    /* data packets were destroyed */
	DEMO_SIGN_RETIRED = 1u << 1, /* EVs were retired */
	DEMO_SIGN_ICRC = 1u << 2,    /* receivers refused packets */
	DEMO_SIGN_QUEUES = 1u << 3,  /* switches trimmed */
	/* EVs were retired, or left because a peer reported its port down */
	DEMO_SIGN_AVOIDED = 1u << 4,
};

/* The bandwidth that a fault leaves to an all-reduce. */
enum demo_left {
	DEMO_LEFT_UNKNOWN,     /* arithmetic gives no exact figure */
	DEMO_LEFT_ALL,	       /* the other paths carry all */
	DEMO_LEFT_PLANES,      /* planes_lost planes are missing */
	DEMO_LEFT_OTHER_PATHS, /* all, where a plane has other paths */
};

/*
 * A kind of fault that a stage offers, as in faults.toml. Texts contain words in braces, which
 * fault_script.c lists, for numbers that follow from the shape.
 */
struct demo_kind {
	uint32_t line;
	char name[16]; /* in --script */
	char help[80];
	char title[80], brief[32]; /* for the live view; for the table */
	char target[64], fault[32];
	bool incast; /* hosts write to one that has no rank */
	/* What the fault needs, so that the job can go on and a path can be retired. */
	uint32_t planes_min, paths_min;
	bool needs_trims; /* only switches that trim and mark can do it, or show it */
	uint32_t signs;	  /* enum demo_signs */
	bool certain;	  /* takes every packet of its paths, so that senders can leave them */
	enum demo_left left;
	uint32_t planes_lost;
	uint64_t flap_down_ns, flap_up_ns; /* 0: the fault is steady */
};

#define DEMO_KINDS_MAX DEMO_FAULTS_MAX

struct demo_kinds {
	struct demo_kind kind[DEMO_KINDS_MAX];
	uint32_t n;
};

/* demo_kinds returns the faults of a stage, lab or loopback, in the order of their injection. */
const struct demo_kinds *demo_kinds(bool lab);

struct demo_fault {
	const char *kind;
	char title[64], brief[24];
	char target[DEMO_TARGETS_MAX][MF_LINK_NAME_BYTES];
	uint32_t targets;
	char fault[MF_FAULT_TEXT_BYTES]; /* what happens to each of them */
	bool incast, certain;		 /* as of the kind; so are the following */
	uint32_t signs;
	uint64_t flap_down_ns, flap_up_ns;
	uint32_t strike_step, clear_step; /* when so many steps are done */
	/*
	 * Bandwidth left: an all-reduce takes `slower_num / slower_den` times as long. 0 / 0 where
	 * arithmetic gives no exact figure.
	 */
	uint32_t slower_num, slower_den;
};

struct demo_script {
	struct demo_fault fault[DEMO_FAULTS_MAX];
	uint32_t n;
	uint32_t steps;
};

/*
 * demo_script_make writes the script for a list of fault names with commas between; NULL: all that
 * the shape leaves possible. steps: of the job, 0: as many as fit the faults. Returns 0, or -1 with
 * a message that names flag, value and what is allowed.
 */
int demo_script_make(struct demo_script *s, const struct demo_kinds *kinds, const char *names,
		     const struct demo_shape *shape, uint32_t steps, struct ml_error *e);

/*
 * Ranks are on hosts of two T0s in the lab: even ranks on T0 0, odd ones on T0 1, so that
 * neighbours in the ring are on different ones. The last host has no rank.
 */
#define DEMO_T0S 2u
#define DEMO_INCAST_MAX 7u
/* During an incast the links of its target carry so many times the pace of a host. */
#define DEMO_INCAST_LINK 2u

/* demo_hosts_per_t0 returns how many hosts each T0 has. */
uint32_t demo_hosts_per_t0(const struct demo_shape *shape);
/* demo_lab_host returns the host of a rank, demo_lab_spare_host the one that no rank is on. */
uint32_t demo_lab_host(const struct demo_shape *shape, uint32_t rank);
uint32_t demo_lab_spare_host(const struct demo_shape *shape);
/* demo_lab_incast returns how many hosts take part in the incast: all but one, at most seven. */
uint32_t demo_lab_incast(const struct demo_shape *shape);

/* demo_script_step_ns returns how long the all-reduce of a step takes at full bandwidth. */
uint64_t demo_script_step_ns(const struct demo_shape *shape);

/* ---- the size of a demo, and the load of this machine ---- */

/*
 * demo_calibrate measures for less than half a second and returns how many 4 KiB datagrams a second
 * all processors together can send and receive over loopback while everything else that runs keeps
 * running; 0: it could not be measured.
 */
uint64_t demo_calibrate(void);

/*
 * What a place is like: how many paths a plane usually has there, and what one data packet of a
 * paced job costs there, in datagrams that a thread passes to itself flat out: it is sent, received
 * and acknowledged by threads that sleep in between. Measured with 8 hosts on two cores.
 */
struct demo_place {
	uint32_t paths;
	uint32_t datagrams_per_packet;
};

extern const struct demo_place demo_place_lab, demo_place_loopback;

/*
 * demo_size_choose fills in the shape: what the options say, and for the rest what is usual in the
 * place and what a machine carries that moves `capacity` datagrams a second (demo_calibrate); 0:
 * not known. A job of 8 hosts at 50 Mb/s a port takes about two thirds of two ordinary cores; on a
 * slower or busier machine the pace is halved, then the number of hosts. The script keeps its
 * length in time, so the demo does not take longer.
 */
void demo_size_choose(struct demo_shape *shape, const struct demo_options *o,
		      const struct demo_place *place, uint64_t capacity);

/* demo_size_load returns the share of such a machine that the job takes, in percent. */
uint64_t demo_size_load(const struct demo_shape *shape, const struct demo_place *place,
			uint64_t capacity);

#endif
