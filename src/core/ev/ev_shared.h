/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ev_shared.h - what all EV sets of one profile have in common, and none of them changes: the EVs,
 * their groups, and where each stands in the rotation while all are GOOD.
 *
 * With 10,000 destinations this is read from the cache for each packet, whatever its destination.
 * Beside it a set keeps a few bits of each EV (ev_set.h).
 */
#ifndef SOFTMRC_CORE_EV_EV_SHARED_H
#define SOFTMRC_CORE_EV_EV_SHARED_H

#include "core/config.h"

/* EV groups, kept only where a profile has any. */
struct mt_ev_group {
	uint16_t next; /* the next EV of the same group, in a ring */
	uint16_t head; /* the first EV of the same group */
};

/* The EVs of a port have the places from `first` on, and `active` of them take part in the
 * rotation. */
struct mt_ev_port {
	uint16_t first;
	uint16_t count;
	uint16_t active;
};

struct mt_ev_shared {
	const struct mt_ev *evs;
	/*
	 * Places: the EV in each place, port by port, active places first; behind these the place
	 * of each EV; and with groups, of each head, how many usable EVs of its group are active.
	 */
	const uint16_t *places;
	const struct mt_ev_port *ports;
	const struct mt_ev_group *groups; /* NULL: each EV is a group of its own */
	uint64_t probe_interval_ns, probe_interval_max_ns;
	uint32_t refs;	    /* sets that use it */
	uint32_t profile;   /* whose it is, of the engine */
	uint32_t own_ports; /* from which it has EVs */
	uint16_t n_evs;
	uint16_t min_active;
	uint8_t n_ports;
	uint8_t revive_probes;
	uint8_t ignores;  /* enum mt_ev_ignores */
	bool ordered;	  /* rounds keep to the places */
	bool has_backups; /* so that EVs may change places */
	bool copies_evs;
};

/* mt_ev_places_size returns the bytes of the places, of which a set may have its own. */
static inline size_t mt_ev_places_size(const struct mt_ev_shared *c)
{
	return (c->groups ? 3u : 2u) * (size_t)c->n_evs * sizeof(uint16_t);
}

/*
 * mt_ev_shared_size returns the bytes of what mt_ev_shared_init makes of a valid profile for
 * n_ports ports. EVs that are static are not copied. mt_ev_shared_bytes returns those of one that
 * was made.
 */
size_t mt_ev_shared_size(const struct mt_ev_profile_cfg *profile, uint32_t n_ports);
size_t mt_ev_shared_bytes(const struct mt_ev_shared *c);
/* mt_ev_shared_set_value gives an EV of a profile whose EVs are not static another value. */
void mt_ev_shared_set_value(struct mt_ev_shared *c, uint16_t ev, uint32_t value);
struct mt_ev_shared *mt_ev_shared_init(void *mem, const struct mt_ev_profile_cfg *profile,
				       uint32_t n_ports);

#endif
