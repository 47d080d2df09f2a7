/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario.h - a small TOML file: a topology, programs on hosts, faults by the clock, and checks at
 * the end. docs/lab.md lists the keys.
 */
#ifndef SOFTMRC_LAB_SCENARIO_H
#define SOFTMRC_LAB_SCENARIO_H

#include "lab/lab.h"
#include "lab/toml_table.h"

#define ML_SCENARIO_PROGRAMS_MAX 32u
#define ML_SCENARIO_FAULTS_MAX 64u
#define ML_SCENARIO_CHECKS_MAX 64u
#define ML_SCENARIO_HOSTS_MAX 128u
#define ML_SCENARIO_TEXT_MAX 1024u
#define ML_SCENARIO_WORD_MAX 128u
#define ML_SCENARIO_ERROR_MAX ML_TOML_ERROR_MAX

struct ml_scenario_program {
	uint32_t line;
	char name[32];
	char run[ML_SCENARIO_TEXT_MAX]; /* for sh -c */
	uint32_t host[ML_SCENARIO_HOSTS_MAX], hosts;
	uint64_t at_ns;
	enum mf_host_form form;
	bool background; /* ended with the scenario, its exit status does not matter */
	uint32_t status; /* the exit status that it must have */
};

struct ml_scenario_fault {
	uint32_t line;
	char target[MF_LINK_NAME_BYTES];
	char words[ML_SCENARIO_WORD_MAX]; /* "loss 1% out", or "reboot" */
	struct mf_fault fault;		  /* what they mean, by ml_scenario_check_topology */
	uint64_t at_ns, for_ns;		  /* for_ns 0: until the end */
	uint64_t every_ns;
	uint32_t times; /* 1 or more */
};

enum ml_scenario_counter {
	ML_SCENARIO_PACKETS,
	ML_SCENARIO_TRIMMED,
	ML_SCENARIO_MARKED,
	ML_SCENARIO_DROPPED,
	ML_SCENARIO_LOST,
	ML_SCENARIO_COUNTERS /* how many there are */
};

/* Either what a program says, or what ports count together. */
struct ml_scenario_check {
	uint32_t line;
	char program[32]; /* "" : a counter */
	char says[ML_SCENARIO_WORD_MAX];
	enum ml_scenario_counter counter;
	char of[MF_LINK_NAME_BYTES]; /* a target; "": every port */
	uint64_t least, most;
};

struct ml_scenario {
	char title[ML_SCENARIO_WORD_MAX];
	char topology[256];
	uint64_t pace_bps;   /* ML_PACE_OF_TOPOLOGY when not said */
	uint64_t limit_ns;   /* programs that still run then have failed */
	bool needs_programs; /* switches must trim and mark */
	struct ml_scenario_program program[ML_SCENARIO_PROGRAMS_MAX];
	struct ml_scenario_fault fault[ML_SCENARIO_FAULTS_MAX];
	struct ml_scenario_check check[ML_SCENARIO_CHECKS_MAX];
	uint32_t programs, faults, checks;
};

/* ml_scenario_counter_name returns the word for a counter. */
const char *ml_scenario_counter_name(enum ml_scenario_counter counter);

/*
 * ml_scenario_read reads the text of a file; `file` begins messages. 0, or -1 with
 * "FILE:LINE: key = value: what is wrong; what is allowed" in error[ML_SCENARIO_ERROR_MAX].
 */
int ml_scenario_read(const char *file, const char *text, struct ml_scenario *s, char *error);

/*
 * ml_scenario_check_topology checks hosts and targets against the topology, and reads the faults.
 * 0, or -1 as above.
 */
int ml_scenario_check_topology(const char *file, struct ml_scenario *s, const struct mf_topology *t,
			       char *error);

/*
 * ---- processes: each in a process group of its own, in its host's namespace, its output in a file
 * ----
 */

#define ML_PROCESSES_MAX 256u

struct ml_process {
	const struct ml_scenario_program *program;
	uint32_t host;
	pid_t pid;    /* 0: ended */
	int status;   /* exit status; 128 + signal */
	bool overdue; /* had to be killed */
	uint64_t ran_ns;
};

struct ml_processes {
	const struct ml_lab *lab; /* NULL: in the network of the caller */
	char folder[256];	  /* of their output */
	struct ml_process member[ML_PROCESSES_MAX];
	uint32_t members;
};

/*
 * ml_processes_open begins without processes; ml_processes_stop is its end. folder: NULL: that of
 * the lab, with which it goes.
 */
void ml_processes_open(struct ml_processes *c, const struct ml_lab *lab, const char *folder);

/*
 * ml_processes_start runs a program on all its hosts; MRC_LAB_INDEX tells each process on which of
 * them, from 0, it is. Processes are killed when the caller's thread ends. 0, or -1.
 */
int ml_processes_start(struct ml_processes *c, const struct ml_scenario_program *program,
		       struct ml_error *e);
/*
 * ml_processes_poll notes those that have ended; true while one runs that is not in the background.
 */
bool ml_processes_poll(struct ml_processes *c);
/* ml_processes_stop kills those that still run; those not in the background are overdue. */
void ml_processes_stop(struct ml_processes *c);
/*
 * ml_processes_output returns what a member printed, for the caller to free; NULL without memory.
 */
char *ml_processes_output(const struct ml_processes *c, uint32_t member);

#define ML_OWN_FOLDER_MAX 4096u

/* ml_own_folder returns the folder of the running program, in out; NULL with errno. */
char *ml_own_folder(char out[ML_OWN_FOLDER_MAX]);

/*
 * ml_program_find writes the path of a program of softmrc, which is found from the folder of the
 * running one. 0; -1: e names the places.
 */
int ml_program_find(const char *name, char *path, size_t size, struct ml_error *e);

/* ml_clock_ns returns CLOCK_MONOTONIC. */
uint64_t ml_clock_ns(void);

/* ---- a scenario being played, in a lab of its own ---- */

struct ml_scenario_result {
	char what[96], actual[96];
	bool pass;
};

struct ml_scenario_run {
	struct ml_scenario s;	  /* by ml_scenario_read; the caller sets this and the next three */
	bool (*is_stopped)(void); /* asked again and again: whether to give up */
	void (*log)(void *context, double at_s, const char *what); /* an event, when it happens */
	void *context;
	struct ml_lab *lab;
	struct ml_processes processes;
	uint64_t begin_ns;
	struct ml_scenario_result result[ML_PROCESSES_MAX + ML_SCENARIO_CHECKS_MAX];
	size_t results;
	bool pass; /* all of them */
};

/* ml_scenario_open brings the lab up; `file` begins messages. 0, or -1. */
int ml_scenario_open(struct ml_scenario_run *r, const char *file, struct ml_error *e);
/* ml_scenario_play runs to the end and fills in the results. 0; -1: it could not be finished. */
int ml_scenario_play(struct ml_scenario_run *r, struct ml_error *e);
/*
 * ml_scenario_close ends programs and the lab; to be called after a failed ml_scenario_open, too.
 */
void ml_scenario_close(struct ml_scenario_run *r);

#endif
