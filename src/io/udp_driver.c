/* SPDX-License-Identifier: BSD-2-Clause */
/* udp_driver.c - a port made of a sending and a receiving side, see udp.h. */
#include "io/drivers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/list.h"
#include "io/udp.h"

struct udp_port {
	struct mio_port port;
	struct mio_status status;
	struct mio_udp_tx *tx;
	struct mio_udp_rx *rx;
};

static struct udp_port *udp_of(struct mio_port *port)
{
	return mb_container_of(port, struct udp_port, port);
}

static void udp_tx_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			 uint32_t n)
{
	mio_udp_tx_burst(udp_of(port)->tx, now_ns, frames, n);
}

static uint32_t udp_rx_burst(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			     uint32_t n)
{
	return mio_udp_rx_burst(udp_of(port)->rx, now_ns, frames, n);
}

static uint64_t udp_deadline(const struct mio_port *port)
{
	return mio_udp_tx_deadline(mb_container_of(port, const struct udp_port, port)->tx);
}

static void udp_tick(struct mio_port *port, uint64_t now_ns)
{
	mio_udp_tx_tick(udp_of(port)->tx, now_ns);
}

static void udp_free(struct udp_port *u)
{
	if (u && u->tx)
		mio_udp_tx_destroy(u->tx);
	if (u)
		mio_udp_rx_destroy(u->rx);
	free(u);
}

static void udp_close(struct mio_port *port)
{
	close(udp_of(port)->status.fd);
	udp_free(udp_of(port));
}

static void udp_close_inherited(struct mio_port *port)
{
	close(udp_of(port)->status.fd);
	mio_udp_tx_close_inherited(udp_of(port)->tx);
}

static const struct mio_port_ops udp_ops = {
	.tx_burst = udp_tx_burst,
	.rx_burst = udp_rx_burst,
	.deadline = udp_deadline,
	.tick = udp_tick,
	.close = udp_close,
	.close_inherited = udp_close_inherited,
};

/*
 * A socket that is bound to an interface does not reach the host's own address, and with a zero
 * checksum there are no runs.
 */
static void test_runs(struct udp_port *u, const struct mio_udp_cfg *cfg)
{
	if (cfg->max_run == 1 || cfg->ifname ||
	    mio_udp_runs_are_cut(mio_udp_tx_fd(u->tx), u->status.fd, &cfg->local))
		return;
	mio_udp_tx_stop_runs(u->tx);
	u->port.max_run = 1;
	u->status.no_runs = "this system takes them and does not cut them up";
}

int mio_udp_open(const struct mio_udp_cfg *cfg, int claimed_fd, struct mio_port **port,
		 struct mio_error *error)
{
	struct udp_port *u = calloc(1, sizeof(*u));
	int err = ENOMEM;

	mb_assert(cfg->n_evs >= 1 && cfg->n_evs <= MIO_UDP_EVS_MAX);
	mb_assert(cfg->max_run >= 1 && cfg->max_run <= MIO_BURST_MAX);
	mb_assert(!cfg->zero_checksum || cfg->max_run == 1);
	if (u) {
		u->port = (struct mio_port){&udp_ops, &u->status, cfg->max_run};
		u->status.fd = claimed_fd;
		u->status.rx_asks_system = true;
		u->rx = mio_udp_rx_create(&u->status, cfg->max_run > 1);
	}
	if (u && u->rx)
		err = mio_udp_tx_create(cfg, &u->status, &u->tx, error);
	else
		strcpy(error->text, "no memory for a UDP port");
	if (!err && cfg->zero_checksum)
		err = mio_udp_accept_zero_checksum(claimed_fd, &cfg->local, error);
	if (err) {
		udp_free(u);
		return err;
	}
	u->status.rx_buffer_bytes = mio_udp_grow_buffer(claimed_fd, cfg->rx_buffer_bytes);
	test_runs(u, cfg);
	*port = &u->port;
	return 0;
}
