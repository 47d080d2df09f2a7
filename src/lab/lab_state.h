/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab_state.h - private to this module: a lab in memory, its file, and the steps that change it.
 *
 * The file says what cannot be derived: topology, pace, programs, faults, switches that are off. It
 * is written before anything is built, whole under another name and then renamed, so that a crash
 * at any moment leaves a file that can be read. One lock, the folder's, is held by the process that
 * changes a lab.
 */
#ifndef SOFTMRC_LAB_LAB_STATE_H
#define SOFTMRC_LAB_LAB_STATE_H

#include "lab/lab.h"
#include "lab/netns.h"

#define ML_RUN_DIR "/run/softmrc"
#define ML_STATE_DIR ML_RUN_DIR "/lab"
#define ML_PREFIX_MAX 24u

struct ml_lab {
	char name[ML_LAB_NAME_MAX];
	char prefix[ML_PREFIX_MAX]; /* of namespaces: "mrc-NAME-" */
	char *topology_what;	    /* as ml_options.topology, owned */
	char *topology_text;	    /* of a file; NULL: a preset; owned */
	struct mf_topology t;
	uint64_t pace_bps;
	char sid_device[8];
	bool building;	      /* not finished yet */
	pid_t owner;	      /* goes with this process; 0: with none */
	uint64_t owner_since; /* ml_process_since of it: numbers are used again */
	uint64_t id;	      /* drawn by lot: a later lab may have the same name */
	uint32_t program;     /* of the kernel, for mswq_reopen; 0: none */
	char no_program[256]; /* why there is none */
	struct mswq *swq;
	struct mf_fault fault[ML_FAULTS_MAX];
	size_t faults;
	struct ml_port_state *port; /* n_links, from the faults; owned */
	bool *off;		    /* n_nodes; owned */
	int watchdog;		    /* socket to the process that watches us, or -1 */
};

/* ml_state_lock waits for the lock; returns a descriptor whose closing unlocks, or -1. */
int ml_state_lock(struct ml_error *e);
/* ml_state_name checks a lab's name. 0, or -1 with what is allowed. */
int ml_state_name(const char *name, struct ml_error *e);
/*
 * ml_state_create returns a lab of this name and topology (a preset, the path of a file, or its
 * text).
 */
struct ml_lab *ml_state_create(const char *name, const char *topology, const char *text,
			       struct ml_error *e);
void ml_state_destroy(struct ml_lab *lab);

int ml_state_write(const struct ml_lab *lab, struct ml_error *e);
/* ml_state_read returns the lab of a file. NULL: there is none (*missing), or it cannot be read. */
struct ml_lab *ml_state_read(const char *name, bool *missing, struct ml_error *e);
/* ml_state_reload brings faults and switches that are off up to date with the file. 0, or -1. */
int ml_state_reload(struct ml_lab *lab, struct ml_error *e);
void ml_state_remove(const char *name);

/*
 * ml_down_if_same takes a lab down unless another one has its name by now, or a file that cannot be
 * read. 0, or -1.
 */
int ml_down_if_same(const char *name, uint64_t id, struct ml_error *e);

/*
 * ml_process_since returns when a process began, in ticks since the machine did: with its number it
 * is unmistakable. 0: there is no such process, or it has ended.
 */
uint64_t ml_process_since(pid_t pid);

/*
 * ---- makes namespaces, cables and ports what they should be ----
 *
 * Building a lab, rebooting a switch, swapping cables and clearing a fault are the same work on
 * more or fewer parts.
 */

/* What is to be done to a port. */
enum {
	ML_DO_BUILD = 1, /* its interface does not exist yet, nor does the far end's */
	ML_DO_UP = 2,	 /* it was down: everything that went with that is set again */
	ML_DO_DOWN = 4,
	ML_DO_FAULTS = 8, /* filters, rate, switch program */
};

/* What is to be done: owned by the caller; ml_work_init and ml_work_fini. */
struct ml_work {
	uint8_t *port;			    /* n_links of ML_DO_... */
	bool *node;			    /* n_nodes: the namespace is new */
	const struct ml_port_state *before; /* n_links: what ports did; NULL: all are new */
	ml_progress_fn progress;	    /* or NULL */
	void *context;
};

int ml_work_init(struct ml_work *todo, const struct ml_lab *lab, struct ml_error *e);
void ml_work_fini(struct ml_work *todo);

/* ml_port_exists says whether a port's interface is to exist: neither end's switch is off. */
bool ml_port_exists(const struct ml_lab *lab, uint32_t link);

/* ml_apply does it, as lab->port says. 0, or -1 after the first failure. */
int ml_apply(struct ml_lab *lab, const struct ml_work *todo, struct ml_error *e);

/* ml_delete_cables deletes the cables of these ports, and with them both ends. 0, or -1. */
int ml_delete_cables(struct ml_lab *lab, const uint32_t *link, size_t n, struct ml_error *e);

/* ml_counters_kernel is ml_lab_counters by the kernel's own statistics alone. 0, or -1. */
int ml_counters_kernel(struct ml_lab *lab, struct ml_counters *counters, struct ml_error *e);

/* ml_link_rate returns what the link carries by the topology, without faults; 0: no limit. */
uint64_t ml_link_rate(const struct ml_lab *lab, uint32_t link);

/* ---- the queues of ports, and the switch program of switchq/switchq.h on them ---- */

/* ml_program_load loads the program for a new lab; without it lab->no_program says why. */
void ml_program_load(struct ml_lab *lab);
/* ml_program_open finds that of a lab that is up. 0, or -1. */
int ml_program_open(struct ml_lab *lab, struct ml_error *e);

/*
 * ml_program_port tells the program about a port, and of its faults; with netns >= 0, a descriptor
 * of the port's namespace, it attaches it too. 0, or -1.
 */
int ml_program_port(struct ml_lab *lab, uint32_t link, int netns, struct ml_error *e);

/*
 * ml_program_queue_ns returns what the slowest of all queues takes to drain when it is full; 0:
 * links have no rate, and there are no queues.
 */
uint64_t ml_program_queue_ns(const struct ml_lab *lab);

/* ml_program_htb writes tc lines that shape a port (build), or change its rate. */
void ml_program_htb(const struct ml_lab *lab, uint32_t link, const char *port, bool build,
		    char *text, size_t size);

/*
 * ---- the watchdog: a process that takes a lab down when the one that it watches dies, for any
 * reason ----
 *
 * It waits at the other end of a pair of sockets.
 */

/* ml_watchdog_start returns a descriptor for ml_watchdog_stop, or -1. */
int ml_watchdog_start(const struct ml_lab *lab, struct ml_error *e);
/* ml_watchdog_stop tells it that all is well, and closes the descriptor. */
void ml_watchdog_stop(int fd);

#endif
