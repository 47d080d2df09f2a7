/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_ports.c - claims a slot, opens the drivers of all planes, and closes them.
 *
 * The claim comes first and is a bound socket on every plane: only when a process has the same slot
 * everywhere do its QP numbers lead peers to it on each plane. Binding is also what keeps a second
 * process from the slot, without a file that a crash would leave behind. Drivers are stacked on it:
 * the one that carries frames, then the capture, then faults, so that a capture shows what is on
 * the wire and not what the faults make of it for the protocol.
 */
#include "host/port/nic_ports.h"
#include "host/nic.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "host/config/env.h"
#include "host/platform/platform.h"
#include "io/drivers.h"
#include "wire/dscp.h"

/* What a switch keeps of a packet that it cuts: all headers, a little payload. */
#define PORTS_TRIM_BYTES 64u

/* NULL means to the drivers that a socket is bound to its address alone. */
static const char *ports_ifname(const struct mh_env *env, uint32_t i)
{
	return env->port[i].ifname[0] ? env->port[i].ifname : NULL;
}

static struct mio_addr ports_local(const struct mh_env *env, uint32_t i, uint32_t slot)
{
	struct mio_addr local = {.udp_port = (uint16_t)(env->udp_port + slot)};

	memcpy(local.ip, env->port[i].ip, sizeof(local.ip));
	return local;
}

/* ports_rx_address returns where a port receives: a carrier's last address is none of the host's
 * own. */
static struct mio_addr ports_rx_address(const struct mh_env *env, uint32_t i, uint32_t slot)
{
	struct mio_addr local = ports_local(env, i, slot);

	if (mh_env_is_srv6(env) && env->driver == MH_DRIVER_UDP)
		memset(local.ip, 0, sizeof(local.ip));
	return local;
}

/* Those that were claimed before one failed: a slot is claimed on all planes or on none. */
static void ports_release(const int *fds, uint32_t n)
{
	while (n > 0)
		close(fds[--n]);
}

/* ports_claim_slot binds the receiving sockets of all ports to one slot. */
static int ports_claim_slot(const struct mh_env *env, uint32_t slot, int *fds,
			    struct mio_error *error)
{
	for (uint32_t i = 0; i < env->n_ports; i++) {
		struct mio_addr local = ports_rx_address(env, i, slot);
		int err = mio_udp_claim(&local, ports_ifname(env, i), &fds[i], error);

		if (err) {
			ports_release(fds, i);
			return err;
		}
	}
	return 0;
}

/*
 * Slots are tried in order, so that the first process of a host has the registered port 4791. Only
 * a port that is in use leads to the next slot; every other error would come again there. What
 * comes to the registered port goes from shard to later shard only, so that only the first has it.
 * REQ(api.shards)
 */
static int ports_claim(const struct mh_env *env, int *fds, uint32_t *slot, struct mio_error *error)
{
	for (uint32_t s = env->shard > 0; s < MH_SLOTS; s++) {
		int err = ports_claim_slot(env, s, fds, error);

		if (err == EADDRINUSE)
			continue;
		*slot = s;
		return err;
	}
	snprintf(error->text, sizeof(error->text),
		 "UDP ports %u to %u are all taken on the addresses of MRC_PORTS", env->udp_port,
		 env->udp_port + MH_SLOTS - 1);
	return EADDRINUSE;
}

/* ports_add_fault_driver puts the fault driver above a port when there is a fault table. */
static int ports_add_fault_driver(struct mh_ports *ports, const struct mh_env *env, uint32_t i,
				  struct mio_error *error)
{
	struct mio_fault_cfg cfg = {
		.table = ports->faults,
		.guard = mh_guard_run,
		.port = i,
		.trimmed_dscp = mw_dscp_encode(&env->dscp, MW_DSCP_TRIMMED),
		.trim_bytes = PORTS_TRIM_BYTES,
	};
	int err;

	if (!ports->faults)
		return 0;
	memcpy(cfg.gid, ports->map.local[0], sizeof(cfg.gid));
	err = mio_fault_open(&cfg, ports->port[i].io, &ports->port[i].io);
	if (err)
		snprintf(error->text, sizeof(error->text), "no memory for a fault driver");
	return err;
}

/* ports_add_capture_driver puts the driver that writes a capture above a port, when one is
 * wanted. */
static int ports_add_capture_driver(struct mh_ports *ports, const struct mh_env *env,
				    const struct mio_addr *local, uint32_t i,
				    struct mio_error *error)
{
	const uint8_t *gid = env->driver == MH_DRIVER_RAW41 ? env->port[0].ip : NULL;
	bool summed = env->driver == MH_DRIVER_UDP && !mh_env_is_srv6(env); /* by the kernel */
	char name[16];
	int err;

	if (!ports->capture)
		return 0;
	snprintf(name, sizeof(name), "port%u", i);
	err = mio_pcap_open(ports->capture, name, local, gid, summed, ports->port[i].io,
			    &ports->port[i].io);
	if (err)
		snprintf(error->text, sizeof(error->text), "no memory for a capture");
	return err;
}

/*
 * With SRv6 the path is in the flow label, so a plane needs one source port. The checksum is left
 * 0, as RFC 6935 allows for tunnels: each uSID that a switch consumes changes the destination
 * address that it covers.
 */
static int ports_open_udp(const struct mh_env *env, uint32_t i, const struct mio_addr *local,
			  const char *ifname, int fd, struct mio_port **io, struct mio_error *error)
{
	struct mio_udp_cfg cfg = {
		.local = *local,
		.ifname = ifname,
		.ev_base = (uint16_t)env->ev_base,
		.n_evs = env->evs,
		.max_run = env->run,
		.rx_buffer_bytes = env->rx_buffer_bytes,
	};

	if (mh_env_is_srv6(env)) {
		cfg.ev_base = (uint16_t)(env->ev_base + i);
		cfg.n_evs = 1;
		cfg.max_run = 1;
		cfg.zero_checksum = true;
	}
	return mio_udp_open(&cfg, fd, io, error);
}

/*
 * This driver writes link headers itself, so it needs to know its interface even if none was named.
 */
static int ports_open_af_packet(const struct mh_env *env, uint32_t i, const struct mio_addr *local,
				const char *ifname, int fd, struct mio_port **io,
				struct mio_error *error)
{
	char name[MH_IFNAME_MAX];
	struct mio_af_packet_cfg cfg = {
		.local = *local, .ifname = name, .rx_buffer_bytes = env->rx_buffer_bytes};
	int err = 0;

	if (ifname)
		strcpy(name, ifname);
	else
		err = mh_iface_with_address(local->ip, name);
	if (err) {
		snprintf(error->text, sizeof(error->text),
			 err == EADDRNOTAVAIL
				 ? "port %u: no interface has its address; see MRC_PORTS"
				 : "port %u: the interface of its address: %s",
			 i, strerror(err));
		return err;
	}
	return mio_af_packet_open(&cfg, fd, io, error);
}

static int ports_open_raw41(const struct mh_env *env, const struct mio_addr *local,
			    const char *ifname, int fd, struct mio_port **io,
			    struct mio_error *error)
{
	struct mio_raw41_cfg cfg = {
		.local = *local,
		.ifname = ifname,
		.rx_buffer_bytes = env->rx_buffer_bytes,
	};

	memcpy(cfg.gid, env->port[0].ip, sizeof(cfg.gid));
	return mio_raw41_open(&cfg, fd, io, error);
}

static int ports_open_driver(const struct mh_env *env, uint32_t i, const struct mio_addr *local,
			     const char *ifname, int fd, struct mio_port **io,
			     struct mio_error *error)
{
	switch (env->driver) {
	case MH_DRIVER_UDP:
		return ports_open_udp(env, i, local, ifname, fd, io, error);
	case MH_DRIVER_AF_PACKET:
		return ports_open_af_packet(env, i, local, ifname, fd, io, error);
	case MH_DRIVER_RAW41:
		return ports_open_raw41(env, local, ifname, fd, io, error);
	}
	mb_unreachable();
}

/*
 * ports_open_one opens port i around its claimed socket, which it takes over in any case. ifname is
 * the interface that it is bound to, NULL: none.
 */
static int ports_open_one(struct mh_ports *ports, const struct mh_env *env, uint32_t i,
			  const char *ifname, int fd, uint64_t now_ns, struct mio_error *error)
{
	struct mh_port *port = &ports->port[i];
	struct mio_addr local = ports_local(env, i, ports->slot);
	int err = ports_open_driver(env, i, &local, ifname, fd, &port->io, error);

	if (err) {
		close(fd);
		return err;
	}
	mh_pace_init(&port->pace, mh_env_shard_pace(env), MIO_FRAME_MAX, now_ns);
	port->refused_reported = 0;
	port->overruns_reported = 0;
	port->rx_n = port->rx_at = 0;
	err = ports_add_capture_driver(ports, env, &local, i, error);
	if (!err)
		err = ports_add_fault_driver(ports, env, i, error);
	if (err)
		mio_port_close(port->io);
	return err;
}

/* A capture has wall-clock times: it is read beside those of switches and other hosts. */
static uint64_t ports_realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void ports_close_all(struct mh_ports *ports)
{
	while (ports->n > 0)
		mio_port_close(ports->port[--ports->n].io);
}

/* ports_open_all opens every port around the sockets that claim them; on an error none is left. */
static int ports_open_all(struct mh_ports *ports, const struct mh_env *env, const int *fds,
			  uint64_t now_ns, struct mio_error *error)
{
	for (; ports->n < env->n_ports; ports->n++) {
		int err = ports_open_one(ports, env, ports->n, ports_ifname(env, ports->n),
					 fds[ports->n], now_ns, error);

		if (err) {
			ports_release(fds + ports->n + 1, env->n_ports - ports->n - 1);
			ports_close_all(ports);
			return err;
		}
	}
	return 0;
}

/*
 * ports_open_at_free_slot claims a slot, then opens all ports where their EVs are free. Processes
 * of one user share source ports, so they meet at the same base unless another program came in
 * between.
 */
static int ports_open_at_free_slot(struct mh_ports *ports, struct mh_env *env, uint64_t now_ns,
				   struct mio_error *error)
{
	int fds[MT_PORTS_MAX];
	int err;

	do {
		err = ports_claim(env, fds, &ports->slot, error);
		if (err)
			return err;
		err = ports_open_all(ports, env, fds, now_ns, error);
	} while (err == EADDRINUSE && mh_env_next_ev_base(env));
	if (err == EADDRINUSE && env->ev_base_any)
		snprintf(
			error->text, sizeof(error->text),
			"of each run of %u source ports, from UDP port %u and %u to %u on, another "
			"program has one: see MRC_EV_BASE",
			env->evs, MH_EV_BASE, MH_EV_BASE_MORE, env->ev_base);
	return err;
}

int mh_ports_open(struct mh_ports *ports, struct mh_env *env, uint64_t now_ns,
		  struct mio_error *error)
{
	int err = 0;

	memset(ports, 0, sizeof(*ports));
	mh_addr_map_init(&ports->map, env);
	ports->udp_port = (uint16_t)env->udp_port;
	ports->quiet = env->shard > 0;
	ports->links_due_ns = UINT64_MAX;
	if (env->faults[0])
		err = mio_fault_map(env->faults, &ports->faults, error);
	if (!err && env->capture[0])
		err = mio_capture_open(env->capture, ports_realtime_ns() - now_ns, &ports->capture,
				       error);
	if (!err)
		err = ports_open_at_free_slot(ports, env, now_ns, error);
	if (err)
		mh_ports_close(ports);
	return err;
}

/* The disk may have filled up. The device closes in any case, so this is said and is no error. */
static void ports_end_capture(struct mh_ports *ports)
{
	int err = mio_capture_close(ports->capture);

	if (err)
		mh_log(MRC_LOG_ERROR, "the capture is not complete: %s", strerror(err));
	ports->capture = NULL;
}

void mh_ports_close(struct mh_ports *ports)
{
	ports_close_all(ports);
	mio_fault_unmap(ports->faults);
	ports->faults = NULL;
	if (ports->capture)
		ports_end_capture(ports);
}

void mh_ports_close_inherited(struct mh_ports *ports)
{
	while (ports->n > 0)
		mio_port_close_inherited(ports->port[--ports->n].io);
	mio_fault_unmap(ports->faults);
	ports->faults = NULL;
	if (ports->capture)
		mio_capture_close_inherited(ports->capture);
	ports->capture = NULL;
}

int mh_ports_reopen(struct mh_ports *ports, const struct mh_env *env, uint32_t i,
		    const char *ifname, uint64_t now_ns, struct mio_error *error)
{
	struct mio_addr local = ports_rx_address(env, i, ports->slot);
	struct mio_port *old = ports->port[i].io;
	int fd;
	int err = mio_udp_claim(&local, ifname, &fd, error);

	if (err)
		return err;
	err = ports_open_one(ports, env, i, ifname, fd, now_ns, error);
	if (err)
		ports->port[i].io = old;
	else
		mio_port_close(old);
	return err;
}

/*
 * A run stays on one EV so that a driver sends it as one (GSO); the least of all ports is what each
 * can.
 */
uint32_t mh_ports_max_run(const struct mh_ports *ports, uint32_t wanted)
{
	for (uint32_t i = 0; i < ports->n; i++)
		if (ports->port[i].io->max_run < wanted)
			wanted = ports->port[i].io->max_run;
	return wanted;
}
