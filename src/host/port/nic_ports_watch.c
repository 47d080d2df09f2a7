/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nic_ports_watch.c - looks after ports that are open: what the system refused, drivers that died,
 * links that went down, addresses that went away, and all of these coming back.
 *
 * A port is up when its driver works, its address is some interface's, and the interface that
 * carries it is up with carrier. Sockets outlive their interface's absence, except those bound to
 * an interface that was made anew: these are opened again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/config/env.h"
#include "host/nic.h"
#include "host/port/nic_ports.h"

/* ---- what drivers say ---- */

/* ports_log_error_once says an errno value once per port; more than eight kinds are not told
 * apart. */
static void ports_log_error_once(struct mh_ports *ports, uint32_t i, int code)
{
	int *named = ports->port[i].named;
	char ip[MH_ADDR_TEXT_MAX];

	for (uint32_t k = 0; k < MH_PORT_ERRORS_LOGGED; k++) {
		if (named[k] == code)
			return;
		if (named[k] != 0)
			continue;
		named[k] = code;
		mh_log(MRC_LOG_WARNING,
		       "port %u (%s): the system refused a frame: %s%s; "
		       "further ones are only counted",
		       i, mh_addr_text(ports->map.local[i], ip), strerror(code),
		       code == EMSGSIZE ? " (lower MRC_MTU, or raise the interface's MTU)" : "");
		return;
	}
}

/* ports_say_offloads says once a port what makes it slow, or its peer unable to send. */
static void ports_say_offloads(struct mh_ports *ports, uint32_t i)
{
	struct mh_port *port = &ports->port[i];
	const struct mio_status *status = port->io->status;
	char ip[MH_ADDR_TEXT_MAX];

	if (status->no_runs && !port->no_runs_said && !ports->quiet) {
		port->no_runs_said = true;
		mh_log(MRC_LOG_WARNING,
		       "port %u (%s): packets go one by one, which costs up to three times the CPU "
		       "time: runs of several (UDP GSO) do not work here: %s",
		       i, mh_addr_text(ports->map.local[i], ip), status->no_runs);
	}
	if (status->rx_oversize > 0 && !port->oversize_said) {
		port->oversize_said = true;
		mh_log(MRC_LOG_WARNING,
		       "port %u (%s): a packet came that is longer than any of MRC: a sender whose "
		       "system or NIC does not cut up runs needs MRC_RUN=1",
		       i, mh_addr_text(ports->map.local[i], ip));
	}
}

static bool ports_check_errors_of(struct mh_ports *ports, uint32_t i, uint64_t now_ns)
{
	struct mh_port *port = &ports->port[i];
	const struct mio_status *status = port->io->status;

	if (status->no_runs || status->rx_oversize > 0)
		ports_say_offloads(ports, i);
	if (status->tx_refused != port->refused_reported) {
		port->refused_reported = status->tx_refused;
		port->refused_ns = now_ns;
		ports_log_error_once(ports, i, status->last_refusal);
	}
	if (!port->up || status->error == 0)
		return false;
	port->up = false;
	mh_log(MRC_LOG_ERROR, "port %u is gone: %s", i, strerror(status->error));
	return true;
}

/*
 * Called after every run of TX: it only compares some words of a port unless something happened.
 */
bool mh_ports_check_errors(struct mh_ports *ports, uint64_t now_ns)
{
	bool changed = false;

	for (uint32_t i = 0; i < ports->n; i++)
		changed |= ports_check_errors_of(ports, i, now_ns);
	return changed;
}

/* Some may be damaged, or come from anybody. So many and no other are a mistake of somebody. */
#define ICRC_WRONG_SAID 16u

void mh_ports_note_icrc(struct mh_ports *ports, uint32_t i, const uint8_t src[16], uint64_t now_ns)
{
	struct mh_port *port = &ports->port[i];
	char ip[MH_ADDR_TEXT_MAX], from[MH_ADDR_TEXT_MAX];

	port->icrc_wrong_ns = now_ns;
	if (++port->icrc_wrong < ICRC_WRONG_SAID || port->icrc_said)
		return;
	port->icrc_said = true;
	mh_log(MRC_LOG_WARNING,
	       "port %u (%s): all packets have a wrong ICRC, the last one from %s: a NAT on the "
	       "way, or a sender with MRC_ICRC=off",
	       i, mh_addr_text(ports->map.local[i], ip), mh_addr_text(src, from));
}

const char *mh_ports_state_text(const struct mh_ports *ports, uint32_t i, uint64_t since_ns,
				char text[MH_PORT_STATE_MAX])
{
	const struct mh_port *port = &ports->port[i];

	if (!port->up)
		snprintf(text, MH_PORT_STATE_MAX, "down");
	else if (port->refused_ns > since_ns)
		snprintf(text, MH_PORT_STATE_MAX, "the system refused frames (%s)",
			 strerror(port->io->status->last_refusal));
	else if (port->icrc_wrong_ns > since_ns)
		snprintf(text, MH_PORT_STATE_MAX,
			 "packets came with a wrong ICRC, as behind a NAT");
	else
		snprintf(text, MH_PORT_STATE_MAX, "no answer");
	return text;
}

uint64_t mh_ports_overruns(struct mh_ports *ports)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < ports->n; i++) {
		struct mh_port *port = &ports->port[i];

		lost += port->io->status->rx_overruns - port->overruns_reported;
		port->overruns_reported = port->io->status->rx_overruns;
	}
	return lost;
}

uint32_t mh_ports_up(const struct mh_ports *ports)
{
	uint32_t up = 0;

	for (uint32_t i = 0; i < ports->n; i++)
		up |= (uint32_t)ports->port[i].up << i;
	return up;
}

/* ---- what the host's interfaces say ---- */

/* What the kernel says of the interface of a port. */
struct port_look {
	enum mh_iface_state state;
	char name[IF_NAMESIZE];
	char why[96];
};

/*
 * A port holds packets of the device's largest MTU when it is opened. One whose interface is made
 * to hold less would lose all that are larger, without a word to their sender.
 */
static void ports_look(const struct mh_port *port, const struct mh_env *env, uint32_t i,
		       struct port_look *look)
{
	const char *why;
	uint32_t mtu;

	look->state = mh_iface_state(env->port[i].ip, env->port[i].ifname, port->ifindex,
				     look->name, &why);
	snprintf(look->why, sizeof(look->why), "%s", why);
	if (port->admin != MN_PORT_ENABLED) { /* REQ(ep.port.admin) */
		look->state = MH_IFACE_DOWN;
		snprintf(look->why, sizeof(look->why), "%s by the controller",
			 port->admin == MN_PORT_SUSPENDED ? "suspended" : "disabled");
	}
	if (look->state != MH_IFACE_UP)
		return;
	mtu = mh_iface_mtu(look->name);
	if (mtu == 0 || mh_env_mtu_of(env, mtu) >= env->mtu)
		return;
	look->state = MH_IFACE_DOUBTFUL;
	snprintf(look->why, sizeof(look->why), "an MTU of %u does not hold packets of %u bytes",
		 mtu, env->mtu);
}

/* ports_restore makes a port usable whose link is back; false: not yet, which is said. */
static bool ports_restore(struct mh_ports *ports, const struct mh_env *env, uint32_t i,
			  const char *name, uint64_t now_ns)
{
	struct mh_port *port = &ports->port[i];
	uint32_t ifindex = mh_iface_index(name);
	bool bound = env->port[i].ifname[0] != '\0';
	struct mio_error error;

	if (port->io->status->error == 0 && (!bound || ifindex == port->ifindex))
		return true;
	if (mh_ports_reopen(ports, env, i, bound ? name : NULL, now_ns, &error)) {
		mh_log(MRC_LOG_WARNING, "port %u cannot be opened again: %s", i, error.text);
		return false;
	}
	port->ifindex = ifindex;
	return true;
}

static void ports_say(const struct mh_ports *ports, uint32_t i, const struct port_look *look,
		      const char *what, const char *why)
{
	char ip[MH_ADDR_TEXT_MAX];

	if (!ports->quiet)
		mh_log(MRC_LOG_WARNING, "port %u (%s, %s) is %s%s", i,
		       mh_addr_text(ports->map.local[i], ip), look->name, what, why);
}

/* ports_apply puts a port up or down, and says so; true: it has changed. */
static bool ports_apply(struct mh_ports *ports, const struct mh_env *env, uint32_t i,
			const struct port_look *look, bool usable, uint64_t now_ns)
{
	struct mh_port *port = &ports->port[i];
	bool was_up = port->up, doubtful = look->state == MH_IFACE_DOUBTFUL;

	if (usable && !port->up)
		port->up = ports_restore(ports, env, i, look->name, now_ns);
	else if (!usable)
		port->up = false;
	doubtful &= port->up;
	if (doubtful && !port->doubtful)
		ports_say(ports, i, look, "used for want of a better one: ", look->why);
	else if (port->up != was_up)
		ports_say(ports, i, look, port->up ? "up again" : "down: ", look->why);
	port->doubtful = doubtful;
	return port->up != was_up;
}

/*
 * A process that has no descriptor left cannot ask, and no answer is no fault of a link: the port
 * stays as it is until the kernel can be asked again.
 */
bool mh_ports_update_links(struct mh_ports *ports, const struct mh_env *env, uint64_t now_ns)
{
	struct port_look look[MT_PORTS_MAX];
	bool changed = false, good = false;

	ports->links_due_ns = UINT64_MAX;
	for (uint32_t i = 0; i < ports->n; i++) {
		ports_look(&ports->port[i], env, i, &look[i]);
		if (look[i].state == MH_IFACE_UNKNOWN)
			ports->links_due_ns = now_ns + MH_LINKS_RETRY_NS;
		else if (look[i].state != MH_IFACE_DOUBTFUL)
			changed |= ports_apply(ports, env, i, &look[i],
					       look[i].state == MH_IFACE_UP, now_ns);
		good |= look[i].state != MH_IFACE_DOUBTFUL && ports->port[i].up;
	}
	for (uint32_t i = 0; i < ports->n; i++)
		if (look[i].state == MH_IFACE_DOUBTFUL)
			changed |= ports_apply(ports, env, i, &look[i], !good, now_ns);
	return changed;
}

/* Ports count as up before they are looked at: what is said is what is wrong with them. */
void mh_ports_first_links(struct mh_ports *ports, const struct mh_env *env, uint64_t now_ns)
{
	for (uint32_t i = 0; i < ports->n; i++) {
		struct port_look look;

		ports->port[i].ifindex = 0;
		ports_look(&ports->port[i], env, i, &look);
		ports->port[i].ifindex = mh_iface_index(look.name);
		ports->port[i].up = true;
		ports->port[i].doubtful = false;
	}
	mh_ports_update_links(ports, env, now_ns);
}
