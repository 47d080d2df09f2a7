/* SPDX-License-Identifier: BSD-2-Clause */
/* af_packet_socket.c - interface, sockets and filters of an AF_PACKET port; errors in words. */
#include "io/af_packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bytes.h"
#include "wire/ip_udp.h"

static int afp_fail(int fd, const char *what, const char *ifname, struct mio_error *error)
{
	int code = errno;

	snprintf(error->text, sizeof(error->text), "%s for AF_PACKET on %s: %s%s", what, ifname,
		 strerror(code),
		 code == EPERM ? "; packet sockets need CAP_NET_RAW (run as root, or setcap "
				 "cap_net_raw+ep)"
			       : "");
	if (fd >= 0)
		close(fd);
	return code;
}

static int afp_query(int fd, const char *name, struct mio_afp_iface *iface)
{
	struct ifreq r = {.ifr_mtu = 0};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	if (ioctl(fd, SIOCGIFINDEX, &r) < 0)
		return errno;
	iface->index = (unsigned)r.ifr_ifindex;
	if (ioctl(fd, SIOCGIFMTU, &r) < 0)
		return errno;
	iface->mtu = (uint32_t)r.ifr_mtu;
	if (ioctl(fd, SIOCGIFHWADDR, &r) < 0)
		return errno;
	if (r.ifr_hwaddr.sa_family != ARPHRD_ETHER && r.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK)
		return EPFNOSUPPORT;
	memcpy(iface->mac, r.ifr_hwaddr.sa_data, MIO_MAC_BYTES);
	if (ioctl(fd, SIOCGIFFLAGS, &r) < 0)
		return errno;
	iface->no_arp = r.ifr_flags & (IFF_LOOPBACK | IFF_NOARP);
	return 0;
}

int mio_afp_iface(const char *name, struct mio_afp_iface *iface, struct mio_error *error)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return afp_fail(fd, "socket", name, error);
	*iface = (struct mio_afp_iface){.name = name};
	err = afp_query(fd, name, iface);
	if (err) {
		errno = err;
		return afp_fail(fd, "interface", name, error);
	}
	close(fd);
	return 0;
}

static int afp_socket(void)
{
	/* Protocol 0: nothing comes in until the socket is bound to one. */
	return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int afp_bind(const struct mio_afp_iface *iface, int fd, uint16_t protocol)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(protocol),
				 .sll_ifindex = (int)iface->index};

	return bind(fd, (const struct sockaddr *)&at, sizeof(at));
}

int mio_afp_tx_socket(const struct mio_afp_iface *iface, int *fd, struct mio_error *error)
{
	int s = afp_socket(), one = 1;

	if (s < 0)
		return afp_fail(s, "socket", iface->name, error);
	/* A frame that the kernel finds wrong must not stop those behind it. */
	if (setsockopt(s, SOL_PACKET, PACKET_LOSS, &one, sizeof(one)) < 0)
		return afp_fail(s, "PACKET_LOSS", iface->name, error);
	if (afp_bind(iface, s, 0) < 0)
		return afp_fail(s, "bind", iface->name, error);
	*fd = s;
	return 0;
}

/* Lets through UDP to the port, over either IP; addresses are compared by the port itself. */
static int afp_filter(int fd, uint16_t udp_port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETHERTYPE_IPV6, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETHERTYPE_IP, 0, 9),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ETHER_HDR_LEN + 9),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, ETHER_HDR_LEN),
		BPF_JUMP(BPF_JMP | BPF_JA, 2, 0, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, ETHER_HDR_LEN + 6),
		BPF_STMT(BPF_LDX | BPF_IMM, MW_IPV6_BYTES),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, ETHER_HDR_LEN + 2),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, udp_port, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int mio_afp_rx_socket(const struct mio_afp_iface *iface, const struct mio_addr *local, int *fd,
		      struct mio_error *error)
{
	int s = afp_socket(), one = 1;

	if (s < 0)
		return afp_fail(s, "socket", iface->name, error);
	/* What this host sends is not what it receives, even on a loopback interface. */
	if (setsockopt(s, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof(one)) < 0)
		return afp_fail(s, "PACKET_IGNORE_OUTGOING", iface->name, error);
	if (afp_filter(s, local->udp_port) < 0)
		return afp_fail(s, "SO_ATTACH_FILTER", iface->name, error);
	*fd = s;
	return 0;
}

int mio_afp_rings(int tx_fd, struct mio_ring *tx, uint32_t tx_bytes, int rx_fd, struct mio_ring *rx,
		  uint32_t rx_bytes, struct mio_error *error)
{
	int err = mio_ring_map(tx, tx_fd, PACKET_TX_RING, tx_bytes);

	if (!err)
		err = mio_ring_map(rx, rx_fd, PACKET_RX_RING, rx_bytes);
	if (err)
		snprintf(error->text, sizeof(error->text), "AF_PACKET rings of %u and %u bytes: %s",
			 tx_bytes, rx_bytes, strerror(err));
	return err;
}

int mio_afp_bind(const struct mio_afp_iface *iface, int rx_fd, int claimed_fd,
		 struct mio_error *error)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog deaf = {1, &nothing};

	if (claimed_fd >= 0 &&
	    setsockopt(claimed_fd, SOL_SOCKET, SO_ATTACH_FILTER, &deaf, sizeof(deaf)) < 0)
		return afp_fail(-1, "SO_ATTACH_FILTER", iface->name, error);
	if (afp_bind(iface, rx_fd, ETH_P_ALL) < 0)
		return afp_fail(-1, "bind", iface->name, error);
	return 0;
}
