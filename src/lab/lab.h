/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab.h - a fabric made of network namespaces: hosts, T0s, T1s and the cables between them, on the
 * kernel's own SRv6.
 *
 * 	struct ml_lab *lab = ml_lab_up(&(struct ml_options){.name = "demo", .topology = "lab"}, &e);
 * 	fd = ml_lab_netns(lab, host, &e);		setns() there, run something
 * 	ml_lab_add_fault(lab, &fault, &e);			and ml_lab_clear_fault
 * 	ml_lab_counters(lab, link, &counters, &e);
 * 	ml_lab_down(lab, &down, &e);
 *
 * A lab outlives the process that made it, unless it was asked to go with it: what is known about
 * it is in a file, /run/softmrc/lab/NAME.json, and any process with the same rights may open
 * it.
 * All its namespaces are called mrc-NAME-NODE. While a lab is being built, and as long as one lives
 * that goes with its process, a second process watches and takes it down when the first one dies,
 * whatever kills it.
 *
 * Rights: root, or a process that went through ml_rootless_enter. Calls block, up to some seconds
 * for ml_lab_up. A handle is for one thread at a time; changes by several processes are made one
 * after the other. The calling thread's own network namespace never changes. Failures return -1 or
 * NULL and one sentence in *e.
 */
#ifndef SOFTMRC_LAB_LAB_H
#define SOFTMRC_LAB_LAB_H

#include "fabric/fault.h"
#include "fabric/host_config.h"
#include "switchq/switchq.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ML_ERROR_MAX 640u

/* What went wrong, in one sentence that names the thing, its value and what is allowed. */
struct ml_error {
	char text[ML_ERROR_MAX];
};

/* ml_error_set writes the sentence, cut where it is too long, and returns -1. */
__attribute__((format(printf, 2, 3))) int ml_error_set(struct ml_error *e, const char *format, ...);

/* ---- what this kernel and this user's rights allow, measured by trying ---- */

enum ml_feature {
	ML_FEATURE_NETNS,      /* network namespaces, as we are */
	ML_FEATURE_SID_DEVICE, /* a device that SID routes can hang on */
	ML_FEATURE_USID,       /* seg6local End with NEXT-C-SID */
	ML_FEATURE_HTB,	       /* shaping */
	ML_FEATURE_BPF,	       /* loading programs: trimming, marking, the finer faults */
	ML_FEATURES
};

struct ml_probe {
	bool ok[ML_FEATURES];
	struct ml_error why[ML_FEATURES]; /* of those that are not */
	const char *sid_device;		  /* kind of link: "dummy", "ifb" or "veth" */
};

/*
 * ml_probe_run tries each in a namespace that is gone afterwards; takes about 30 ms. May be called
 * as root, and inside ml_rootless_enter.
 */
void ml_probe_run(struct ml_probe *p);

/* ml_probe_check says whether there can be a lab at all. 0; -1: e says what is missing. */
int ml_probe_check(const struct ml_probe *p, struct ml_error *e);

/* ml_probe_knows_sid_device says whether sid_device can be this. */
bool ml_probe_knows_sid_device(const char *kind);

/*
 * ---- what a list of faults as a whole means for each port ----
 *
 * Only the list is kept: what a port has to do follows from all faults that are in force, so
 * clearing one never disturbs another.
 */

#define ML_FAULTS_MAX 256u

/* ml_error_from makes a sentence of an error of the fabric, and returns -1. */
int ml_error_from(struct ml_error *e, const struct mf_error *why);

/* ml_fault_read is mf_fault_text with a sentence as error. 0, or -1. */
int ml_fault_read(const struct mf_topology *t, const char *target, const char *text,
		  struct mf_fault *f, struct ml_error *e);

/* ml_node_find reads the name of a host or switch. 0, or -1 with a sentence. */
int ml_node_find(const struct mf_topology *t, const char *name, uint32_t *node, struct ml_error *e);

/* ml_fault_same_target says whether two are about the same: the later one replaces the earlier. */
bool ml_fault_same_target(const struct mf_fault *a, const struct mf_fault *b);

/* What a port does to what it sends. */
struct ml_port_state {
	bool down;
	struct mswq_faults faults; /* slow_bits 0: the rate is as the topology says */
	uint32_t peer;		   /* the link whose port is at the other end of the cable */
};

/*
 * ml_faults_apply computes port[0 .. n_links - 1], by link sent on, from all faults. The targets
 * are known to exist.
 */
void ml_faults_apply(const struct mf_topology *t, const struct mf_fault *fault, size_t n,
		     struct ml_port_state *port);

/* ml_fault_needs_bpf says whether only the switch program can do it. */
bool ml_fault_needs_bpf(enum mf_fault_kind kind);

/* ---- up and down ---- */

#define ML_LAB_NAME_MAX 16u
/* Namespaces and cables of the largest lab; more has no use on one machine. */
#define ML_NODES_MAX 1024u
#define ML_CABLES_MAX 8192u
/* A pace: half of what the topology's links to hosts carry. */
#define ML_PACE_OF_TOPOLOGY UINT64_MAX
#define ML_PACE_MIN_BPS UINT64_C(100000)
#define ML_PACE_MAX_BPS UINT64_C(100000000000)

struct ml_lab;

/*
 * Called as the work goes on: what is being done, and how much of it is done. Not 0 stops: the lab
 * is taken down and ml_lab_up fails.
 */
typedef int (*ml_progress_fn)(void *context, const char *what, size_t done, size_t of);

struct ml_options {
	const char *name;     /* letters a-z, digits, at most ML_LAB_NAME_MAX - 1; NULL: "lab" */
	const char *topology; /* a preset or the path of a file, as mf_topology_open; NULL: "lab" */
	/*
	 * What hosts send on each plane, in bits a second, ML_PACE_MIN_BPS to ML_PACE_MAX_BPS, or
	 * ML_PACE_OF_TOPOLOGY. Links carry twice that (those that the topology makes faster than
	 * the hosts' links, accordingly more). 0: no shaping and no queues, so neither trims nor
	 * marks.
	 */
	uint64_t pace_bps;
	uint32_t mtu;		 /* bytes, MF_MTU_MIN to MF_MTU_MAX; 0: the topology's */
	bool no_programs;	 /* do not load BPF programs even where that is possible */
	bool goes_with_process;	 /* take it down when this process ends or closes it */
	ml_progress_fn progress; /* NULL: none */
	void *context;
};

/*
 * ml_lab_up builds a lab and returns a handle, for ml_lab_close or ml_lab_down. What a crashed
 * process left of a lab of this name is removed first. Fails when a lab of this name is up, for
 * names and topologies that cannot be, where rights or kernel features are missing (the sentence
 * names them); whatever was built is gone then.
 */
struct ml_lab *ml_lab_up(const struct ml_options *options, struct ml_error *e);

/* ml_lab_open opens a lab that is up. */
struct ml_lab *ml_lab_open(const char *name, struct ml_error *e);

/* ml_lab_close frees a handle; a lab that goes with this process goes. NULL is allowed. */
void ml_lab_close(struct ml_lab *lab);

/* What ml_lab_down found. */
struct ml_down {
	size_t namespaces, processes;
};

/*
 * ml_lab_down ends what runs in the lab's namespaces and removes them, the lab's file and what a
 * crash left of it: the name is enough. 0 also where nothing was there.
 */
int ml_lab_down(const char *name, struct ml_down *down, struct ml_error *e);

/* ml_lab_list calls fn for each file and each namespace of a lab, with the name of the lab. */
void ml_lab_list(void (*fn)(void *context, const char *name), void *context);

/* ---- what there is ---- */

const char *ml_lab_name(const struct ml_lab *lab);
const char *ml_lab_topology_name(const struct ml_lab *lab);
const struct mf_topology *ml_lab_topology(const struct ml_lab *lab);
/* ml_lab_rate_scale returns bits per second and plane; 0: not shaped. */
uint64_t ml_lab_rate_scale(const struct ml_lab *lab);
/* ml_lab_rate returns what a link carries now, in bits per second; 0: no limit. */
uint64_t ml_lab_rate(const struct ml_lab *lab, uint32_t link);
/* ml_lab_programs says whether switches trim and mark; if not, why not in *why. */
bool ml_lab_programs(const struct ml_lab *lab, const char **why);
/* ml_lab_namespace writes the name of a node's namespace into out[ML_NETNS_MAX]. */
char *ml_lab_namespace(const struct ml_lab *lab, uint32_t node, char *out);
/* ml_lab_netns returns a descriptor of it that the caller closes. */
int ml_lab_netns(const struct ml_lab *lab, uint32_t node, struct ml_error *e);
/* ml_lab_switch_is_off says whether a switch is off (it is rebooting). */
bool ml_lab_switch_is_off(const struct ml_lab *lab, uint32_t node);

/* ---- faults ---- */

/* ml_lab_faults returns those in force, in the order in which they came. */
const struct mf_fault *ml_lab_faults(const struct ml_lab *lab, size_t *n);
/* ml_lab_port returns what a port does at present; link: the one it sends on. */
const struct ml_port_state *ml_lab_port(const struct ml_lab *lab, uint32_t link);

/*
 * ml_lab_add_fault adds a fault, or changes the value of one, and applies it; a reboot switches its
 * switch off. 0, or -1: as it was.
 */
int ml_lab_add_fault(struct ml_lab *lab, const struct mf_fault *fault, struct ml_error *e);

/*
 * ml_lab_clear_fault ends faults: those of this target (NULL: of all) and kind (MF_FAULT_KINDS:
 * all). A switch that is off is one as well, of kind MF_FAULT_REBOOT: it comes back. Returns how
 * many, or -1; then some switches may be back, and the others are as they were.
 */
int ml_lab_clear_fault(struct ml_lab *lab, const char *target, enum mf_fault_kind kind,
		       struct ml_error *e);

/*
 * ml_lab_set_switch switches a switch off: its namespace is deleted, its neighbours lose their
 * carriers; or on: it comes back with empty tables that are filled again, and the neighbours' ends
 * too. Takes tens of milliseconds. Hosts cannot be switched off. 0, or -1.
 */
int ml_lab_set_switch(struct ml_lab *lab, uint32_t node, bool on, struct ml_error *e);

/* ---- counters ---- */

/*
 * Packets that a port was given to send, and what became of them. Without the switch program: those
 * that left, and what a switch dropped or lost.
 */
struct ml_counters {
	uint64_t packets, bytes; /* offered */
	uint64_t sent_bytes;
	uint64_t trimmed, marked;
	uint64_t dropped; /* no room in the queue */
	uint64_t lost;	  /* by a fault: loss and blackholes */
	uint64_t corrupted, duplicated, reordered;
	uint64_t queue_bytes; /* that wait now */
	bool carrier;	      /* up, and the far end too */
};

/* ml_lab_counters reads counters[0 .. n_links - 1], by link sent on. 0, or -1. */
int ml_lab_counters(struct ml_lab *lab, struct ml_counters *counters, struct ml_error *e);

/* ---- what a program on a host has to know ---- */

#define ML_HOST_PATH_MAX 96u

/*
 * ml_host_environment sets environment variables of the calling process, for programs that it will
 * run on the node: MRC_LAB, MRC_LAB_NODE and MRC_FABRIC, a preset or a file that describes the
 * fabric; on a host also MRC_LAB_HOST, MRC_LAB_ADDRESS (its own address), MRC_LAB_IPV4 (ip_batch.h)
 * and, unless they are set already, MRC_CONFIG: a file, written here, that makes the host an SRv6
 * endpoint of this form, and MRC_NODE_DIR: ml_host_node_dir. 0, or -1.
 */
int ml_host_environment(const struct ml_lab *lab, uint32_t node, enum mf_host_form form,
			struct ml_error *e);

/*
 * ml_host_node_dir writes the folder of a host's own device state (docs/configuration.md, node
 * state): a host of a lab is a host, so what is denied on one is not on another. It goes with the
 * lab. Returns out, of ML_HOST_PATH_MAX.
 */
char *ml_host_node_dir(const struct ml_lab *lab, uint32_t host, char *out);

/* ml_lab_folder makes the folder of a lab's own files, which go with it; out[ML_HOST_PATH_MAX]. */
char *ml_lab_folder(const struct ml_lab *lab, char *out);

/* ml_host_address writes the address of a host, the same on all planes; out[INET6_ADDRSTRLEN]. */
char *ml_host_address(const struct ml_lab *lab, uint32_t host, char *out);

/*
 * ---- labs of users without rights ----
 *
 * Such a lab lives in a user namespace in which its processes are root, with a /run of its own for
 * the names of network namespaces. Everything in it goes away with its last process. `mrc lab up`
 * leaves one there, the namespace holder, which only waits. A file named after the lab, in
 * $XDG_RUNTIME_DIR/softmrc-lab or /tmp/softmrc-lab-UID, says which process that is; when the
 * namespace holder ends, for any reason, so does the whole lab.
 */

/*
 * ml_rootless_enter moves this process into new user, mount and network namespaces. The process
 * must have one thread only. 0; -1 where the system forbids it: nothing useful can be done after
 * a failure that comes late, so the caller exits.
 */
int ml_rootless_enter(struct ml_error *e);

/* ml_needs_ns_holder says whether this process cannot make network namespaces as it is. */
bool ml_needs_ns_holder(void);

/*
 * ml_ns_holder_start starts a holder, which makes the lab (the progress callback is called there).
 * 0 when it is up; join to use it. goes_with_process is not for these.
 */
int ml_ns_holder_start(const struct ml_options *options, struct ml_error *e);

/*
 * ml_ns_holder_join moves this process, of one thread, to where the lab is. 1; 0: no holder has a
 * lab of this name; -1.
 */
int ml_ns_holder_join(const char *lab, struct ml_error *e);

/*
 * ml_ns_holder_stop is ml_lab_down for such a lab, from outside. 1; 0: no such namespace holder;
 * -1.
 */
int ml_ns_holder_stop(const char *lab, struct ml_down *down, struct ml_error *e);

/* ml_ns_holder_list calls fn with the name of each lab that this user's namespace holders keep. */
void ml_ns_holder_list(void (*fn)(void *context, const char *name), void *context);

#endif
