/* SPDX-License-Identifier: BSD-2-Clause */
/* capture_driver.c - writes what passes through a port to a pcapng file. */
#include "io/drivers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/list.h"
#include "base/pcapng.h"
#include "io/backlog.h"
#include "wire/ip_udp.h"

#define FILE_MODE 0600

struct mio_capture {
	FILE *file;
	uint64_t realtime_offset_ns;
	uint32_t interfaces;
	int error; /* of the first write that failed; nothing is written after it */
};

struct pcap_port {
	struct mio_port port;
	struct mio_port *below;
	struct mio_capture *capture;
	struct mio_addr local;
	bool wrapped; /* the driver below puts another IPv6 header around frames */
	bool summed;  /* frames of the driver below have a UDP checksum */
	uint8_t gid[16];
	uint32_t interface;
};

static struct pcap_port *pcap_of(struct mio_port *port)
{
	return mb_container_of(port, struct pcap_port, port);
}

static void capture_write(struct mio_capture *c, const void *bytes, size_t len)
{
	if (c->error == 0 && len > 0 && fwrite(bytes, len, 1, c->file) != 1)
		c->error = errno ? errno : EIO;
}

/*
 * Frames hold what programs send, and keys: the file is for its user alone, and no link that
 * somebody left under this name says which file it is. What is no file is written to as it is.
 */
static int open_private(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	int code = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fd;
	if (st.st_uid != geteuid())
		code = EPERM;
	else if (fchmod(fd, FILE_MODE) || ftruncate(fd, 0))
		code = errno;
	if (!code)
		return fd;
	close(fd);
	errno = code;
	return -1;
}

static FILE *open_file(const char *path)
{
	int fd = open_private(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
	int code = errno;

	if (!file && fd >= 0)
		close(fd);
	errno = code;
	return file;
}

int mio_capture_open(const char *path, uint64_t realtime_offset_ns, struct mio_capture **capture,
		     struct mio_error *error)
{
	uint8_t section[MB_PCAPNG_SECTION_BYTES];
	struct mio_capture *c = calloc(1, sizeof(*c));
	int code = ENOMEM;

	if (c)
		c->file = open_file(path);
	if (!c || !c->file) {
		code = c ? errno : ENOMEM;
		snprintf(error->text, sizeof(error->text), "capture file %s: %s", path,
			 strerror(code));
		free(c);
		return code;
	}
	c->realtime_offset_ns = realtime_offset_ns;
	capture_write(c, section, mb_pcapng_section(section));
	*capture = c;
	return 0;
}

int mio_capture_close(struct mio_capture *c)
{
	int code;

	if (fclose(c->file) != 0 && c->error == 0)
		c->error = errno;
	code = c->error;
	free(c);
	return code;
}

/* What the parent has not written yet it writes itself: neither this nor exit(3) may. */
void mio_capture_close_inherited(struct mio_capture *c)
{
	__fpurge(c->file);
	close(fileno(c->file));
}

/* Writes a frame with the headers h; a second one around them if outer is not NULL. */
static void pcap_record(struct pcap_port *p, uint64_t time_ns, enum mb_pcapng_direction direction,
			const struct mw_ip_udp *outer, const struct mw_ip_udp *h,
			const uint8_t *frame)
{
	uint8_t ip[MW_IPV6_BYTES + MW_IP_UDP_MAX], head[MB_PCAPNG_HEAD_BYTES],
		tail[MB_PCAPNG_TAIL_MAX];
	size_t around = outer ? MW_IPV6_BYTES : 0;
	size_t ip_bytes = around + mw_ip_udp_write(h, ip + around);
	uint32_t len = (uint32_t)ip_bytes + h->len;
	size_t tail_bytes = mb_pcapng_packet(p->interface, time_ns + p->capture->realtime_offset_ns,
					     len, len, direction, head, tail);

	if (outer)
		mw_ip_encapsulate(outer, len - around, ip);
	if (p->summed)
		mw_ip_udp_write_sum(h, frame, ip + ip_bytes - MW_UDP_BYTES);
	capture_write(p->capture, head, sizeof(head));
	capture_write(p->capture, ip, ip_bytes);
	capture_write(p->capture, frame, h->len);
	capture_write(p->capture, tail, tail_bytes);
}

static void record_sent(struct pcap_port *p, uint64_t now_ns, const struct mio_tx *frame)
{
	struct mw_ip_udp h = mio_tx_headers(frame, p->local.ip, frame->dst.ip);
	struct mw_ip_udp inner = p->wrapped ? mio_tx_headers(frame, p->gid, frame->dst_gid) : h;
	uint8_t bytes[MIO_FRAME_MAX];

	if (mio_tx_gather(frame, bytes))
		pcap_record(p, now_ns, MB_PCAPNG_OUTBOUND, p->wrapped ? &h : NULL, &inner, bytes);
}

static void record_received(struct pcap_port *p, const struct mio_rx *frame)
{
	struct mw_ip_udp h = {
		.sport = frame->src.udp_port,
		.dport = p->local.udp_port,
		.flow_label = frame->flow_label,
		.len = frame->len,
		.tos = frame->tos,
	};

	memcpy(h.src, frame->src.ip, sizeof(h.src));
	memcpy(h.dst, p->wrapped ? p->gid : p->local.ip, sizeof(h.dst));
	if (mw_is_ipv4(h.src) != mw_is_ipv4(h.dst))
		return; /* kernels before 5.5 let such sources through; no header can say it */
	pcap_record(p, frame->time_ns, MB_PCAPNG_INBOUND, NULL, &h, frame->bytes);
}

static void pcap_tx_burst(struct mio_port *port, uint64_t now_ns, const struct mio_tx *frames,
			  uint32_t n)
{
	struct pcap_port *p = pcap_of(port);

	for (uint32_t i = 0; i < n; i++)
		record_sent(p, now_ns, &frames[i]);
	mio_port_tx(p->below, now_ns, frames, n);
}

static uint32_t pcap_rx_burst(struct mio_port *port, uint64_t now_ns, struct mio_rx *frames,
			      uint32_t n)
{
	struct pcap_port *p = pcap_of(port);
	uint32_t got = mio_port_rx(p->below, now_ns, frames, n);

	for (uint32_t i = 0; i < got; i++)
		record_received(p, &frames[i]);
	return got;
}

static uint64_t pcap_deadline(const struct mio_port *port)
{
	return mio_port_deadline(mb_container_of(port, const struct pcap_port, port)->below);
}

static void pcap_tick(struct mio_port *port, uint64_t now_ns)
{
	mio_port_tick(pcap_of(port)->below, now_ns);
}

static void pcap_close(struct mio_port *port)
{
	struct pcap_port *p = pcap_of(port);

	mio_port_close(p->below);
	free(p);
}

static void pcap_close_inherited(struct mio_port *port)
{
	mio_port_close_inherited(pcap_of(port)->below);
}

static const struct mio_port_ops pcap_ops = {
	.tx_burst = pcap_tx_burst,
	.rx_burst = pcap_rx_burst,
	.deadline = pcap_deadline,
	.tick = pcap_tick,
	.close = pcap_close,
	.close_inherited = pcap_close_inherited,
};

int mio_pcap_open(struct mio_capture *capture, const char *name, const struct mio_addr *local,
		  const uint8_t *gid, bool summed, struct mio_port *below, struct mio_port **port)
{
	uint8_t description[MB_PCAPNG_INTERFACE_MAX];
	struct pcap_port *p = calloc(1, sizeof(*p));

	if (!p)
		return ENOMEM;
	p->port = (struct mio_port){&pcap_ops, below->status, below->max_run};
	p->below = below;
	p->capture = capture;
	p->local = *local;
	p->wrapped = gid != NULL;
	p->summed = summed;
	if (gid)
		memcpy(p->gid, gid, sizeof(p->gid));
	p->interface = capture->interfaces++;
	capture_write(capture, description, mb_pcapng_interface(name, description));
	*port = &p->port;
	return 0;
}
