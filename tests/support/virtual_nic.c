/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual_nic.c - puts a NIC together as host/verbs/nic.c does, with ports of its own and without
 * statistics and progress thread: whoever polls runs the poll loop.
 */
#include "support/virtual_nic.h"

#include <poll.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/list.h"
#include "base/prng.h"
#include "host/datapath/datapath.h"
#include "host/node/node.h"
#include "host/platform/platform.h"
#include "host/state/shards.h"
#include "host/verbs/verbs.h"

#define NS_PER_S UINT64_C(1000000000)

struct virtual_port {
	struct mio_port port;
	struct mio_status status;
	struct virtual_nic *v;
	struct mio_rx queue[VIRTUAL_NIC_QUEUE]; /* copies that are the queue's */
	uint32_t n;
	uint8_t *lent[MIO_BURST_MAX];
	uint32_t n_lent;
};

struct virtual_nic {
	struct mh_nic *nic;
	virtual_nic_sent_fn sent;
	void *ctx;
	struct virtual_port port[]; /* env.n_ports */
};

/* ---- time and chance ---- */

static _Thread_local uint64_t time_now;
static _Thread_local struct mb_prng entropy;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
/* Of the same type as what it stands for: the linker does not compare. */
__typeof__(mh_entropy) __wrap_mh_entropy;
int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (time_now == 0)
		return __real_clock_gettime(clock, ts);
	*ts = (struct timespec){(time_t)(time_now / NS_PER_S), (long)(time_now % NS_PER_S)};
	return 0;
}

/* Nothing comes while time stands still. */
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	return time_now ? 0 : __real_ppoll(fds, n, timeout, mask);
}

/* The same numbers after each virtual_nic_open. */
int __wrap_mh_entropy(uint64_t *number)
{
	*number = mb_prng_u64(&entropy);
	return 0;
}

void virtual_time_set(uint64_t now_ns)
{
	time_now = now_ns;
}

uint64_t virtual_time(void)
{
	return time_now;
}

/* ---- large blocks ---- */

/*
 * An engine takes megabytes, and a fuzzer makes one for each input: most of its time would go into
 * pages that are new. Blocks that are given back are kept for the next engine, out of bounds to
 * everybody meanwhile.
 */
#define BLOCKS_KEPT 16u
#define BLOCK_MIN 65536u

static struct {
	void *bytes; /* NULL: no block */
	size_t size;
	bool used;
} blocks[BLOCKS_KEPT];

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *bytes);
void __wrap_free(void *bytes);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	uint32_t i = 0;

	if (size < BLOCK_MIN)
		return __real_aligned_alloc(alignment, size);
	while (i < BLOCKS_KEPT && blocks[i].bytes && (blocks[i].used || blocks[i].size != size))
		i++;
	if (i == BLOCKS_KEPT)
		return __real_aligned_alloc(alignment, size);
	if (!blocks[i].bytes) {
		blocks[i].bytes = __real_aligned_alloc(alignment, size);
		blocks[i].size = size;
	}
	blocks[i].used = true;
	ASAN_UNPOISON_MEMORY_REGION(blocks[i].bytes, size);
	return blocks[i].bytes;
}

void __wrap_free(void *bytes)
{
	for (uint32_t i = 0; bytes && i < BLOCKS_KEPT && blocks[i].bytes; i++) {
		if (blocks[i].bytes != bytes)
			continue;
		mb_assert(blocks[i].used);
		blocks[i].used = false;
		ASAN_POISON_MEMORY_REGION(bytes, blocks[i].size);
		return;
	}
	__real_free(bytes);
}

/* ---- ports ---- */

static struct virtual_port *port_of(struct mio_port *port)
{
	return mb_container_of(port, struct virtual_port, port);
}

static void port_tx(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames, uint32_t n)
{
	struct virtual_port *p = port_of(port);

	(void)now_ns;
	for (uint32_t i = 0; i < n; i++) {
		p->status.tx_frames++;
		p->status.tx_bytes += frames[i].len;
		p->v->sent(p->v->ctx, (uint32_t)(p - p->v->port), &frames[i]);
	}
}

static void free_lent(struct virtual_port *p)
{
	while (p->n_lent > 0)
		free(p->lent[--p->n_lent]);
}

static uint32_t port_rx(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames, uint32_t n)
{
	struct virtual_port *p = port_of(port);

	free_lent(p);
	n = n < p->n ? n : p->n;
	for (uint32_t i = 0; i < n; i++) {
		frames[i] = p->queue[i];
		frames[i].time_ns = now_ns;
		p->lent[p->n_lent++] = (uint8_t *)(uintptr_t)frames[i].bytes;
		p->status.rx_frames++;
		p->status.rx_bytes += frames[i].len;
	}
	p->n -= n;
	memmove(p->queue, p->queue + n, p->n * sizeof(p->queue[0]));
	p->status.rx_more = p->n > 0;
	return n;
}

static uint64_t port_deadline(const struct mio_port *port)
{
	(void)port;
	return MIO_NEVER;
}

static void port_tick(struct mio_port *port, uint64_t now_ns)
{
	(void)port;
	(void)now_ns;
}

static void port_close(struct mio_port *port)
{
	struct virtual_port *p = port_of(port);

	free_lent(p);
	while (p->n > 0)
		free((uint8_t *)(uintptr_t)p->queue[--p->n].bytes);
}

static const struct mio_port_ops port_ops = {
	.tx_burst = port_tx,
	.rx_burst = port_rx,
	.deadline = port_deadline,
	.tick = port_tick,
	.close = port_close,
};

static void open_ports(struct virtual_nic *v)
{
	struct mh_ports *ports = &v->nic->ports;

	mh_addr_map_init(&ports->map, &v->nic->env);
	ports->udp_port = (uint16_t)v->nic->env.udp_port;
	ports->links_due_ns = UINT64_MAX;
	for (; ports->n < v->nic->env.n_ports; ports->n++) {
		struct virtual_port *p = &v->port[ports->n];
		struct mh_port *port = &ports->port[ports->n];

		p->v = v;
		p->port = (struct mio_port){&port_ops, &p->status, v->nic->env.run};
		p->status.fd = -1;
		p->status.rx_buffer_bytes = VIRTUAL_NIC_QUEUE * MIO_FRAME_MAX;
		port->io = &p->port;
		port->up = true;
		mh_pace_init(&port->pace, v->nic->env.pace_bps, MIO_FRAME_MAX, time_now);
	}
}

void virtual_nic_give(struct virtual_nic *v, uint32_t port, const struct mio_rx *frame)
{
	struct virtual_port *p = &v->port[port];
	struct mio_rx *copy = &p->queue[p->n];
	uint8_t *bytes;

	if (p->n == VIRTUAL_NIC_QUEUE) {
		p->status.rx_overruns++;
		return;
	}
	bytes = malloc(frame->len ? frame->len : 1);
	mb_assert(bytes && frame->len <= MIO_FRAME_MAX);
	memcpy(bytes, frame->bytes, frame->len);
	*copy = *frame;
	copy->bytes = bytes;
	p->n++;
}

void virtual_nic_block(struct virtual_nic *v, uint32_t port, bool blocked)
{
	v->port[port].status.blocked = blocked;
}

void virtual_nic_set_link(struct virtual_nic *v, uint32_t port, bool up)
{
	mh_nic_lock(v->nic);
	v->nic->ports.port[port].up = up;
	mh_engine_report_ports(v->nic, time_now);
	mh_nic_unlock(v->nic);
}

/* ---- the NIC ---- */

void virtual_nic_settings(const char *text, bool set)
{
	char *copy = strdup(text), *save = NULL;

	mb_assert(copy);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, '=');

		mb_assert(value);
		*value = '\0';
		mb_assert((set ? setenv(line, value + 1, 1) : unsetenv(line)) == 0);
	}
	free(copy);
}

void virtual_nic_env(const char *text, uint32_t device, struct mh_env *env)
{
	struct mh_env_error error;
	int err;

	setenv("MRC_CONFIG", "/dev/null", 1);
	virtual_nic_settings(text, true);
	err = mh_env_read(env, device, &error);
	if (err)
		mb_panic(__FILE__, __LINE__, error.text);
	virtual_nic_settings(text, false);
	unsetenv("MRC_CONFIG");
}

static struct mh_nic *nic_of_env(const struct mh_env *env)
{
	struct mh_nic *nic = calloc(1, sizeof(*nic));

	mb_assert(nic);
	mh_shards_begin(nic);
	nic->env = *env;
	nic->crc32 = mh_crc32_best();
	nic->next_pd = 1;
	mh_numbers_init(&nic->qp_indices, MH_QP_INDEX_FIRST, MH_QPN_INDEX_MASK + 1);
	mh_numbers_init(&nic->mr_indices, 1, MH_MRS_MAX + 1);
	nic->was_up = true;
	mb_link_init(&nic->qps);
	mb_link_init(&nic->failed);
	mb_link_init(&nic->devices);
	mb_link_init(&nic->ev_cqs);
	pthread_mutex_init(&nic->lock, NULL);
	return nic;
}

struct virtual_nic *virtual_nic_open(const struct mh_env *env, virtual_nic_sent_fn sent, void *ctx)
{
	struct virtual_nic *v = calloc(1, sizeof(*v) + env->n_ports * sizeof(v->port[0]));
	struct mh_process *p = mh_process();

	mb_assert(v && time_now > 0 && !p->of[env->device].nic);
	mb_prng_init(&entropy, env->device);
	v->nic = nic_of_env(env);
	v->sent = sent;
	v->ctx = ctx;
	mh_nic_fill_attr(env, &v->nic->attr);
	mh_rx_init(v->nic);
	mh_guard_open();
	open_ports(v);
	v->nic->tx = mh_tx_create(env->n_ports, &env->dscp);
	mb_assert(v->nic->tx && mh_engine_create(v->nic, time_now) == 0 &&
		  mh_nic_create_ud(v->nic) == 0 && mh_node_create(v->nic) == 0);
	/* With a user more than openings, so that the last one does not end it. */
	p->of[env->device].nic = v->nic;
	p->of[env->device].users = 1;
	return v;
}

void virtual_nic_close(struct virtual_nic *v)
{
	struct mh_process *p = mh_process();
	uint32_t device = v->nic->env.device;

	mb_assert(p->of[device].users == 1);
	p->of[device].nic = NULL;
	p->of[device].users = 0;
	mh_nic_destroy(v->nic);
	free(v);
}

struct mh_nic *virtual_nic_of(struct virtual_nic *v)
{
	return v->nic;
}
