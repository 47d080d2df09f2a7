/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_reference.h - the simulated fabric once more: plain, slow, and meant to be obviously right.
 *
 * One list of events in the order of time. Each port has two queues and is busy or not; when it has
 * sent a packet it takes the next one. Links, nodes and paths are those of fabric/path.h, packet by
 * packet. Nothing is shared with the kernel but the numbers of ports, which break ties, and the
 * function that draws chances.
 */
#ifndef PROPERTY_SIM_REFERENCE_H
#define PROPERTY_SIM_REFERENCE_H

#include "sim/kernel/sim_net.h"

/* What hosts do; the same for both models. `out` is what they send and sleep with. */
struct ref_out {
	void *model;
	void (*send)(void *model, uint32_t host, const struct ms_packet *p);
	void (*wake_at)(void *model, uint32_t host, uint64_t at_ps);
};

struct ref_hosts {
	void *ctx;
	void (*receive)(void *ctx, const struct ref_out *out, uint32_t host, uint64_t now_ps,
			const struct ms_packet *p);
	void (*wake)(void *ctx, const struct ref_out *out, uint32_t host, uint64_t now_ps);
	void (*carrier)(void *ctx, uint32_t host, uint64_t now_ps, uint32_t plane, bool up);
};

struct ref_net;

/* ref_create makes a fabric of the same configuration; cfg->hosts is not used. */
struct ref_net *ref_create(const struct ms_net_cfg *cfg, const struct ref_hosts *hosts);
void ref_destroy(struct ref_net *r);
void ref_wake(struct ref_net *r, uint32_t host, uint64_t at_ps);
void ref_fault(struct ref_net *r, const struct ms_fault *f);
/* ref_run lets happen what happens before until_ps. */
void ref_run(struct ref_net *r, uint64_t until_ps);
/* ref_counters fills in all but the hash. */
void ref_counters(const struct ref_net *r, struct ms_counters *c);

#endif
