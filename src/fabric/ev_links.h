/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_links.h - an EV as devices list it, the cables that it chooses by name, and from a part of
 * the fabric back to the EVs that use it. Whatever shows a person an EV has its name from here.
 *
 * An EV of a device is a port and a number (statistics, `mrc ctl`, packets). With source routing
 * the number's low bits are the path of fabric_path.h, and the port is the plane.
 *
 * Pure; no memory is kept, any thread may call these. Hosts and links are below the fabric's
 * counts.
 */
#ifndef SOFTMRC_FABRIC_EV_LINKS_H
#define SOFTMRC_FABRIC_EV_LINKS_H

#include "fabric/fabric_path.h"
#include "fabric/fault.h"

/* The free bits that a device gives its EVs: those of its first source port, 49152, unless
 * MRC_EV_BASE names another. */
#define MF_EV_FREE_USUAL 0xC00u

/* No host in particular. */
#define MF_HOST_NONE UINT32_MAX

/* mf_ev_shown returns the number by which a device with the usual free bits lists a path. */
static inline uint32_t mf_ev_shown(uint32_t ev)
{
	return (ev & ((1u << MW_EV_FREE_SHIFT) - 1)) | MF_EV_FREE_USUAL << MW_EV_FREE_SHIFT;
}

/*
 * mf_ev_find finds the path that an EV of a device stands for; port is its plane, from 0. False:
 * the number has 16 bits only, so that it is a source port which switches hash and chooses no path,
 * or it names a plane or an uplink that the fabric has not; *ev is as it was.
 */
bool mf_ev_find(const struct mf_topology *t, uint32_t port, uint32_t number, uint32_t *ev);

/* Room for a cable by both ends, and for all cables that an EV chooses. */
#define MF_CABLE_ENDS_BYTES 96u
#define MF_EV_CABLE_BYTES 144u

/* mf_link_ends names a link by the port that sends and the node that receives:
 * "plane1.t0-0.u2 - plane1.t1-2". Returns out. */
char *mf_link_ends(const struct mf_topology *t, uint32_t link, char out[MF_CABLE_ENDS_BYTES]);

/*
 * mf_ev_cable names the cables that an EV chooses for packets from one host to another, the one up
 * from the T0, with three tiers also the one up from the T1: "plane1.t0-0.u2 - plane1.t1-2.u0 -
 * plane1.t2-8". Where the path turns at the T0 the EV chooses but the plane, and the host's cable
 * is named. dst may be MF_HOST_NONE: a host for which the path is longest. Returns out.
 */
char *mf_ev_cable(const struct mf_topology *t, uint32_t src, uint32_t dst, uint32_t ev,
		  char out[MF_EV_CABLE_BYTES]);

/*
 * mf_part_has says whether the cable of a link is one of a part's: of a host's or a switch's all,
 * of a plane's all that its switches have.
 */
bool mf_part_has(const struct mf_topology *t, const struct mf_target *part, uint32_t link);

/* mf_ev_crosses says whether a host's packets by an EV, to whichever host, may take a link. */
bool mf_ev_crosses(const struct mf_topology *t, uint32_t src, uint32_t ev, uint32_t link);

/* mf_ev_uses_part says so of any link of a part, in either direction. */
bool mf_ev_uses_part(const struct mf_topology *t, uint32_t src, uint32_t ev,
		     const struct mf_target *part);

/* mf_path_uses_part says whether the path from one host to another takes a cable of a part. */
bool mf_path_uses_part(const struct mf_topology *t, const struct mf_pair *pair, uint32_t ev,
		       const struct mf_target *part);

#endif
